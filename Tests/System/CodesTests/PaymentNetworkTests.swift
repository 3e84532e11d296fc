// SPDX-License-Identifier: Apache-2.0
import Codes
import Testing

struct PaymentNetworkTests {
    @Test(
        arguments: [
            ([0xA0, 0x00, 0x00, 0x00, 0x03, 0x10, 0x10], "Visa", "Visa", 3),
            ([0xA0, 0x00, 0x00, 0x00, 0x04, 0x10, 0x10], "Mastercard", "Mastercard", 2),
            ([0xA0, 0x00, 0x00, 0x00, 0x04, 0x30, 0x60], "Maestro", "Mastercard", 2),
            ([0xA0, 0x00, 0x00, 0x00, 0x04, 0x30, 0x60, 0x01], "Maestro", "Mastercard", 2),
            ([0xA0, 0x00, 0x00, 0x00, 0x25, 0x01], "American Express", "American Express", 4),
            ([0xA0, 0x00, 0x00, 0x00, 0x65, 0x10, 0x10], "JCB", "JCB", 5),
            ([0xA0, 0x00, 0x00, 0x01, 0x52, 0x30, 0x10], "Discover", "Discover", 6),
            ([0xA0, 0x00, 0x00, 0x03, 0x33, 0x01, 0x01, 0x02], "UnionPay", "UnionPay", 7),
            ([0xA0, 0x00, 0x00, 0x00, 0x98, 0x08, 0x40], "US common debit", "Visa", nil),
            ([0xA0, 0x00, 0x00, 0x00, 0x04, 0x22, 0x03], "US common debit", "Mastercard", 2),
            ([0xA0, 0x00, 0x00, 0x01, 0x52, 0x40, 0x10], "US common debit", "Discover", 6),
            ([0xA0, 0x00, 0x00, 0x03, 0x33, 0x01, 0x01, 0x08], "US common debit", "UnionPay", 7),
            ([0xA0, 0x00, 0x00, 0x06, 0x20, 0x06, 0x20], "US common debit", "Debit Network Alliance", nil),
            ([0xA0, 0x00, 0x00, 0x00, 0x59, 0x45, 0x43, 0x01, 0x00], "girocard", "girocard", nil),
            ([0xA0, 0x00, 0x00, 0x03, 0x59, 0x10, 0x10, 0x02, 0x80, 0x01], "girocard", "girocard", nil),
        ] as [([UInt8], String, String, UInt8?)])
    func `an application is named by its identifier`(aid: [UInt8], name: String, scheme: String, kernel: UInt8?) throws
    {
        let network = try #require(PaymentNetwork(aid: aid))
        #expect(network.name == name && network.scheme == scheme && network.kernel == kernel)
        #expect(PaymentNetwork.name(of: aid) == name && PaymentNetwork.names.contains(name))
    }

    /// Each by two sources: proxmark3's list of AIDs (client/resources/aidlist.json), and in brackets another one.
    @Test(
        "C7: cards of schemes whose kernel is not public have a name, and it is said of them that there is none",
        arguments: [
            // devnied/EMV-NFC-Paycard-Enrollment, test card; logs of German cards.
            ([0xD2, 0x76, 0x00, 0x00, 0x25, 0x47, 0x41, 0x01, 0x00], "girocard"),
            // AIDs of a list of payment apps; a terminal's configuration.
            ([0xA0, 0x00, 0x00, 0x06, 0x72, 0x30, 0x10], "Troy"), ([0xA0, 0x00, 0x00, 0x06, 0x72, 0x30, 0x20], "Troy"),
            // zoobab/EMV-CAP's list of applications.
            ([0xD0, 0x56, 0x00, 0x06, 0x66, 0x11, 0x10], "Bancontact"),
            // devnied's EmvCardScheme; configurations of Egyptian terminals.
            ([0xA0, 0x00, 0x00, 0x07, 0x32, 0x10, 0x01, 0x23, 0x01], "Meeza"),
            // Receipts of Norwegian terminals.
            ([0xD5, 0x78, 0x00, 0x00, 0x02, 0x10, 0x10], "BankAxept"),
            // ICC data of Nigerian payments; configurations of Nigerian terminals.
            ([0xA0, 0x00, 0x00, 0x03, 0x71, 0x00, 0x01], "Verve"),
        ] as [([UInt8], String)])
    func domestic(aid: [UInt8], name: String) throws {
        let network = try #require(PaymentNetwork(aid: aid))
        #expect(network.name == name && network.scheme == name && network.kernel == nil && !network.hasPublicKernel)
    }

    @Test("C7: a further number of a scheme that has a public kernel has one too")
    func furtherNumbers() throws {
        for aid: [UInt8] in [[0xA0, 0, 0, 0, 0x98, 8, 0x40], [0xA0, 0, 0, 3, 0x24, 0x10, 0x10]] {
            #expect(try #require(PaymentNetwork(aid: aid)).hasPublicKernel)
        }
    }

    @Test(arguments: [[0xD2, 0x76, 0x00, 0x00, 0x85], [], [0xA0, 0x00, 0x00, 0x00]] as [[UInt8]])
    func `a card of nobody known is a card`(aid: [UInt8]) {
        #expect(PaymentNetwork(aid: aid) == nil)
        #expect(PaymentNetwork.name(of: aid) == "Card" && PaymentNetwork.names.contains("Card"))
    }

    @Test func `names fit where a card may be shown`() {
        #expect(PaymentNetwork.names.count >= 16)
        for name in PaymentNetwork.names {
            #expect(name.utf8.count <= 32 && !name.utf8.contains { (0x30...0x39).contains($0) })
        }
    }
}
