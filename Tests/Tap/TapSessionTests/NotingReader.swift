// SPDX-License-Identifier: Apache-2.0
import CardBytes
import ReaderCore

/// A reader that writes down what is done with it, in order, between whatever the test writes down itself.
final class NotingReader: ForwardingReader {
    let reader: any CardReader
    var notes: [String] = []

    init(_ reader: any CardReader) { self.reader = reader }

    func activate(until deadline: TapInstant, cancellation: TapCancellation) throws(ReaderError) -> CardPresence {
        notes.append("activate")
        return try reader.activate(until: deadline, cancellation: cancellation)
    }

    func release() {
        notes.append("release")
        reader.release()
    }

    func show(_ feedback: ReaderFeedback) {
        notes.append("show \(feedback.rawValue)")
        reader.show(feedback)
    }
}
