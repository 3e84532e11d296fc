// SPDX-License-Identifier: Apache-2.0
import CardBytes
import ReaderCore
import TestSupport
import Testing

@Suite struct TranscriptTests {
    static let text = """
        kernel: C3
        expect: onlineRequest
        note: a value: with a colon

        + technology=typeA uid=08A1B2C3 ats=788080022063CBA3A0 sak=20
        > 00A404000E325041592E5359532E444446303100
        < 6F009000
        > 80A8000002830000
        ! cardLost
        -
        + collision
        + technology=typeB atr=3B80800101
        > 00B2010C00
        ! timedOut
        > 00B2010C00
        ! detached

        """

    @Test func `the canonical text is read and printed as it is`() throws {
        let transcript = try Transcript(parsing: Self.text)
        #expect(transcript.text == Self.text)
        #expect(transcript["kernel"] == "C3")
        #expect(transcript["note"] == "a value: with a colon")
        #expect(transcript["absent"] == nil)
        #expect(transcript.steps.count == 8)
    }

    @Test func `comments, blanks, lower case and CR LF change nothing`() throws {
        let relaxed = "# hello\r\n\r\n  kernel :C3 \r\n\t> 00 a4 04 00 00\r\n< 90 00\r\n # end\r\n-"
        let transcript = try Transcript(parsing: relaxed)
        #expect(transcript.text == "kernel: C3\n\n> 00A4040000\n< 9000\n-\n")
    }

    @Test func `an empty text is an empty transcript`() throws {
        #expect(try Transcript(parsing: "") == Transcript())
        #expect(Transcript().text.isEmpty)
    }

    @Test func `a line break in a header value cannot make another line`() throws {
        let transcript = Transcript(header: [Transcript.Field(key: "note", value: "a\n> 00A40400\r\nb")])
        #expect(try Transcript(parsing: transcript.text).steps.isEmpty)
    }

    /// Text, line at fault, reason.
    static let malformed: [(String, Int, TranscriptError.Reason)] = [
        ("kernel: C3\nnonsense", 2, .unknownLine), ("> 00A40400\n< 9000\nkernel: C3", 3, .misplacedHeader),
        (": value", 1, .misplacedHeader), ("> 00A40400\nkey: value", 2, .misplacedHeader),
        ("> 00A4040", 1, .notHexadecimal), ("> 00A404XX", 1, .notHexadecimal), ("> 00A404", 1, .notACommand),
        (">", 1, .notACommand), ("> 00A4040003AA", 1, .notACommand), ("> 00A40400\n< 90", 2, .notAResponse),
        ("\n\n< 9000", 3, .answerWithoutCommand), ("! cardLost", 1, .answerWithoutCommand),
        ("> 00A40400\n> 00A40400\n< 9000", 1, .commandWithoutAnswer), ("#\n> 00A40400\n", 2, .commandWithoutAnswer),
        ("> 00A40400\n-", 1, .commandWithoutAnswer), ("> 00A40400\n+ collision", 1, .commandWithoutAnswer),
        ("+ technology=typeC", 1, .unknownFact("technology=typeC")), ("+ uid", 1, .unknownFact("uid")),
        ("+ uid=01 uid=02", 1, .unknownFact("uid=02")), ("+ sak=2020", 1, .unknownFact("sak=2020")),
        ("+ colour=01", 1, .unknownFact("colour=01")), ("+ uid=0", 1, .notHexadecimal),
        ("> 00A40400\n! gone", 2, .unknownFault("gone")), ("- now", 1, .unknownLine),
    ]

    @Test(arguments: malformed)
    func `malformed text is refused with the line`(text: String, line: Int, reason: TranscriptError.Reason) {
        let expected = TranscriptError(line: line, reason: reason)
        #expect(throws: expected) { _ = try Transcript(parsing: text) }
        #expect(expected.description.hasPrefix("line \(line): "))
    }

    @Test func `any transcript survives printing and parsing`() throws {
        var random = SeededGenerator(seed: 20_261_121)
        for _ in 0..<300 {
            let transcript = try randomTranscript(&random)
            #expect(try Transcript(parsing: transcript.text) == transcript)
        }
    }

    @Test func `no cut of a text traps`() {
        let bytes = Array(Self.text.utf8)
        for end in bytes.indices {
            _ = try? Transcript(parsing: String(decoding: bytes[..<end], as: UTF8.self))
            _ = try? Transcript(parsing: String(decoding: bytes[end...], as: UTF8.self))
        }
    }

    @Test func `a transcript never describes its bytes`() throws {
        let transcript = try Transcript(parsing: "> 00A40400\n< 5413330089601034" + "9000")
        for text in ["\(transcript)", String(reflecting: transcript), dumped(transcript)] {
            #expect(!text.contains("5413") && !text.contains("84, 19"))
        }
    }

    private func dumped(_ value: Any) -> String {
        var text = ""
        dump(value, to: &text)
        return text
    }

    private func randomTranscript(_ random: inout some RandomNumberGenerator) throws -> Transcript {
        func bytes(_ range: ClosedRange<Int>) -> [UInt8] {
            (0..<Int.random(in: range, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
        }
        var transcript = Transcript(header: [Transcript.Field(key: "kernel", value: "C\(bytes(0...2).count)")])
        for _ in 0..<Int.random(in: 0...8, using: &random) {
            let command = try CommandAPDU(
                cla: 0x80, ins: 0xA8, p1: 0, p2: 0, data: bytes(0...255),
                le: Bool.random(using: &random) ? Int.random(in: 1...256, using: &random) : nil)
            let answers: [Transcript.Answer] = [
                .response(try ResponseAPDU(bytes(2...258))), .cardLost, .timedOut, .detached,
            ]
            let steps: [Transcript.Step] = [
                .activated(
                    CardActivation(
                        technology: .typeB, uid: bytes(0...10), answerToSelect: bytes(0...20), atr: bytes(0...33),
                        sak: bytes(0...1).first)),
                .collided, .emptied, .released, .exchanged(command, answers.randomElement(using: &random) ?? .cardLost),
            ]
            if let step = steps.randomElement(using: &random) { transcript.steps.append(step) }
        }
        return transcript
    }
}
