// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV
import Envelope
import ReaderCore
import ReaderPCSC
import TapSession

/// Our reader and the bare loop on the same PC/SC reader, one after the other.
final class PCSCRunner {
    /// Nanoseconds.
    struct Comparison {
        var bare: Double
        var bareP99: Double
        var ours: Double
        var oursP99: Double
        /// Of the medians.
        var ratio: Double { ours / bare }
    }

    private let reader: PCSCReader
    private let bare: BareLoop
    private let recorded: RecordedTap
    private var commands: [[UInt8]] = []
    private let cancellation = TapCancellation()

    init(reader name: String, _ recorded: RecordedTap) throws {
        reader = try PCSCReader(name: name)
        bare = try BareLoop(reader: name)
        self.recorded = recorded
    }

    func close() { reader.close() }

    /// Waits for the card and notes which commands a conversation has. The loop sends the same: our question for the UID,
    /// and the one for the ATS that our reader asks only where the ATR tells type A.
    func prepare() throws {
        let card = try activation()
        reader.release()
        var questions: [[UInt8]] = [[0xFF, 0xCA, 0x00, 0x00, 0x00]]
        if card.technology == .typeA, card.sak == nil { questions.append([0xFF, 0xCA, 0x01, 0x00, 0x00]) }
        commands = questions + recorded.commands.map(\.bytes)
        for _ in 0..<3 {
            try tap()
            _ = try bare.run(commands)
        }
    }

    /// A card that was laid down this moment does not answer to power-up at once, which shows as more than one card.
    private func activation() throws -> CardActivation {
        let deadline = deadlines.card
        while true {
            if case .card(let card) = try reader.activate(until: deadline, cancellation: cancellation) { return card }
        }
    }

    /// Whether one conversation of ours and one of the loop make the same calls, by what `calls` has counted so far.
    func checkCalls(_ calls: () -> [String]) throws {
        let start = calls().count
        try replay()
        let middle = calls().count
        _ = try bare.run(commands)
        let all = calls()
        guard Array(all[start..<middle]) == Array(all[middle...]) else {
            throw BenchmarkError.wrongResult("ours \(all[start..<middle]), the loop \(all[middle...])")
        }
    }

    /// From the state of the reader to the power down, the commands being known beforehand.
    func replay() throws {
        defer { reader.release() }
        let deadlines = deadlines
        guard case .card = try reader.activate(until: deadlines.card, cancellation: cancellation) else {
            throw BenchmarkError.wrongResult("the activation")
        }
        for command in recorded.commands {
            let deadline = monotonicNow().advanced(byMilliseconds: deadlines.commandMilliseconds)
            guard try reader.exchange(command, until: deadline).status.isSuccess else {
                throw BenchmarkError.wrongResult("a status")
            }
        }
    }

    /// From the state of the reader to the power down: activation, Entry Point, kernel.
    func converse() throws {
        defer { reader.release() }
        var machine = EntryPoint(
            configuration: recorded.configuration, transaction: recorded.transaction,
            unpredictableNumbers: .fixed([RecordedTap.unpredictableNumber]), authentication: recorded.authentication)
        let final = try drive(&machine, on: reader, deadlines: deadlines, cancellation: cancellation) { _ in }
        guard final.outcome.status == .onlineRequest else { throw BenchmarkError.wrongResult("the outcome") }
    }

    /// The same with everything that a payment has: signals, record, envelope.
    func tap() throws {
        let tap = PaymentTap(
            configuration: recorded.configuration, authentication: recorded.authentication,
            transaction: recorded.transaction,
            binding: CardRecord.Binding(
                transaction: "bench", reader: "bench", amount: recorded.transaction.amount, currency: "EUR",
                issuedAt: 1_768_478_400),
            recipient: .sandboxTest, deadlines: deadlines,
            unpredictableNumbers: .fixed([RecordedTap.unpredictableNumber]))
        var isSealed = false
        try tap.run(
            on: reader, cancellation: cancellation, onSignal: { _ in }, deliver: { isSealed = $0.read != nil })
        guard isSealed else { throw BenchmarkError.wrongResult("nothing was sealed") }
    }

    /// Runs both in turns, each first every second time.
    func compare(_ pairs: Int, _ ours: () throws -> Void) throws -> Comparison {
        var ownTimes: [Double] = []
        var bareTimes: [Double] = []
        for pair in 0..<pairs {
            if pair.isMultiple(of: 2) { ownTimes.append(try time(ours)) }
            bareTimes.append(try time { _ = try bare.run(commands) })
            if !pair.isMultiple(of: 2) { ownTimes.append(try time(ours)) }
        }
        ownTimes.sort()
        bareTimes.sort()
        return Comparison(
            bare: bareTimes.percentile(50), bareP99: bareTimes.percentile(99), ours: ownTimes.percentile(50),
            oursP99: ownTimes.percentile(99))
    }

    private var deadlines: TapDeadlines { TapDeadlines(card: monotonicNow().advanced(byMilliseconds: 10_000)) }

    private func time(_ body: () throws -> Void) rethrows -> Double {
        let start = Stopwatch.wallTime()
        try body()
        return Double(Stopwatch.wallTime() - start)
    }
}
