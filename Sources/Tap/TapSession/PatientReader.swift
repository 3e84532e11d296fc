// SPDX-License-Identifier: Apache-2.0
import CardBytes
import ReaderCore

/// A reader that waits for the card of a payment: passes over what takes no commands, gives a card that fails a moment before
/// it is asked again, and says when a presentation is over. Everything else is the reader's own.
final class PatientReader: ForwardingReader {
    let reader: any CardReader
    private let display: TapDisplay
    private let clock: () -> TapInstant
    private let pause: (UInt64) -> Void
    private var lastFound: TapInstant?

    init(
        _ reader: any CardReader, _ display: TapDisplay, clock: @escaping () -> TapInstant,
        pause: @escaping (UInt64) -> Void
    ) {
        self.reader = reader
        self.display = display
        self.clock = clock
        self.pause = pause
    }

    func activate(until deadline: TapInstant, cancellation: TapCancellation) throws(ReaderError) -> CardPresence {
        while true {
            try keepPace(until: deadline, cancellation)
            display.timePassed()
            guard clock() < deadline else { throw .timedOut }
            let limit = min(deadline, display.due ?? deadline)
            switch try presence(until: limit, isLast: limit == deadline, cancellation) {
            case .card(let card) where card.takesCommands == false:
                lastFound = clock()
                display.targetFound()
            case .card(let card):
                lastFound = clock()
                return .card(card)
            case .collision: return .collision
            case .unreadable: return .unreadable
            case .emptied:
                display.fieldEmptied()
                return .emptied
            case nil: continue
            }
        }
    }

    /// - Returns: `nil` where a presentation is over, and the time for a card is not.
    private func presence(
        until limit: TapInstant, isLast: Bool, _ cancellation: TapCancellation
    ) throws(ReaderError) -> CardPresence? {
        do throws(ReaderError) {
            return try reader.activate(until: limit, cancellation: cancellation)
        } catch {
            // A reader whose pcscd starts again may be back by the next wait, whatever the first sign of that was.
            let mayPass = [.timedOut, .inUse, .detached, .serviceUnavailable(.pcscdNotRunning)].contains(error)
            guard !isLast, mayPass, clock() >= limit else { throw error }
            return nil
        }
    }

    /// The field is off meanwhile, so that the next activation is a new one.
    private func keepPace(until deadline: TapInstant, _ cancellation: TapCancellation) throws(ReaderError) {
        guard let lastFound else { return }
        self.lastFound = nil
        let next = min(lastFound.advanced(byMilliseconds: PresentationWatch.pace), deadline)
        let now = clock()
        guard now < next else { return }
        reader.release()
        // Never less than is left: a clock that does not reach its time would be asked for ever.
        pause((next.nanoseconds(since: now) + 999_999) / 1_000_000)
        guard !cancellation.isCancelled else { throw .cancelled }
    }
}
