// SPDX-License-Identifier: Apache-2.0
import CardBytes
import ReaderCore
import Testing

@Suite struct ForwardingReaderTests {
    /// Writes down every call.
    private final class Called: CardReader {
        private(set) var calls: [String] = []
        var identity: ReaderIdentity {
            calls.append("identity")
            return ReaderIdentity(name: "called", model: "called", driver: .virtual)
        }
        var broadcast: [UInt8] = [] {
            didSet { calls.append("broadcast \(broadcast)") }
        }

        func activate(until deadline: TapInstant, cancellation: TapCancellation) throws(ReaderError) -> CardPresence {
            calls.append("activate")
            throw .timedOut
        }

        func transmit(_ command: CommandAPDU, until deadline: TapInstant) throws(ReaderError) -> ResponseAPDU {
            calls.append("transmit")
            throw .cardLost
        }

        func release() { calls.append("release") }

        func waitForRemoval(until deadline: TapInstant, cancellation: TapCancellation) throws(ReaderError) {
            calls.append("waitForRemoval")
        }

        func check() throws(ReaderError) {
            calls.append("check")
            throw .detached
        }

        func show(_ feedback: ReaderFeedback) { calls.append("show \(feedback)") }

        func close() { calls.append("close") }
    }

    private final class Forwarding: ForwardingReader {
        let reader: any CardReader

        init(_ reader: any CardReader) { self.reader = reader }
    }

    private func callAll(_ reader: any CardReader) throws {
        let now = TapInstant(nanoseconds: 0)
        #expect(reader.identity.name == "called")
        reader.broadcast = [0x6A]
        #expect(reader.broadcast == [0x6A])
        #expect(throws: ReaderError.timedOut) { try reader.activate(until: now, cancellation: TapCancellation()) }
        let select = try CommandAPDU([0x00, 0xA4, 0x04, 0x00])
        #expect(throws: ReaderError.cardLost) { try reader.transmit(select, until: now) }
        reader.release()
        try reader.waitForRemoval(until: now, cancellation: TapCancellation())
        #expect(throws: ReaderError.detached) { try reader.check() }
        reader.show(.read)
        reader.close()
    }

    private let all = [
        "identity", "broadcast [106]", "activate", "transmit", "release", "waitForRemoval", "check", "show read",
        "close",
    ]

    @Test func `a reader that does nothing itself hands on every call and every error`() throws {
        let called = Called()
        try callAll(Forwarding(called))
        #expect(called.calls == all)
    }

    @Test func `a recording changes nothing of what the reader is asked`() throws {
        let called = Called()
        try callAll(RecordingReader(called))
        #expect(called.calls == all)
    }
}
