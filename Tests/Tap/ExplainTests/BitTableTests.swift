// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV
import Testing

@testable import Explain

/// Each table by at least one known value. Bits by the clauses named at the tables.
@Suite("Bits and their meaning")
struct BitTableTests {
    struct Case: Sendable, CustomStringConvertible {
        let tag: CardBytes.Tag
        let value: String
        var kernel: KernelIdentifier?
        let says: [String]

        var description: String { "\(tag) \(value)" }

        init(_ tag: CardBytes.Tag, _ value: String, _ kernel: KernelIdentifier? = nil, says: String...) {
            self.tag = tag
            self.value = value
            self.kernel = kernel
            self.says = says
        }
    }

    static let cases: [Case] = [
        // The TVR of a recorded Mastercard transaction.
        Case(
            0x95, "0000040001", says: "byte 3 bit 3: online PIN entered",
            "byte 5 bits 2-1: relay resistance protocol not performed"),
        Case(
            0x95, "FC00000002", says: "byte 1 bit 8: offline data authentication was not performed",
            "byte 1 bit 7: SDA failed", "byte 1 bit 6: ICC data missing",
            "byte 1 bit 5: card appears on the terminal's exception file", "byte 1 bit 4: DDA failed",
            "byte 1 bit 3: CDA failed", "byte 5 bits 2-1: relay resistance protocol performed"),
        Case(0x95, "0000000040", .c8, says: "byte 5 bit 7: AID mismatch"),
        Case(0x9F0E, "0010000000", says: "byte 2 bit 5: requested service not allowed for card product"),
        Case(
            0x9B, "E800", says: "byte 1 bit 8: offline data authentication was performed",
            "byte 1 bit 7: cardholder verification was performed", "byte 1 bit 6: card risk management was performed",
            "byte 1 bit 4: terminal risk management was performed"),
        Case(
            0x82, "5980", .mastercard, says: "byte 1 bit 7: SDA supported",
            "byte 1 bit 5: cardholder verification supported",
            "byte 1 bit 4: terminal risk management to be performed", "byte 1 bit 1: CDA supported",
            "byte 2 bit 8: EMV mode supported"),
        Case(
            0x82, "0280", .mastercard, says: "byte 1 bit 2: on-device cardholder verification supported",
            "byte 2 bit 8: EMV mode supported"),
        Case(0x82, "2000", .visa, says: "byte 1 bit 6: fDDA supported"),
        Case(0x82, "0008", .c8, says: "byte 2 bit 4: offline capable card"),
        Case(0x82, "0040", .americanExpress, says: "byte 2 bit 7: mobile device"),
        Case(0x82, "0080", .jcb, says: "byte 2 bit 8: EMV mode supported"),
        Case(
            0x82, "0280", says: "byte 1 bit 2: reserved for contactless (kernel 2: on-device CVM)",
            "byte 2 bit 8: EMV mode supported (kernel 3: MSD supported)"),
        Case(
            0x9F07, "0140", says: "byte 1 bit 1: valid at terminals other than ATMs",
            "byte 2 bit 7: international cashback allowed"),
        Case(
            0x9F6C, "9000", .visa, says: "byte 1 bit 8: online PIN required",
            "byte 1 bit 5: switch interface if offline data authentication fails and reader supports contact chip"),
        Case(0x9F6C, "0080", .visa, says: "byte 2 bit 8: consumer device CVM performed"),
        Case(
            0x9F66, "24C04000", .visa, says: "byte 1 bit 6: EMV mode supported", "byte 1 bit 4: online capable reader",
            "byte 1 bit 3: online PIN supported", "byte 2 bit 8: online cryptogram required",
            "byte 2 bit 7: CVM required", "byte 3 bit 7: consumer device CVM supported"),
        Case(0x9F66, "08000080", says: "byte 1 bit 4: offline-only reader", "byte 4 bit 8: fDDA 1.0 supported"),
        Case(
            0x9F33, "E0F8C8", says: "byte 1 bit 8: manual key entry", "byte 1 bit 7: magnetic stripe",
            "byte 1 bit 6: IC with contacts", "byte 2 bit 8: plaintext PIN for ICC verification",
            "byte 2 bit 7: enciphered PIN for online verification", "byte 2 bit 6: signature (paper)",
            "byte 2 bit 5: enciphered PIN for offline verification", "byte 2 bit 4: no CVM required",
            "byte 3 bit 8: SDA", "byte 3 bit 7: DDA", "byte 3 bit 4: CDA"),
        Case(
            0x9F40, "6000C03001", says: "byte 1 bit 7: goods", "byte 1 bit 6: services",
            "byte 3 bit 8: numeric keys", "byte 3 bit 7: alphabetic and special keys",
            "byte 4 bit 6: display, attendant", "byte 4 bit 5: display, cardholder", "byte 5 bit 1: code table 1"),
        Case(
            0x9F1D, "2C00800000000000", .mastercard, says: "byte 1 bit 6: signature (contactless)",
            "byte 1 bit 4: no CVM required (contactless)", "byte 1 bit 3: CDCVM (contactless)",
            "byte 3 bit 8: mag-stripe mode contactless transactions not supported"),
        Case(
            0xDF811B, "A0", .mastercard,
            says: "byte 1 bit 8: mag-stripe mode contactless transactions not supported",
            "byte 1 bit 6: on-device cardholder verification supported"),
        Case(0xDF8117, "20", .mastercard, says: "byte 1 bit 6: IC with contacts"),
        Case(0xDF8118, "20", .mastercard, says: "byte 1 bit 6: signature (paper)"),
        Case(0xDF811F, "08", .mastercard, says: "byte 1 bit 4: CDA"),
        Case(0xDF4B, "001000", .mastercard, says: "byte 2 bit 5: on-device verification successful"),
        Case(
            0x9F7E, "03", .mastercard, says: "byte 1 bit 2: on-device cardholder verification required",
            "byte 1 bit 1: mobile supported"),
        Case(
            0x9F5D, "000600", .mastercard, says: "byte 1 bits 4-1: data storage not supported",
            "byte 2 bit 3: field off detection supported", "byte 2 bit 2: balance reading supported"),
        Case(
            0x9F6E, "20700000", .visa, says: "byte 1 bits 8-6: version 1", "byte 1 bits 5-1: form factor: card",
            "byte 2 bit 7: signature panel", "byte 2 bit 6: hologram", "byte 2 bit 5: CVV2",
            "byte 4 bits 4-1: proximity contactless interface (ISO/IEC 14443)"),
        Case(
            0x9F6E, "98A00003", .americanExpress, says: "byte 1 bit 8: contact mode supported",
            "byte 1 bit 5: EMV partial online mode supported", "byte 1 bit 4: mobile supported",
            "byte 2 bit 8: mobile CVM supported", "byte 2 bit 6: signature supported",
            "byte 4 bits 3-1: kernel version 2.7"),
        Case(0x9F6D, "C8", .americanExpress, says: "byte 1 bits 8-4: EMV and mag-stripe, CVM required"),
        Case(
            0x9F53, "F28000", .jcb, says: "byte 1 bit 8: CVM required by reader", "byte 1 bit 7: signature supported",
            "byte 1 bit 6: online PIN supported", "byte 1 bit 5: on-device CVM supported",
            "byte 1 bit 2: EMV contact chip supported", "byte 2 bit 8: issuer update supported"),
        Case(0x9F52, "02", .jcb, says: "byte 1 bit 2: EMV mode supported"),
        Case(
            0x9F71, "8002", .discover, says: "byte 1 bit 8: online PIN required",
            "byte 2 bit 2: fallback to signature"),
        Case(
            0x9F27, "80", says: "byte 1 bits 8-7: ARQC: online authorisation requested",
            "byte 1 bits 3-1: no reason given"),
        Case(
            0x9F27, "0A", says: "byte 1 bits 8-7: AAC: transaction declined", "byte 1 bit 4: advice required",
            "byte 1 bits 3-1: PIN try limit exceeded"),
    ]

    @Test(arguments: cases)
    func `a value says what its bits mean`(_ known: Case) throws {
        #expect(try said(known.tag, known.value, known.kernel) == known.says)
    }

    @Test func `a bit without a meaning is named as reserved`() throws {
        #expect(try said(0x9F6C, "0001", .visa) == ["byte 2 bit 1: reserved"])
    }

    @Test func `the issuer application data of Visa gives key index, version and card verification results`() throws {
        #expect(
            try said(0x9F10, "06011203A4B800", .visa) == [
                "byte 1: Visa, length of what follows up to the CVR: 6", "byte 2: derivation key index 1",
                "byte 3: cryptogram version number 18", "byte 4: length of the card verification results: 3",
                "byte 5 bits 8-7: second GENERATE AC not requested",
                "byte 5 bits 6-5: ARQC returned in first GENERATE AC or GPO",
                "byte 5 bit 3: offline PIN verification performed",
                "byte 6 bit 8: last online transaction not completed",
                "byte 6 bit 6: velocity checking counters exceeded", "byte 6 bit 5: new card",
                "byte 6 bit 4: issuer authentication failed on last online transaction",
            ])
        let online = try said(0x9F10, "06010A03A00000", nil)
        #expect(online.contains("byte 3: cryptogram version number 10"))
        let offline = try said(0x9F10, "06011103900000", .visa)
        #expect(offline.contains("byte 3: cryptogram version number 17"))
        #expect(offline.contains("byte 5 bits 6-5: TC returned in first GENERATE AC or GPO"))
    }

    @Test func `the issuer application data of M-Chip gives key index, version and card verification results`() throws {
        let said = try said(0x9F10, "0110A040002C0000000000000000000007FF", .mastercard)
        #expect(said.starts(with: ["byte 1: M/Chip, key derivation index 1", "byte 2: cryptogram version number 16"]))
        #expect(said.contains("byte 3 bits 6-5: ARQC returned in first GENERATE AC or GPO"))
        #expect(said.contains("byte 4 bit 7: CDA returned in first GENERATE AC"))
        #expect(said.contains("byte 6 bit 6: offline PIN verification not performed"))
    }

    @Test func `issuer application data of any other form is proprietary`() throws {
        #expect(try said(0x9F10, "0102030405", .visa) == ["proprietary format"])
        #expect(try said(0x9F10, "07010103A02001", .jcb) == ["proprietary format"])
    }

    private func said(_ tag: CardBytes.Tag, _ value: String, _ kernel: KernelIdentifier?) throws -> [String] {
        let context = ValueContext(kernel: kernel, currency: nil, unmasked: false)
        return ValueMeaning.meanings(tag, try Hex.bytes(value), context).map { meaning in
            meaning.part.map { "\($0): \(meaning.text)" } ?? meaning.text
        }
    }
}
