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
