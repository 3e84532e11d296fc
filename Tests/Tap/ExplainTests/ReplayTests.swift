// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV
import Explain
import Foundation
import ReaderCore
import TestSupport
import Testing

@Suite("Replay")
struct ReplayTests {
    private func visaOnline(_ change: (inout Transcript) -> Void = { _ in }) throws -> ReplayRun {
        var transcript = try Recordings.transcript("visa/online.tap")
        change(&transcript)
        return try ReplayRun(
            transcript, configuration: Terminals.visa(), authentication: Terminals.authentication)
    }

    @Test func `the same transcript and terminal give the same report, also as JSON`() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        let first = try encoder.encode(ReplayReport(try visaOnline()))
        let second = try encoder.encode(ReplayReport(try visaOnline()))
        #expect(first == second)
    }

    @Test func `commands, answers, messages and outcome come in their order`() throws {
        let report = ReplayReport(try visaOnline())
        #expect(report.events.map(\.kind) == [.ui, .card, .response, .response, .response, .ui, .ui, .outcome])
        #expect(report.events.compactMap(\.status) == ["9000", "9000", "9000"])
        #expect(report.outcome.status == "onlineRequest")
        #expect(report.outcome.cvm == "onlinePIN")
        #expect(report.outcome.dataRecord.first { $0.tag == "57" }?.value == nil)
        #expect(report.outcome.dataRecord.first { $0.tag == "9F26" }?.value == "48325309BE82CBA2")
    }

    @Test func `a command that differs is named with its step, the recorded and the sent one`() throws {
        let run = try visaOnline { transcript in
            transcript.header = transcript.header.map { $0.key == "amount" ? .init(key: "amount", value: "9100") : $0 }
        }
        #expect(!run.isAsRecorded)
        let mismatch = try #require(ReplayReport(run).mismatch)
        #expect(mismatch.step == 4)
        #expect(mismatch.expected?.contains("000000009000") == true)
        #expect(mismatch.sent?.contains("000000009100") == true)
        #expect(ReplayReport(run).lines.contains("step 4 differs"))
    }

    @Test func `an expectation that is not met is no success`() throws {
        let run = try visaOnline { transcript in
            transcript.header = transcript.header.map {
                $0.key == "expect" ? .init(key: "expect", value: "approved") : $0
            }
        }
        #expect(run.mismatch == nil)
        #expect(!run.isAsRecorded)
        #expect(ReplayReport(run).lines.contains("expect: expected approved, was onlineRequest"))
    }

    @Test func `steps that nobody asks for are counted`() throws {
        let run = try visaOnline { transcript in
            transcript.steps.removeLast()
            if let last = transcript.steps.last { transcript.steps.append(last) }
        }
        #expect(run.unusedSteps == 1)
    }

    @Test func `a transcript that ends early ends the run, at any step`() throws {
        let whole = try Recordings.transcript("mastercard/simulated-cda.tap")
        for count in 0..<whole.steps.count - 1 {
            var cut = whole
            cut.steps = Array(whole.steps.prefix(count))
            let run = try ReplayRun(cut, configuration: .test, authentication: Terminals.authentication)
            #expect(!run.isAsRecorded, "\(count) steps")
            #expect(!Explanation(run.trace).lines.isEmpty)
        }
    }

    @Test func `a card that answers nonsense or leaves is explained all the same`() throws {
        var generator = SeededGenerator(seed: 7)
        for name in Recordings.names {
            let whole = try Recordings.transcript(name)
            let terminal = try #require(Terminals.configuration(named: whole["terminal"] ?? ""), "\(name)")
            for index in whole.steps.indices {
                guard case .exchanged(let command, .response(let response)) = whole.steps[index] else { continue }
                let noise = (0..<20).map { _ in UInt8.random(in: 0...255, using: &generator) }
                let answers: [Transcript.Answer] = [
                    .cardLost, .timedOut, .response(ResponseAPDU(data: noise, status: .success)),
                    .response(ResponseAPDU(data: Array(response.data.dropLast()), status: .success)),
                    .response(ResponseAPDU(status: .conditionsNotSatisfied)),
                ]
                for answer in answers {
                    var changed = whole
                    changed.steps[index] = .exchanged(command, answer)
                    let run = try ReplayRun(
                        changed, configuration: terminal, authentication: Terminals.authentication)
                    #expect(Explanation(run.trace).lines.count > 1)
                    #expect(ReplayReport(run).lines.count > 3)
                }
            }
        }
    }

    @Test func `a second tap that the kernel wants is played too`() throws {
        var transcript = try Recordings.transcript("visa/online.tap")
        let exchanges = transcript.steps.filter { if case .exchanged = $0 { true } else { false } }
        guard case .exchanged(let options, let answer) = exchanges[2] else {
            Issue.record("no third exchange in the transcript")
            return
        }
        transcript.steps =
            [.activated(CardActivation()), exchanges[0], exchanges[1]]
            + [.exchanged(options, .response(ResponseAPDU(status: .commandNotAllowed))), .released]
            + [.activated(CardActivation()), exchanges[0], exchanges[1]]
        let changed = Array(options.bytes.dropLast(2)) + [0xAC, 0x00]
        transcript.steps += [.exchanged(try CommandAPDU(changed), answer), .released]
        let run = try ReplayRun(
            transcript, configuration: Terminals.visa(), authentication: Terminals.authentication)
        #expect(run.isAsRecorded)
        #expect(ReplayReport(run).events.map(\.text).contains("field off for 1300 ms"))
        #expect(Explanation(run.trace).lines.contains("  This is tap 2; the taps before had no result."))
    }

    // MARK: Header

    @Test(arguments: [
        ("amount", "12.50", TranscriptHeaderError.unreadable("amount", expected: "a whole number up to 999999999999")),
        ("currency", "EURO", .unreadable("currency", expected: "an ISO code")),
        ("country", "ZZ", .unreadable("country", expected: "an ISO code")),
        ("date", "2026-13-01", .unreadable("date", expected: "YYYY-MM-DD")),
        ("random", "123", .unreadable("random", expected: "numbers of eight hexadecimal digits")),
    ])
    func `a header value that cannot be read is an error that says how it should look`(
        _ key: String, _ value: String, _ expected: TranscriptHeaderError
    ) throws {
        #expect(throws: expected) {
            _ = try visaOnline { transcript in
                transcript.header = transcript.header.map { $0.key == key ? .init(key: key, value: value) : $0 }
            }
        }
    }

    @Test(arguments: ["amount", "currency", "country", "date", "random"])
    func `a header without what a transaction needs is an error`(_ key: String) throws {
        #expect(throws: TranscriptHeaderError.missing(key)) {
            _ = try visaOnline { transcript in transcript.header.removeAll { $0.key == key } }
        }
    }

    @Test func `time, type, cashback and several random numbers are taken from the header`() throws {
        var transcript = try Recordings.transcript("visa/online.tap")
        transcript.header = transcript.header.map {
            $0.key == "random" ? .init(key: "random", value: "00000001 FFFFFFFF") : $0
        }
        for (key, value) in [("time", "23:59:58"), ("type", "09"), ("other-amount", "500"), ("sequence", "42")] {
            transcript.header.append(.init(key: key, value: value))
        }
        let header = try TranscriptHeader(transcript)
        #expect(header.unpredictableNumbers == [1, .max])
        #expect(header.transaction.time == EMVTime(hour: 23, minute: 59, second: 58))
        #expect(header.transaction.type == .purchaseWithCashback)
        #expect(header.transaction.otherAmount == 500)
        #expect(header.transaction.sequenceCounter == 42)
    }
}
