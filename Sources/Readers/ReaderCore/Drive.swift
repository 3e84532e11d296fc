// SPDX-License-Identifier: Apache-2.0
public import CardBytes
import Linux

/// How long a tap may take in each of its waits.
public struct TapDeadlines: Sendable {
    /// Until a card must have been presented.
    public var card: TapInstant
    /// For one command and its answer.
    public var commandMilliseconds: UInt64

    public init(card: TapInstant, commandMilliseconds: UInt64 = 5_000) {
        self.card = card
        self.commandMilliseconds = commandMilliseconds
    }
}

/// Runs a machine on a reader until it has an outcome: the only code that knows both.
///
/// Synchronous, on the reader's thread. The card is still active when this returns, so that the caller can hand the
/// result on first; the caller calls `release` afterwards, on success and on failure.
///
/// - Parameters:
///   - clock: what the machine takes for the time.
///   - pause: leaves the field off for so many milliseconds; a replay need not wait. Not optional: whoever puts a closure
///     of its own before it passes it on, and cannot leave it out.
/// - Throws: what ended the wait for a card: `.timedOut`, `.cancelled`, or the reader's failure. Whatever happens to a
///   command that was sent is an input to the machine instead.
public func drive<Machine: TapMachine & ~Copyable>(
    _ machine: inout Machine, on reader: any CardReader, deadlines: TapDeadlines, cancellation: TapCancellation,
    clock: () -> TapInstant = monotonicNow, pause: (UInt64) -> Void = leaveFieldOff, onSignal: (Machine.Signal) -> Void
) throws(ReaderError) -> Machine.Outcome {
    var step = machine.start(now: clock())
    while true {
        for signal in step.signals { onSignal(signal) }
        switch step.action {
        case .finished(let outcome):
            return outcome
        case .activate(let fieldOff):
            if fieldOff > 0 {
                reader.release()
                pause(fieldOff)
            }
            switch try reader.activate(until: deadlines.card, cancellation: cancellation) {
            case .card(let card): step = machine.activated(card, now: clock())
            case .collision:
                // Whoever waits for one card waits no longer than for any.
                guard clock() < deadlines.card else { throw .timedOut }
                step = machine.collided(now: clock())
            case .emptied: step = machine.fieldEmptied(now: clock())
            // Nothing that a machine has to know: it goes on waiting.
            case .unreadable: step = Machine.Step(.activate(fieldOffMilliseconds: 0))
            }
        case .transmit(let command):
            let deadline = clock().advanced(byMilliseconds: deadlines.commandMilliseconds)
            do throws(ReaderError) {
                step = machine.received(try reader.exchange(command, until: deadline), now: clock())
            } catch {
                step = machine.cardLost(CardLoss(error), now: clock())
            }
        }
    }
}

/// Waits on this thread for so many milliseconds, while the reader's field is off.
public func leaveFieldOff(milliseconds: UInt64) { sleep(milliseconds: milliseconds) }

extension CardLoss {
    /// Reader APIs tell a card that left from a reader that failed, and seldom more. What a transcript keeps of an error
    /// leads to the same value.
    fileprivate init(_ error: ReaderError) {
        switch error {
        case .cardLost, .timedOut, .cancelled: self = .timeOut
        case .detached, .inUse, .serviceUnavailable, .faulty: self = .transmission
        }
    }
}
