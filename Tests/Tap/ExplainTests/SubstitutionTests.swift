// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import EMV
import ReaderCore
import TestSupport
import Testing

@testable import Explain

@Suite("Recordings without the card's data")
struct SubstitutionTests {
    /// A card number that is nobody's test number: the recorded one with other digits, packed and as track 2.
    private static let real = "4000123412341239"

    private func visa(_ pan: String) throws -> Transcript {
        let text = try Recordings.transcript("visa/offline-fdda.tap").text
        return try Transcript(
            parsing: text.split(separator: "\n").map { line in
                line.hasPrefix("<") ? line.replacing("4761739001010010", with: pan) : line
            }.joined(separator: "\n"))
    }

    @Test func `the card number is gone and everything else has its length`() throws {
        let original = try visa(Self.real)
        let safe = try TranscriptSubstitution(original)
        #expect(original.text.contains(Self.real))
        #expect(!safe.transcript.text.contains(Self.real))
        #expect(safe.transcript.text.contains("4761739001010010"))
        #expect(safe.replaced == [0x57, 0x5A])
        #expect(safe.zeroed.contains(0x9F4B))
        #expect(safe.zeroed.contains(0x90))
        #expect(safe.transcript.steps.count == original.steps.count)
        for (old, new) in zip(original.steps, safe.transcript.steps) {
            guard case .exchanged(_, .response(let before)) = old, case .exchanged(_, .response(let after)) = new else {
                continue
            }
            #expect(before.data.count == after.data.count)
        }
    }

    @Test func `the header says what holds test values and what could not be kept valid`() throws {
        let header = try TranscriptSubstitution(try visa(Self.real)).transcript
        #expect(header["replaced"] == "test values for 57 5A")
        #expect(header["unreplaced"]?.contains("9F26") == true)
        #expect(header["unreplaced"]?.contains("cannot be made again without the issuer's keys") == true)
    }

    @Test func `with the noted result of authentication the replay decides as the tap did`() throws {
        var transcript = try TranscriptSubstitution(try visa(Self.real)).transcript
        let failed = try ReplayRun(
            transcript, configuration: Terminals.visa(), authentication: Terminals.authentication)
        #expect(failed.trace.outcome.outcome.status == .declined)
        transcript.header.append(.init(key: "authentication", value: "verified"))
        let run = try ReplayRun(
            transcript, configuration: Terminals.visa(), authentication: Terminals.authentication)
        #expect(run.isAsRecorded)
        #expect(run.trace.outcome.outcome.status == .approved)
    }

    @Test func `a number in a place where none should be is an error, not a leak`() throws {
        var transcript = try visa(Self.real)
        transcript.header.append(.init(key: "note", value: "card \(Self.real)"))
        #expect(throws: SubstitutionError.numberLeft) { _ = try TranscriptSubstitution(transcript) }
    }

    @Test func `F4 an answer without structure is blanked, and the header names its step`() throws {
        var transcript = try visa(Self.real)
        let unreadable: [UInt8] = [0x5A, 0x09, 0x40, 0x00, 0x12, 0x34, 0x12, 0x34, 0x12, 0x39]
        transcript.steps[4] = .exchanged(
            try CommandAPDU([0x00, 0xB2, 0x01, 0x0C, 0x00]),
            .response(ResponseAPDU(data: unreadable, status: .success)))
        let safe = try TranscriptSubstitution(transcript)
        #expect(safe.blanked == [5])
        #expect(safe.transcript["blanked"]?.contains("in step 5:") == true)
        guard case .exchanged(_, .response(let blank)) = safe.transcript.steps[4] else {
            Issue.record("another step")
            return
        }
        #expect(blank.data == [UInt8](repeating: 0x9F, count: unreadable.count) && blank.status == .success)
        #expect(!safe.transcript.text.contains(Self.real))
        #expect(try TranscriptSubstitution(try visa(Self.real)).transcript["blanked"] == nil)
    }

    @Test(arguments: 1...300) func `F4 a blanked answer is not made of data objects, whatever its length`(count: Int) {
        #expect(throws: TLVError.self) { try TLV.nodes([UInt8](repeating: 0x9F, count: count)) }
    }

    @Test func `F4 a number beside the objects that should hold it is blanked with its answer`() throws {
        var transcript = try visa(Self.real)
        var writer = TLVWriter()
        // A name is no place for a number, and a template name of the dictionary is not looked into.
        writer.append(0x50, Array(Self.real.utf8))
        transcript.steps.append(
            .exchanged(
                try CommandAPDU([0x00, 0xB2, 0x02, 0x0C, 0x00]),
                .response(ResponseAPDU(data: writer.bytes, status: .success))))
        let safe = try TranscriptSubstitution(transcript)
        #expect(safe.blanked == [transcript.steps.count])
    }

    @Test(arguments: CardCatalogue.names)
    func `F4 every card can be recorded and made safe`(name: String) throws {
        let tap = SimulatedTap(
            file: "", card: name, amount: 1_250, expect: "endApplication", kernel: "none", cvm: nil)
        let original = try tap.record()
        let safe = try TranscriptSubstitution(original)
        #expect(safe.transcript.steps.count == original.steps.count)
        for step in safe.blanked {
            guard case .exchanged(_, .response(let response)) = safe.transcript.steps[step - 1] else {
                Issue.record("step \(step) has no answer")
                continue
            }
            #expect(response.data.allSatisfy { $0 == 0x9F })
        }
    }

    @Test func `F4 some of the cards have answers that cannot be read`() throws {
        let blanked = try CardCatalogue.names.filter { name in
            let tap = SimulatedTap(file: "", card: name, amount: 1_250, expect: "", kernel: "", cvm: nil)
            return try !TranscriptSubstitution(try tap.record()).blanked.isEmpty
        }
        #expect(blanked.contains("malformed-tlv") && blanked.contains("malformed-record"))
    }

    @Test func `F4 only public test numbers may be kept, and they are found in answers that cannot be read, too`()
        throws
    {
        func card(_ data: [UInt8]) throws -> TranscriptSubstitution.Card {
            TranscriptSubstitution.card(
                in: Transcript(steps: [
                    .exchanged(
                        try CommandAPDU([0x00, 0xB2, 0x01, 0x0C, 0x00]),
                        .response(ResponseAPDU(data: data, status: .success)))
                ]))
        }
        #expect(TranscriptSubstitution.card(in: try Recordings.transcript("visa/online.tap")) == .publicTest)
        #expect(TranscriptSubstitution.card(in: try visa(Self.real)) == .other)
        #expect(TranscriptSubstitution.card(in: try Recordings.transcript("selection/no-ppse.tap")) == .unknown)
        #expect(try card([0x5A, 0x09] + Hex.bytes("4761739001010010")) == .publicTest)
        #expect(try card([0x5A, 0x09] + Hex.bytes(Self.real)) == .unknown)
    }

    @Test(arguments: [[], [0x04, 0xAA, 0xBB, 0xCC]] as [[UInt8]])
    func `F6 the header names the card's UID only if there is one`(uid: [UInt8]) throws {
        let transcript = Transcript(steps: [.activated(CardActivation(technology: .typeA, uid: uid))])
        let header = try TranscriptSubstitution(transcript).transcript["replaced"]
        #expect(header == (uid.isEmpty ? nil : "UID of the card"))
    }

    @Test func `tracks, names and account references get test values`() throws {
        var writer = TLVWriter()
        writer.append(0x70) { record in
            record.append(0x56, Array("B4000123412341239^DOE/JANE      ^29122010123456789".utf8))
            record.append(0x5F20, Array("DOE/JANE".utf8))
            record.append(0x9F24, Array("V0010013012345678901234567890".utf8))
            record.append(0x9F6B, [0x40, 0x00, 0x12, 0x34, 0x12, 0x34, 0x12, 0x39, 0xD2, 0x91, 0x22, 0x01, 0x98, 0x7F])
            record.append(0xDF2D, [0x12, 0x34])
            record.append(0x9F36, [0x00, 0x07])
        }
        let transcript = Transcript(steps: [
            .activated(CardActivation(technology: .typeA, uid: [0x04, 0xAA, 0xBB, 0xCC])),
            .exchanged(
                try .select([0xA0, 0x00, 0x00, 0x00, 0x04, 0x10, 0x10]), .response(ResponseAPDU(status: .success))),
            .exchanged(
                try CommandAPDU([0x00, 0xB2, 0x01, 0x0C, 0x00]),
                .response(ResponseAPDU(data: writer.bytes, status: .success))),
        ])
        let safe = try TranscriptSubstitution(transcript).transcript
        guard case .activated(let card) = safe.steps[0], case .exchanged(_, .response(let response)) = safe.steps[2]
        else {
            Issue.record("other steps than before")
            return
        }
        #expect(card.uid == [0x08, 0x01, 0x02, 0x03])
        func value(_ tag: CardBytes.Tag) throws -> [UInt8] {
            Array(response.data[try #require(try TLV.first(tag, response.data)).value])
        }
        #expect(try value(0x56) == Array("B5413330089601034^TEST/CARDHOLDE^29122010000000000".utf8))
        #expect(try value(0x5F20) == Array("TEST/CAR".utf8))
        #expect(try value(0x9F24) == Array("TESTPAR0000000000000000000000".utf8))
        #expect(
            try value(0x9F6B) == [0x54, 0x13, 0x33, 0x00, 0x89, 0x60, 0x10, 0x34, 0xD2, 0x91, 0x22, 0x01, 0x00, 0x0F])
        #expect(try value(0xDF2D) == [0, 0])
        #expect(try value(0x9F36) == [0, 7])
    }

    @Test func `every test number passes the check digit, at any length`() {
        func passes(_ digits: [UInt8]) -> Bool {
            digits.reversed().enumerated().reduce(0) { sum, item in
                let value = item.offset.isMultiple(of: 2) ? Int(item.element) : Int(item.element) * 2
                return sum + (value > 9 ? value - 9 : value)
            }.isMultiple(of: 10)
        }
        #expect(TestAccount.publicNumbers.allSatisfy(passes))
        for rid in [0x03, 0x04, 0x25, 0x65, 0x99] as [UInt8] {
            for count in 8...19 {
                let pan = TestAccount(
                    for: [UInt8](repeating: 4, count: count), aid: [0xA0, 0x00, 0x00, 0x00, rid, 0x10, 0x10]
                ).pan
                #expect(pan.count == count)
                #expect(passes(pan), "\(rid) \(count)")
            }
        }
    }

    @Test func `a simulated Mastercard recorded and made safe replays to its outcome`() throws {
        var safe = try TranscriptSubstitution(try Recordings.transcript("mastercard/simulated-cda.tap")).transcript
        safe.header.append(.init(key: "authentication", value: "verified"))
        let run = try ReplayRun(safe, configuration: .test, authentication: Terminals.authentication)
        #expect(run.isAsRecorded)
    }

    @Test func `two numbers on one card stay two numbers`() throws {
        var transcript = try visa(Self.real)
        for index in transcript.steps.indices {
            guard case .exchanged(let command, .response(let response)) = transcript.steps[index], command.ins == 0xB2
            else { continue }
            let other = Hex.string(response.bytes).replacing(Self.real, with: "4000123412341247")
            transcript.steps[index] = .exchanged(command, .response(try ResponseAPDU(Hex.bytes(other))))
        }
        let safe = try TranscriptSubstitution(transcript).transcript
        let run = try ReplayRun(safe, configuration: Terminals.visa(), authentication: Terminals.authentication)
        #expect(run.mismatch == nil)
        #expect(run.trace.outcome.outcome.error.l2 == .cardDataError)
    }
}
