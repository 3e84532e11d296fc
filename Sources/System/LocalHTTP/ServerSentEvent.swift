// SPDX-License-Identifier: Apache-2.0
/// One event of a `text/event-stream` (WHATWG HTML, "Server-sent events").
public struct ServerSentEvent: Equatable, Sendable {
    /// The cursor a client hands back as `Last-Event-ID`; `nil` leaves the client's cursor as it is.
    public var id: String?
    /// The event's name; `nil` means `message`.
    public var name: String?
    /// Any text; line breaks in it are kept.
    public var data: String

    public init(id: String? = nil, name: String? = nil, data: String) {
        self.id = id
        self.name = name
        self.data = data
    }

    /// As sent. Line breaks in `id` and `name` become spaces: they cannot be expressed.
    var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(data.utf8.count + 64)
        if let id { Self.append("id", Array(id.utf8.map { Self.isLineBreak($0) || $0 == 0 ? 0x20 : $0 }), to: &bytes) }
        if let name { Self.append("event", Array(name.utf8.map { Self.isLineBreak($0) ? 0x20 : $0 }), to: &bytes) }
        for line in Self.lines(of: Array(data.utf8)) { Self.append("data", line, to: &bytes) }
        bytes.append(0x0A)
        return bytes
    }

    private static func append(_ field: String, _ value: [UInt8], to bytes: inout [UInt8]) {
        bytes += field.utf8
        bytes += ": ".utf8
        bytes += value
        bytes.append(0x0A)
    }

    /// CRLF, CR and LF each end a line.
    private static func lines(of bytes: [UInt8]) -> [[UInt8]] {
        var lines: [[UInt8]] = [[]]
        var previous: UInt8 = 0
        for byte in bytes {
            if byte == 0x0A, previous == 0x0D {
                previous = byte
                continue
            }
            if isLineBreak(byte) { lines.append([]) } else { lines[lines.count - 1].append(byte) }
            previous = byte
        }
        return lines
    }

    private static func isLineBreak(_ byte: UInt8) -> Bool { byte == 0x0A || byte == 0x0D }
}
