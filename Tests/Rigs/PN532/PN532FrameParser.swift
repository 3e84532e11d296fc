// SPDX-License-Identifier: Apache-2.0
/// Finds the host's frames in what comes over the line, however it is cut up.
public struct PN532FrameParser {
    public enum Event: Equatable, Sendable {
        /// Command code and data, without D4.
        case command([UInt8])
        /// An ACK from the host: stop what you are doing.
        case abort
        /// A frame with a wrong checksum or direction.
        case damaged
    }

    private var received: [UInt8] = []

    public init() {}

    public mutating func feed(_ bytes: some Sequence<UInt8>) { received += bytes }

    /// The next event; `nil` while there is none.
    public mutating func next() -> Event? {
        guard let start = startCode() else { return nil }
        received.removeFirst(start)
        // received: 00 FF LEN LCS …
        guard received.count >= 4 else { return nil }
        if received[2] == 0x00, received[3] == 0xFF { return take(4, .abort) }
        if received[2] == 0xFF, received[3] == 0xFF {
            guard received.count >= 7 else { return nil }
            let sum = received[4] &+ received[5] &+ received[6]
            guard sum == 0 else { return take(7, .damaged) }
            return body(from: 7, length: Int(received[4]) << 8 | Int(received[5]))
        }
        guard received[2] &+ received[3] == 0 else { return take(4, .damaged) }
        return body(from: 4, length: Int(received[2]))
    }

    private func startCode() -> Int? {
        received.indices.dropLast().first { received[$0] == 0x00 && received[$0 + 1] == 0xFF }
    }

    private mutating func body(from start: Int, length: Int) -> Event? {
        guard received.count > start + length else { return nil }
        let body = received[start..<start + length]
        let checksum = received[start + length]
        let isIntact = body.reduce(checksum, &+) == 0 && body.first == 0xD4 && length >= 2
        return take(start + length + 1, isIntact ? .command(Array(body.dropFirst())) : .damaged)
    }

    private mutating func take(_ count: Int, _ event: Event) -> Event {
        received.removeFirst(count)
        return event
    }
}
