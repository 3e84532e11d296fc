// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import EMV
import ReaderCore
import Synchronization
import TestSupport
import Testing

@testable import Explain

/// A reader whose phone wants to be looked at (6986 to GET PROCESSING OPTIONS, Book C-3 5.2.2.2), and that notes for how long nobody
/// asked it for a card.
private final class AskingPhone: ForwardingReader {
    private struct State {
        var questions: Int
        var releasedAt: TapInstant?
        var pauses: [UInt64] = []
    }

    let reader: any CardReader
    private let state: Mutex<State>

    init(_ card: any VirtualCard, questions: Int) {
        reader = SimulatedReader(card)
        state = Mutex(State(questions: questions))
    }

    /// Milliseconds from each switching off to the next card.
    var pauses: [UInt64] { state.withLock { $0.pauses } }

    func release() {
        state.withLock { $0.releasedAt = monotonicNow() }
        reader.release()
    }

    func activate(until deadline: TapInstant, cancellation: TapCancellation) throws(ReaderError) -> CardPresence {
        state.withLock { state in
            guard let start = state.releasedAt else { return }
            state.pauses.append((monotonicNow().nanoseconds - start.nanoseconds) / 1_000_000)
            state.releasedAt = nil
        }
        return try reader.activate(until: deadline, cancellation: cancellation)
    }

    func transmit(_ command: CommandAPDU, until deadline: TapInstant) throws(ReaderError) -> ResponseAPDU {
        let isAsking = state.withLock { state in
            guard command.ins == 0xA8, state.questions > 0 else { return false }
            state.questions -= 1
            return true
        }
        if isAsking { do { return try ResponseAPDU([0x69, 0x86]) } catch { throw .cardLost } }
        return try reader.transmit(command, until: deadline)
    }
}

@Suite struct FieldOffTests {
    private func trace(_ reader: AskingPhone, pause: ((UInt64) -> Void)? = nil) -> TapTrace {
        let transaction = Transaction(
            amount: 1_250, currency: 978, exponent: 2, country: 276, date: EMVDate(year: 2026, month: 3, day: 16),
            time: EMVTime(hour: 10, minute: 30, second: 0), sequenceCounter: 1)
        let deadlines = TapDeadlines(card: monotonicNow().advanced(byMilliseconds: 60_000))
        guard let pause else {
            return TapTrace(
                on: reader, configuration: .test, transaction: transaction,
                unpredictableNumbers: .fixed([0x1234_5678]), authentication: Terminals.authentication,
                deadlines: deadlines)
        }
        return TapTrace(
            on: reader, configuration: .test, transaction: transaction, unpredictableNumbers: .fixed([0x1234_5678]),
            authentication: Terminals.authentication, deadlines: deadlines, pause: pause)
    }

    private func asked(_ trace: TapTrace) -> [UInt64] {
        trace.events.compactMap { if case .fieldOff(let milliseconds) = $0 { milliseconds } else { nil } }
    }

    /// EMV Contactless Book B, 3.5.1.1: the reader switches the field off for the hold time that the kernel asks for, before it looks for
    /// a card again. Measured where the card is, not where the wait is.
    @Test("C1: a recording leaves the field off between two taps for as long as the kernel asks")
    func waits() throws {
        let reader = AskingPhone(try #require(CardCatalogue.card(named: "visa")), questions: 1)
        let trace = trace(reader)
        let wanted = asked(trace)
        #expect(wanted == [1_300])
        #expect(reader.pauses.count == wanted.count)
        for (had, wanted) in zip(reader.pauses, wanted) { #expect(had >= wanted) }
        #expect(trace.outcome.outcome.status == .onlineRequest)
    }

    @Test("C1: whoever brings a wait of his own is asked for each, and no other is added")
    func replaced() throws {
        let reader = AskingPhone(try #require(CardCatalogue.card(named: "visa")), questions: 3)
        var waits: [UInt64] = []
        let trace = trace(reader) { waits.append($0) }
        #expect(waits == asked(trace) && waits == [1_300, 1_300, 1_300])
    }
}
