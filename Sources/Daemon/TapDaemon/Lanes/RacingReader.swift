// SPDX-License-Identifier: Apache-2.0
import CardBytes
import ReaderCore

/// A reader whose card is used only if it is the first one of all lanes that wait for it. A card that comes second is
/// activated and let go: it gets no command, so that it cannot be charged and its counters stay as they are.
final class RacingReader: ForwardingReader {
    let reader: any CardReader
    private let place: RaceEntry
    private let takesTags: Bool

    /// - Parameter takesTags: a target that takes no commands may be what is waited for: a member's tag.
    init(_ reader: any CardReader, _ place: RaceEntry, takesTags: Bool = false) {
        self.reader = reader
        self.place = place
        self.takesTags = takesTags
    }

    func activate(until deadline: TapInstant, cancellation: TapCancellation) throws(ReaderError) -> CardPresence {
        // A phone that stays in the field and wants its holder is there at every look: a reader that looks before it asks
        // whether anybody still wants it would go on for ever.
        guard !cancellation.isCancelled else { throw .cancelled }
        let presence = try reader.activate(until: deadline, cancellation: cancellation)
        switch presence {
        // A ticket on one lane takes no payment from another.
        case .card(let card) where card.takesCommands == false && !takesTags: break
        case .card:
            guard place.claim(), !cancellation.isCancelled else {
                reader.release()
                throw .cancelled
            }
        // Cards of which none has been chosen decide nothing.
        case .collision, .emptied, .unreadable: break
        }
        return presence
    }
}
