// SPDX-License-Identifier: Apache-2.0
/// A request target in origin form (RFC 9112 §3.2.1), taken apart.
struct RequestTarget: Equatable, Sendable {
    var path: [String]
    var query: [HTTPRequest.QueryItem]

    /// - Throws: `.malformed` if the target is no path; `.invalidTarget` if it is badly percent-encoded, not UTF-8, or has
    ///   an encoded control character in it.
    init(_ target: String) throws(HTTPRefusal) {
        guard target.utf8.first == UInt8(ascii: "/"), target.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw .malformed
        }
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard let path = Self.segments(of: parts[0].dropFirst()),
            let query = Self.items(of: parts.count == 2 ? parts[1] : "")
        else { throw .invalidTarget }
        (self.path, self.query) = (path, query)
    }

    private static func segments(of path: Substring) -> [String]? {
        guard !path.isEmpty else { return [] }
        var segments: [String] = []
        for segment in path.split(separator: "/", omittingEmptySubsequences: false) {
            guard let decoded = decode(segment, plusIsSpace: false) else { return nil }
            segments.append(decoded)
        }
        return segments
    }

    private static func items(of query: Substring) -> [HTTPRequest.QueryItem]? {
        var items: [HTTPRequest.QueryItem] = []
        for pair in query.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = decode(parts[0], plusIsSpace: true),
                let value = decode(parts.count == 2 ? parts[1] : "", plusIsSpace: true)
            else { return nil }
            items.append(HTTPRequest.QueryItem(name: name, value: value))
        }
        return items
    }

    /// `+` is a space in queries, because that is what every client library's form encoding sends.
    private static func decode(_ text: Substring, plusIsSpace: Bool) -> String? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                    return nil
                }
                bytes.append(high << 4 | low)
            case UInt8(ascii: "+") where plusIsSpace: bytes.append(0x20)
            default: bytes.append(byte)
            }
        }
        guard !bytes.contains(where: { $0 < 0x20 || $0 == 0x7F }) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x37
        case 0x61...0x66: byte - 0x57
        default: nil
        }
    }
}
