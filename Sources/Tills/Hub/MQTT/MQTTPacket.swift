// SPDX-License-Identifier: Apache-2.0
/// Control packets of MQTT 3.1.1 (OASIS, 29 October 2014) that a publisher sends, and those that come back. Numbers are big-endian.
package enum MQTTPacket {
    /// What the broker tells when the line is lost.
    package struct Will: Equatable, Sendable {
        package var topic: String
        package var payload: String

        package init(topic: String, payload: String) { (self.topic, self.payload) = (topic, payload) }
    }

    /// CONNECT (§3.1) with a session that is kept; the will is retained, at QoS 1.
    ///
    /// - Parameter keepAlive: seconds.
    package static func connect(
        client: String, will: Will, user: String?, password: String?, keepAlive: UInt16
    ) -> [UInt8] {
        var flags: UInt8 = 0x04 | 0x08 | 0x20
        if user != nil { flags |= 0x80 }
        if password != nil { flags |= 0x40 }
        var body = text("MQTT") + [0x04, flags] + number(keepAlive) + text(client)
        body += text(will.topic) + text(will.payload)
        if let user { body += text(user) }
        if let password { body += text(password) }
        return packet(0x10, body)
    }

    /// PUBLISH at QoS 1 (§3.3).
    ///
    /// - Parameter isRepeated: it was sent before, perhaps (DUP, §3.3.1.1).
    package static func publish(
        topic: String, payload: String, id: UInt16, isRetained: Bool, isRepeated: Bool
    ) -> [UInt8] {
        packet(
            0x32 | (isRetained ? 0x01 : 0) | (isRepeated ? 0x08 : 0), text(topic) + number(id) + Array(payload.utf8))
    }

    package static let ping: [UInt8] = [0xC0, 0x00]
    /// The will is not sent after it (§3.14).
    package static let disconnect: [UInt8] = [0xE0, 0x00]

    /// A length in its own form (§2.2.3): up to 268,435,455, seven bits a byte, the lowest first.
    package static func length(_ count: Int) -> [UInt8] {
        var (rest, bytes) = (min(count, 268_435_455), [UInt8]())
        repeat {
            bytes.append(UInt8(rest & 0x7F) | (rest > 0x7F ? 0x80 : 0))
            rest >>= 7
        } while rest > 0
        return bytes
    }

    /// Whether a text may be a topic name: no wildcards, no control characters, not longer than its length can say (§4.7).
    package static func isTopic(_ text: String) -> Bool {
        (1...65_535).contains(text.utf8.count)
            && !text.unicodeScalars.contains {
                $0 == "+" || $0 == "#" || $0.value < 0x20 || (0x7F...0x9F).contains($0.value)
            }
    }

    private static func packet(_ head: UInt8, _ body: [UInt8]) -> [UInt8] { [head] + length(body.count) + body }

    private static func number(_ value: UInt16) -> [UInt8] {
        [UInt8(truncatingIfNeeded: value >> 8), UInt8(truncatingIfNeeded: value)]
    }

    private static func text(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8.prefix(65_535))
        return number(UInt16(truncatingIfNeeded: bytes.count)) + bytes
    }
}

extension MQTTPacket {
    package enum Incoming: Equatable, Sendable {
        /// CONNACK (§3.2): 0 for yes.
        case connected(code: UInt8)
        /// PUBACK (§3.4)
        case acknowledged(UInt16)
        case pong
    }

    package enum Fault: Error, Equatable, Sendable {
        /// What no broker sends to a client that only publishes at QoS 1.
        case unexpected(UInt8)
        case malformed
    }

    /// Takes the first packet off the bytes that have come; `nil` where it is not whole yet.
    package static func next(_ bytes: inout [UInt8]) throws(Fault) -> Incoming? {
        guard let head = bytes.first else { return nil }
        guard [0x20, 0x40, 0xD0].contains(head) else { throw .unexpected(head) }
        guard bytes.count >= 2 else { return nil }
        // Each of them is that short.
        let count = Int(bytes[1])
        guard count == (head == 0xD0 ? 0 : 2) else { throw .malformed }
        guard bytes.count >= 2 + count else { return nil }
        let body = Array(bytes[2..<(2 + count)])
        bytes.removeFirst(2 + count)
        switch (head, body.first, body.last) {
        case (0x20, _, .some(let code)): return .connected(code: code)
        case (0x40, .some(let high), .some(let low)): return .acknowledged(UInt16(high) << 8 | UInt16(low))
        default: return .pong
        }
    }
}
