import CardBytes
import ReaderCore

/// A reader whose card is active already: the first wait for a card finds that one without another activation.
/// Everything else is the reader's own.
final class ActivatedReader: CardReader {
    private let reader: any CardReader
    private var card: CardActivation?

    init(_ reader: any CardReader, card: CardActivation) {
        self.reader = reader
        self.card = card
    }

    var identity: ReaderIdentity { reader.identity }

    var broadcast: [UInt8] {
        get { reader.broadcast }
        set { reader.broadcast = newValue }
    }

    func activate(until deadline: TapInstant, cancellation: TapCancellation) throws(ReaderError) -> CardPresence {
        guard let card else { return try reader.activate(until: deadline, cancellation: cancellation) }
        self.card = nil
        if cancellation.isCancelled { throw .cancelled }
        return .card(card)
    }

    func transmit(_ command: CommandAPDU, until deadline: TapInstant) throws(ReaderError) -> ResponseAPDU {
        try reader.transmit(command, until: deadline)
    }

    func release() {
        card = nil
        reader.release()
    }

    func waitForRemoval(until deadline: TapInstant, cancellation: TapCancellation) throws(ReaderError) {
        try reader.waitForRemoval(until: deadline, cancellation: cancellation)
    }

    func show(_ feedback: ReaderFeedback) { reader.show(feedback) }

    func close() { reader.close() }
}
