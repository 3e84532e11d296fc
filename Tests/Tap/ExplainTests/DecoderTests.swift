// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV
import Explain
import Foundation
import TestSupport
import Testing

@Suite("Decoding")
struct DecoderTests {
    private func lines(
        _ hex: String, as form: DecodeForm? = nil, kernel: KernelIdentifier? = nil, unmasked: Bool = false
    ) throws -> [String] {
        try CardDataDecoder(kernel: kernel, unmasked: unmasked).decode(try Hex.bytes(hex), as: form).lines
    }

    private func error(_ hex: String, as form: DecodeForm? = nil) -> DecodeError? {
        do {
            _ = try CardDataDecoder().decode(try Hex.bytes(hex), as: form)
            return nil
        } catch {
            return error as? DecodeError
        }
    }

    // MARK: Forms

    @Test func `a directory shows its entries with names and structure`() throws {
        let lines = try lines(
            "6F2D840E325041592E5359532E4444463031A51BBF0C1861164F07A0000000031010500B56495341204352454449549000")
        #expect(
            lines == [
                "SW: 9000 success",
                "6F File Control Information (FCI) Template (45 bytes)",
                "  84 Dedicated File (DF) Name (14 bytes): 325041592E5359532E4444463031",
                "      PPSE (2PAY.SYS.DDF01)",
                "  A5 FCI Proprietary Template (27 bytes)",
                "    BF0C FCI Issuer Discretionary Data (24 bytes)",
                "      61 Application Template (directory entry) (22 bytes)",
                "        4F Application Dedicated File (ADF) Name (7 bytes): A0000000031010",
                "            Visa",
                "        50 Application Label (11 bytes): 5649534120435245444954",
                "            \"VISA CREDIT\"",
            ])
    }

    @Test func `a data object list is read by its tags and lengths`() throws {
        let lines = try lines("9F66049F02065F2A029F3704", as: .dol, kernel: .visa)
        #expect(
            lines == [
                "9F66 Terminal Transaction Qualifiers (TTQ) (4 bytes)", "9F02 Amount, Authorised (Numeric) (6 bytes)",
                "5F2A Transaction Currency Code (2 bytes)", "9F37 Unpredictable Number (4 bytes)",
            ])
        let guessed = try CardDataDecoder().decode(try Hex.bytes("9F66049F02069F03069F1A0295055F2A029A039C019F3704"))
        #expect(guessed.form == "dol")
    }

    @Test func `a data object list inside a card's answer is read too`() throws {
        let lines = try lines("8C069F02069F3704")
        #expect(lines.contains("  9F37 Unpredictable Number (4 bytes)"))
    }

    @Test func `commands are named with what their parameters say`() throws {
        #expect(
            try lines("00A4040007A000000003101000").contains("data: A0000000031010 Visa"))
        #expect(try lines("00B2031400") == ["header: 00B20314 READ RECORD", "P1: record 3", "P2: SFI 2", "Le: 256"])
        #expect(
            try lines("80AE9000020000").contains("P1: ARQC: online authorisation requested, with CDA signature"))
        #expect(try lines("80CA9F3600").contains("P1 P2: tag 9F36"))
    }

    @Test(arguments: [
        ("9000", "9000 success"), ("6985", "6985 conditions of use not satisfied"),
        ("6283", "6283 selected file deactivated (application blocked)"),
        ("6C1C", "6C1C wrong Le, right is 28"), ("6100", "6100 success, 256 more bytes by GET RESPONSE"),
        ("63C2", "63C2 counter is 2"),
    ])
    func `a status word has a name`(_ status: String, _ name: String) throws {
        #expect(try lines(status) == ["SW: \(name)"])
    }

    @Test(arguments: [
        ("3B8580012063CBA3A08F", "type A layout"), ("3B868001 4B4F4E411411 09", "type A layout"),
        ("3B888001000000008081710079", "type B layout"),
        ("3B8F8001804F0CA0000003060300010000 00006A", "MIFARE Classic 1K"),
    ])
    func `the ATR of a contactless card is told by its layout`(_ atr: String, _ kind: String) throws {
        let decoded = try CardDataDecoder().decode(try Hex.bytes(atr))
        #expect(decoded.form == "atr")
        #expect(decoded.lines.last?.contains(kind) == true)
    }

    @Test func `an ATS is read with and without its length byte`() throws {
        let with = try lines("0678808002 4E", as: .ats)
        let without = try lines("788080024E", as: .ats)
        #expect(with.first == "TL: 6 bytes")
        #expect(Array(with.dropFirst()) == without)
        #expect(
            without == [
                "T0: frames of up to 256 bytes (FSCI 8)",
                "TA(1): 80, kbit/s to reader 106, to card 106, same in both directions",
                "TB(1): 80, FWI 8, SFGI 0", "TC(1): 02, no NAD, CID supported", "historical bytes: 4E",
            ])
    }

    // MARK: Values

    @Test func `tags whose meaning depends on the kernel list what they may mean`() throws {
        let object = try #require(try CardDataDecoder().decode(try Hex.bytes("9F6E0420700000")).objects.first)
        #expect(object.name == nil)
        #expect(object.possibleNames.count == 4)
        let known = try CardDataDecoder(kernel: .mastercard).decode(try Hex.bytes("9F6E06082600003030"))
        #expect(known.objects.first?.name == "Third Party Data (K2)")
        #expect(known.lines.contains("    bytes 5-6: device type 00 (card)"))
    }

    @Test func `the AID among the objects gives the kernel`() throws {
        let decoded = try CardDataDecoder().decode(try Hex.bytes("8407A00000000310109F6E0420700000"))
        #expect(decoded.objects.last?.name == "Form Factor Indicator (K3)")
    }

    @Test(arguments: [
        ("9F02", "000000001250", "1250 minor units"), ("5F2A", "0978", "EUR"), ("9F1A", "0276", "DE"),
        ("9A", "260316", "2026-03-16"), ("9F21", "103059", "10:30:59"), ("9C", "09", "purchase with cashback"),
        ("9F35", "21", "merchant, attended, online only"), ("9F36", "0077", "119"), ("87", "01", "priority 1"),
        ("9F2A", "03", "kernel 3 (Visa)"), ("9F39", "07", "contactless chip"), ("9F11", "01", "ISO/IEC 8859-1"),
        ("5F2D", "64656E", "\"den\""), ("9F34", "1F0302", "byte 1: no CVM required"),
        ("94", "1801010110030300", "bytes 1-4: SFI 3, record 1, 1 signed"),
        (
            "8E", "000000000000000042031F03",
            "bytes 9-10: rule 1: enciphered PIN verified online, if terminal supports the CVM, else apply next rule"
        ),
        ("DF8115", "0003006985FF", "byte 2: L2: statusBytes"), ("DF8129", "30F0F020B0F0FF00", "byte 4: CVM: onlinePIN"),
        ("9F4D", "0B0A", "transaction log in SFI 11, 10 records"), ("8F", "92", "CA key 92"),
    ])
    func `a value is read by its tag`(_ tag: String, _ value: String, _ meaning: String) throws {
        let form = try #require(DecodeForm(word: tag))
        let lines = try lines(value, as: form)
        #expect(lines.contains { $0.hasSuffix(meaning) }, "\(lines)")
    }

    @Test func `an amount has its currency where the input names one`() throws {
        #expect(try lines("9F0206000000001250 5F2A020978").contains("    12.50 EUR"))
        #expect(try lines("9F0206000000001250 5F2A020392").contains("    1250 JPY"))
        #expect(try lines("9F0206000000000005 5F2A020048").contains("    0.005 BHD"))
    }

    // MARK: Secrets

    @Test func `card number, track, name and certificates are hidden unless asked for`() throws {
        let record =
            "704B5A084761739001010010 57114761739001010010D22122011143844489 5F201656495341204352454449542F43415244484F4C444552"
            + "9F1F0431323334 9F4604A1B2C3D4 DF2D0447617390"
        let hidden = try lines(record).joined(separator: "\n")
        for secret in ["4761739001010010", "CARDHOLDER", "31323334", "A1B2C3D4", "47617390", "2212201"] {
            #expect(!hidden.contains(secret), "\(secret)")
        }
        #expect(hidden.contains("card number 476173******0010"))
        let shown = try lines(record, unmasked: true).joined(separator: "\n")
        for text in ["4761739001010010", "CARDHOLDER", "A1B2C3D4", "expiry 2212", "service code 201"] {
            #expect(shown.contains(text), "\(text)")
        }
    }

    @Test func `JSON hides what text hides`() throws {
        let decoded = try CardDataDecoder().decode(try Hex.bytes("5A084761739001010010"))
        let json = String(decoding: try JSONEncoder().encode(decoded), as: UTF8.self)
        #expect(!json.contains("4761739001010010"))
        #expect(json.contains("\"isHidden\":true"))
    }

    // MARK: Malformed input

    @Test func `malformed input is an error with the offset`() {
        #expect(error("5F2A0209") == .tlv(.truncatedValue(tag: 0x5F2A, offset: 0, needed: 2, have: 1)))
        #expect(error("9F0206000000001250 9F", as: .tlv) == .tlv(.truncatedTag(offset: 9)))
        #expect(error("9F6604 9F", as: .dol) == .dol(.truncatedTag(offset: 3)))
        #expect(error("3B8580012063CBA3A08E", as: .atr) == .wrongCheckByte(offset: 9, expected: 0x8F))
        #expect(error("3B8580", as: .atr) == .cutOff(part: "TD2", offset: 3))
        #expect(error("4B", as: .atr) == .unknownConvention(0x4B))
        #expect(error("FF", as: .ats) == .wrongLength(offset: 0, said: 255, have: 1))
        #expect(error("90", as: .apdu) == .apdu(.truncated(1)))
        #expect(error("") == .empty)
        #expect(
            error("5F2A0209")?.description
                == "not BER-TLV: value of 5F2A at offset 0 needs 2 bytes, 1 are left")
    }

    @Test func `whatever is decoded ends in lines or an error`() {
        var generator = SeededGenerator(seed: 20_260_316)
        let forms: [DecodeForm?] = [nil, .tlv, .dol, .apdu, .atr, .ats]
        let tags = DataDictionary.all.map(\.tag)
        var decoded = 0
        for round in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0...40, using: &generator)).map { _ in
                UInt8.random(in: 0...255, using: &generator)
            }
            let form = round.isMultiple(of: 2) ? forms[round / 2 % forms.count] : .value(tags[round % tags.count])
            let kernel = KernelIdentifier(rawValue: UInt32(round % 9))
            let decoder = CardDataDecoder(kernel: round % 9 == 0 ? nil : kernel, unmasked: round.isMultiple(of: 3))
            if let result = try? decoder.decode(bytes, as: form) {
                decoded += 1
                #expect(result.lines.allSatisfy { !$0.isEmpty })
            }
        }
        #expect(decoded > 5_000)
    }

    /// The outcome of a kernel 2 as its book writes it: a data record (FF8105) and discretionary data (FF8106).
    @Test func `the templates of a kernel's outcome are read with what is in them`() throws {
        let bytes = try Hex.bytes(
            "FF8105 0D 9F0206000000001250 9F270180 FF FF8106 0A DF8115060000000000FF".replacing(" ", with: ""))
        let decoded = try CardDataDecoder(kernel: .mastercard).decode(bytes)
        #expect(decoded.form == "tlv")
        #expect(decoded.objects.map(\.tag) == ["FF8105", "FF8106"])
        #expect(decoded.objects.first?.name == "Data Record")
        #expect(decoded.objects.first?.children.map(\.tag) == ["9F02", "9F27"])
        #expect(decoded.objects.last?.children.map(\.tag) == ["DF8115"])
    }
}
