import CardBytes
import ReaderCore

/// A reader that writes down what is done with it, in order, between whatever the test writes down itself.
final class NotingReader: CardReader {
    private let reader: any CardReader
    var notes: [String] = []

    init(_ reader: any CardReader) { self.reader = reader }

    var identity: ReaderIdentity { reader.identity }

    var broadcast: [UInt8] {
        get { reader.broadcast }
        set { reader.broadcast = newValue }
    }

    func activate(until deadline: TapInstant, cancellation: TapCancellation) throws(ReaderError) -> CardPresence {
        notes.append("activate")
        return try reader.activate(until: deadline, cancellation: cancellation)
    }

    func transmit(_ command: CommandAPDU, until deadline: TapInstant) throws(ReaderError) -> ResponseAPDU {
        try reader.transmit(command, until: deadline)
    }

    func release() {
        notes.append("release")
        reader.release()
    }

    func waitForRemoval(until deadline: TapInstant, cancellation: TapCancellation) throws(ReaderError) {
        try reader.waitForRemoval(until: deadline, cancellation: cancellation)
    }

    func show(_ feedback: ReaderFeedback) {
        notes.append("show \(feedback.rawValue)")
        reader.show(feedback)
    }

    func close() { reader.close() }
}
