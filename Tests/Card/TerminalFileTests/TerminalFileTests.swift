// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Codes
import EMV
import EMVCrypto
import Foundation
import TestSupport
import Testing

@testable import TerminalFile

struct TerminalFileTests {
    private func example() throws -> String {
        try Checkout.text("docs/examples/terminal-test.json")
    }

    /// The error of the example with one piece of text replaced.
    private func fault(_ old: String, _ new: String) throws -> TerminalFileError? {
        let text = try example()
        try #require(text.contains(old))
        do throws(TerminalFileError) {
            _ = try TerminalFile(json: Array(text.replacing(old, with: new, maxReplacements: 1).utf8))
            return nil
        } catch {
            return error
        }
    }

    private func sorted(_ configuration: TerminalConfiguration) -> TerminalConfiguration {
        var result = configuration
        result.terminalData.sort { $0.tag.rawValue < $1.tag.rawValue }
        for index in result.combinations.indices {
            result.combinations[index].kernelData.sort { $0.tag.rawValue < $1.tag.rawValue }
        }
        return result
    }

    @Test("M11: a file says of which currency its limits are; one that does not is as it was")
    func currency() throws {
        let text = try example().replacing(#""version": 1,"#, with: #""version": 1, "currency": "KWD","#)
        #expect(try TerminalFile(json: Array(text.utf8)).currency?.exponent == 3)
        #expect(try TerminalFile(json: Array(example().utf8)).currency == nil)
        for wrong in ["\"EURO\"", "\"eur\"", "\"XAU\"", "\"\""] {
            #expect(
                try fault(#""version": 1,"#, #""version": 1, "currency": \#(wrong),"#) == .currency("currency"),
                "\(wrong)")
        }
        #expect(
            try fault(#""version": 1,"#, #""version": 1, "currency": 978,"#) == .wrongType("currency", expected: .text))
    }

    @Test func `the example in the documentation is the built-in test terminal`() throws {
        let file = try TerminalFile(json: Array(example().utf8))
        #expect(file.configuration == sorted(.test))
        #expect(file.keys.environment == .test)
        #expect(file.keys.count == TerminalFile.test.keys.count)
    }

    @Test func `every fault names its member`() throws {
        let cases: [(String, String, TerminalFileError)] = [
            (#""version": 1"#, #""version": 2"#, .outOfRange("version", 1...1)),
            (#""version": 1,"#, "", .missing("version")),
            (#""environment": "test""#, #""environment": "prod""#, .notOneOf("environment", ["test", "live"])),
            (#""environment": "test""#, #""environment": "live""#, .missing("caKeys")),
            (#""9F33": "000808""#, #""9F33": "00080""#, .hexadecimal("terminalData.9F33", bytes: 0...252)),
            (#""9F33""#, #""9F3""#, .unknown("terminalData.9F3")),
            (#""9F33""#, #""9F3301""#, .unknown("terminalData.9F3301")),
            (#""floor": 0"#, #""floor": "0""#, .wrongType("combinations[0].limits.floor", expected: .wholeNumber)),
            (#""floor": 0"#, #""floor": -1"#, .outOfRange("combinations[0].limits.floor", 0...999_999_999_999)),
            (#""floor": 0"#, #""flor": 0"#, .unknown("combinations[0].limits.flor")),
            (#""kernel": 3"#, #""kernel": 0"#, .outOfRange("combinations[0].kernel", 1...0xFF_FFFF)),
            (#""aid": "A0000000031010""#, #""aid": "A0""#, .hexadecimal("combinations[0].aid", bytes: 5...16)),
            ("true", "null", .wrongType("combinations[0].limits.zeroAmountAllowed", expected: .yesOrNo)),
            (#""ttq": "22004000""#, #""ttq": "2200""#, .hexadecimal("combinations[0].limits.ttq", bytes: 4...4)),
            (#""combinations": ["#, #""combinations": [], "x": ["#, .unknown("x")),
            ("{", "{,", .syntax(line: 1, column: 2)),
        ]
        for (old, new, error) in cases {
            #expect(try fault(old, new) == error, "\(new)")
        }
    }

    @Test("K1: terminal data are of the length and in the format of the data dictionary")
    func dictionary() throws {
        let kernel2 = "combinations[3].kernelData"
        let cases: [(String, String, TerminalFileError)] = [
            // The values that were "valid": EMV Book 3 Annex A1 has 3, 5 and 6 bytes, and a card's PAN in no terminal.
            (#""9F33": "000808""#, #""9F33": "0008""#, .terminalData("terminalData.9F33", .length(3...3))),
            (#""9F40": "6000C03000""#, #""9F40": "6000C030""#, .terminalData("terminalData.9F40", .length(5...5))),
            (#""9F39": "07""#, #""5A": "4761739001010010""#, .terminalData("terminalData.5A", .notTerminals)),
            (#""DF8126": "000000005000""#, #""DF8126": "005000""#, .terminalData("\(kernel2).DF8126", .length(6...6))),
            // And others of their kind.
            (#""9F33": "000808""#, #""9F33": """#, .terminalData("terminalData.9F33", .length(3...3))),
            (
                #""DF8126": "000000005000""#, #""DF8126": "00000000500A""#,
                .terminalData("\(kernel2).DF8126", .format(.n))
            ),
            (
                #""DF8126": "000000005000""#, #""DF8129": "0000000000000000""#,
                .terminalData("\(kernel2).DF8129", .notTerminals)
            ),
            (
                #""9F1C": "3030303030303031""#, #""9F1C": "30303030303030""#,
                .terminalData("terminalData.9F1C", .length(8...8))
            ),
            (
                #""9F1C": "3030303030303031""#, #""9F1C": "303030303030300A""#,
                .terminalData("terminalData.9F1C", .format(.an))
            ),
            (#""9F16": "54455354"#, #""9F16": "00455354"#, .terminalData("terminalData.9F16", .format(.ans))),
            (#""9F15": "5311""#, #""9F15": "53A1""#, .terminalData("terminalData.9F15", .format(.n))),
            (#""9F35": "21""#, #""9F35": "27""#, .terminalData("terminalData.9F35", .meaning)),
            (#""9F35": "21""#, #""9F1A": "0049""#, .terminalData("terminalData.9F1A", .meaning)),
            (#""9F35": "21""#, #""9f33": "000808""#, .repeated("terminalData.9f33")),
            // What a tag means is the kernel's: 9F6D has two bytes in kernel 2 and one in kernel 4.
            (#""9F6D": "C0""#, #""9F6D": "0001""#, .terminalData("combinations[5].kernelData.9F6D", .length(1...1))),
            (#""9F6D": "0001""#, #""9F6D": "C0""#, .terminalData("\(kernel2).9F6D", .length(2...2))),
            // Kernel 4 has its action codes under kernel 2's tags.
            (
                #""DF8120": "DC50840000""#, #""DF8120": "DC50""#,
                .terminalData("combinations[5].kernelData.DF8120", .length(5...5))
            ),
        ]
        for (old, new, error) in cases {
            #expect(try fault(old, new) == error, "\(new)")
            #expect(error.field.map { error.description.hasPrefix($0 + ": ") } ?? false)
            #expect(!error.resolution.isEmpty)
        }
        // A private tag is a scheme's own matter; blanks fill what is shorter.
        #expect(try fault(#""9F39": "07""#, #""9F39": "07", "DF7F": "01""#) == nil)
        #expect(try fault(#""9F1C": "3030303030303031""#, #""9F1C": "3030303030303020""#) == nil)
        // What was recorded at a terminal with such data can be explained.
        let recorded = try example().replacing(#""9F33": "000808""#, with: #""9F33": "0008""#)
        #expect(try TerminalFile(json: Array(recorded.utf8), for: .replay).configuration.terminalData.count > 1)
    }

    @Test func `a terminal that claims PIN entry is refused`() throws {
        #expect(try fault(#""9F33": "000808""#, #""9F33": "004808""#) == .pinClaimed("terminalData.9F33"))
        #expect(try fault("22004000", "26004000") == .pinClaimed("combinations[0].limits.ttq"))
        #expect(try fault(#""DF8118": "20""#, #""DF8118": "60""#) == .pinClaimed("combinations[3].kernelData.DF8118"))
    }

    @Test func `a recorded transaction may come from a terminal with a PIN pad`() throws {
        let text = try example().replacing(#""9F33": "000808""#, with: #""9F33": "004808""#)
            .replacing("22004000", with: "26004000")
        let file = try TerminalFile(json: Array(text.utf8), for: .replay)
        #expect(file.configuration.terminalData.value(of: 0x9F33) == [0x00, 0x48, 0x08])
        #expect(file.configuration.combinations.first?.limits.ttq?.supportsOnlinePIN == true)
    }

    @Test func `syntax errors are given by line and column`() throws {
        #expect(throws: TerminalFileError.syntax(line: 3, column: 3)) {
            try TerminalFile(json: Array("{\n  \"version\": 1\n  \"x\": 2}".utf8))
        }
        #expect(throws: TerminalFileError.syntax(line: 1, column: 1)) { try TerminalFile(json: []) }
        #expect(throws: TerminalFileError.wrongType("", expected: .object)) { try TerminalFile(json: Array("[]".utf8)) }
    }

    @Test func `CA keys of the file replace the published ones and are checked`() throws {
        let key = """
            "rid": "A000000003", "index": "92", "exponent": "03",
            "checksum": "429C954A3859CEF91295F663C963E582ED6EB253",
            "modulus": "996AF56F569187D09293C14810450ED8EE3357397B18A2458EFAA92DA3B6DF6514EC060195318FD43BE9B8F0CC669E\
            3F844057CBDDF8BDA191BB64473BC8DC9A730DB8F6B4EDE3924186FFD9B8C7735789C23A36BA0B8AF65372EB57EA5D89E7D14E9C7B\
            6B557460F10885DA16AC923F15AF3758F0F03EBD3C5C2C949CBA306DB44E6A2C076C5F67E281D7EF56785DC4D75945E491F0191880\
            0A9E2DC66F60080566CE0DAF8D17EAD46AD8E30A247C9F"
            """
        let file = try TerminalFile(
            json: Array(example().replacing("\"version\": 1", with: "\"version\": 1, \"caKeys\": [{\(key)}]").utf8))
        #expect(file.keys.count == 1)
        #expect(
            file.authentication.hasKey([0xA0, 0x00, 0x00, 0x00, 0x03], 0x92, on: EMVDate(year: 2026, month: 6, day: 7)))
        let wrong = key.replacing("996AF5", with: "996AF4")
        #expect(
            try fault("\"version\": 1", "\"version\": 1, \"caKeys\": [{\(wrong)}]")
                == .caKey("caKeys[0]", .wrongChecksum))
        let twice = "\"version\": 1, \"caKeys\": [{\(key)}, {\(key)}]"
        #expect(try fault("\"version\": 1", twice) == .caKey("caKeys", .duplicate(index: 0x92)))
    }

    @Test func `what hosts want can be changed tag by tag, for sales and for refunds`() throws {
        let open = try example().replacing(
            #""hostData": {"#,
            with: #""hostData": {"Visa": {"tags": {"9F24": "M"}, "refunds": {"9F6E": "P"}},"#)
        let row = try TerminalFile(json: Array(open.utf8)).configuration.hostData.row(ofScheme: "Visa")
        #expect(row.presence(of: 0x9F24, in: .purchase) == .mandatory)
        #expect(row.presence(of: 0x9F6E, in: .purchase) == .conditional)
        #expect(row.presence(of: 0x9F6E, in: .refund) == .prohibited)
        #expect(row.presence(of: 0x9F03, in: .purchase) == .mandatory)
        #expect(
            try fault(#""9F27": "M""#, #""9F27": "X""#)
                == .notOneOf("hostData.Mastercard.tags.9F27", ["M", "C", "O", "P"]))
        #expect(try fault(#""9F27": "M""#, #""9F": "M""#) == .unknown("hostData.Mastercard.tags.9F"))
        #expect(try fault(#""Mastercard": {"#, #""Masterkard": {"#) == .unknown("hostData.Masterkard"))
        #expect(try fault(#""refunds": {"#, #""returns": {"#) == .unknown("hostData.Mastercard.returns"))
        #expect(
            try fault(#""preferredApplications": []"#, #""preferredApplications": ["A0"]"#)
                == .hexadecimal("preferredApplications[0]", bytes: 5...16))
    }

    @Test func `a terminal's category of two bytes is what SEND POI INFORMATION tells a card`() throws {
        #expect(try TerminalFile(json: Array(example().utf8)).configuration.terminalCategory == nil)
        let open = try example().replacing("\"version\": 1", with: "\"version\": 1, \"terminalCategory\": \"0001\"")
        #expect(try TerminalFile(json: Array(open.utf8)).configuration.terminalCategory == [0x00, 0x01])
        #expect(
            try fault("\"version\": 1", "\"version\": 1, \"terminalCategory\": \"01\"")
                == .hexadecimal("terminalCategory", bytes: 2...2))
    }

    @Test(arguments: ["terminal-transit", "terminal-us"])
    func `every example of a terminal is read`(name: String) throws {
        let file = try TerminalFile(json: Array(Checkout.text("docs/examples/\(name).json").utf8))
        #expect(!file.configuration.combinations.isEmpty)
    }

    @Test func `every error says what to do`() {
        let errors: [TerminalFileError] = [
            .syntax(line: 1, column: 2), .missing("a"), .unknown("a"), .wrongType("a", expected: .array),
            .hexadecimal("a", bytes: 4...4), .hexadecimal("a", bytes: 1...1), .hexadecimal("a", bytes: 5...16),
            .outOfRange("a", 1...2), .notOneOf("a", ["b", "c"]), .caKey("a", .badRID), .pinClaimed("a"),
            .country("a"), .repeated("a"), .terminalData("a", .notTerminals), .terminalData("a", .length(5...65_535)),
            .terminalData("a", .format(.cn)), .terminalData("a", .meaning),
        ]
        for error in errors {
            #expect(!error.resolution.isEmpty)
            #expect(error.description.contains(": "))
        }
        #expect(TerminalFileError.hexadecimal("a", bytes: 4...4).description == "a: not 4 bytes in hexadecimal")
        #expect(
            TerminalFileError.hexadecimal("a", bytes: 5...16).resolution
                == "Write 10 to 32 hexadecimal digits in quotes")
    }
}
