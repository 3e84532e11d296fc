import CardBytes
import ReaderCore

/// A reader that tells when a card shows up and lets none in after the deadline; everything else is the reader's own.
final class ObservedReader: CardReader {
    private let reader: any CardReader
    private let clock: () -> TapInstant
    private let display: TapDisplay
    /// When the card that is read now answered for the first time.
    private(set) var cardDetected: TapInstant?

    init(_ reader: any CardReader, clock: @escaping () -> TapInstant, display: TapDisplay) {
        self.reader = reader
        self.clock = clock
        self.display = display
    }

    var identity: ReaderIdentity { reader.identity }

    func activate(until deadline: TapInstant, cancellation: TapCancellation) throws(ReaderError) -> CardPresence {
        display.cardIsAwaited()
        // A card that stays and asks for another presentation each time would otherwise keep the reader for ever.
        guard clock() < deadline else { throw .timedOut }
        let presence = try reader.activate(until: deadline, cancellation: cancellation)
        if case .card = presence { cardDetected = clock() }
        display.cardFound(presence)
        return presence
    }

    func transmit(_ command: CommandAPDU, until deadline: TapInstant) throws(ReaderError) -> ResponseAPDU {
        try reader.transmit(command, until: deadline)
    }

    func release() { reader.release() }

    func waitForRemoval(until deadline: TapInstant, cancellation: TapCancellation) throws(ReaderError) {
        try reader.waitForRemoval(until: deadline, cancellation: cancellation)
    }

    func show(_ feedback: ReaderFeedback) { reader.show(feedback) }

    func close() { reader.close() }
}
