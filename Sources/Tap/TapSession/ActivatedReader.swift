// SPDX-License-Identifier: Apache-2.0
import CardBytes
import ReaderCore

/// A reader whose card is active already: the first wait for a card finds that one without another activation.
/// Everything else is the reader's own.
final class ActivatedReader: ForwardingReader {
    let reader: any CardReader
    private var card: CardActivation?

    init(_ reader: any CardReader, card: CardActivation) {
        self.reader = reader
        self.card = card
    }

    func activate(until deadline: TapInstant, cancellation: TapCancellation) throws(ReaderError) -> CardPresence {
        guard let card else { return try reader.activate(until: deadline, cancellation: cancellation) }
        self.card = nil
        if cancellation.isCancelled { throw .cancelled }
        return .card(card)
    }

    func release() {
        card = nil
        reader.release()
    }
}
