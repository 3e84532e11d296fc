// SPDX-License-Identifier: Apache-2.0
/// A strict JSON reader (RFC 8259) that copies nothing: it notes where each value stands, so that a secret can stay in
/// the memory it is in. For JWKs, JWE headers and envelope plaintexts; everything else on the wire goes through `Codable`.
///
/// Stricter than the RFC where two readers could differ: no duplicate names, no escapes in names.
package struct JSONIndex: Sendable {
    package enum Kind: Equatable, Sendable {
        case object, array, string, number, literal
    }

    package struct Node: Sendable {
        package let kind: Kind
        /// Bytes of the member's name without quotes; empty in an array and for the root.
        package let name: Range<Int>
        /// Bytes of the value; for a string without its quotes.
        package internal(set) var value: Range<Int>
        /// Index of the object or array around it; -1 for the root.
        package let parent: Int
    }

    static let maximumDepth = 8
    static let maximumMembers = 64

    /// The root first, every other node after its parent.
    package let nodes: [Node]

    package init(_ bytes: borrowing Span<UInt8>) throws(JSONIndexError) {
        var scanner = JSONScanner()
        try scanner.document(bytes)
        nodes = scanner.nodes
    }

    /// The node of member `name` in the object at `parent`.
    package func member(_ name: String, of parent: Int = 0, in bytes: borrowing Span<UInt8>) -> Node? {
        index(of: name, in: parent, bytes).map { nodes[$0] }
    }

    /// Index of member `name` in the object at `parent`.
    package func index(of name: String, in parent: Int, _ bytes: borrowing Span<UInt8>) -> Int? {
        let wanted = Array(name.utf8)
        for (index, node) in nodes.enumerated() where node.parent == parent {
            if JSONIndex.equal(bytes, node.name, wanted) { return index }
        }
        return nil
    }

    /// Indices of the values directly in the object or array at `parent`, in order.
    package func children(of parent: Int) -> [Int] { nodes.indices.filter { nodes[$0].parent == parent } }

    /// The text of a string value; `nil` for another kind, invalid UTF-8 or a lone surrogate.
    package func string(_ node: Node, in bytes: borrowing Span<UInt8>) -> String? {
        guard node.kind == .string else { return nil }
        return JSONIndex.unescape(bytes, node.value).flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// A non-negative whole number; `nil` for anything else.
    package func integer(_ node: Node, in bytes: borrowing Span<UInt8>) -> UInt64? {
        guard node.kind == .number else { return nil }
        var value: UInt64 = 0
        for offset in node.value {
            guard (0x30...0x39).contains(bytes[offset]) else { return nil }
            let (tens, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, carry) = tens.addingReportingOverflow(UInt64(bytes[offset] - 0x30))
            guard !overflow, !carry else { return nil }
            value = sum
        }
        return value
    }

    static func equal(_ bytes: borrowing Span<UInt8>, _ range: Range<Int>, _ text: [UInt8]) -> Bool {
        guard range.count == text.count else { return false }
        for (index, unit) in text.enumerated() where bytes[range.lowerBound + index] != unit { return false }
        return true
    }

    private static func unescape(_ bytes: borrowing Span<UInt8>, _ range: Range<Int>) -> [UInt8]? {
        var text: [UInt8] = []
        var offset = range.lowerBound
        while offset < range.upperBound {
            guard bytes[offset] == 0x5C else {
                text.append(bytes[offset])
                offset += 1
                continue
            }
            // The scanner has seen that a whole escape follows.
            if bytes[offset + 1] != 0x75 {
                text.append(JSONScanner.escapes[bytes[offset + 1]] ?? bytes[offset + 1])
                offset += 2
                continue
            }
            var code = JSONScanner.hexadecimal(bytes, offset + 2)
            offset += 6
            if (0xD800..<0xDC00).contains(code) {
                guard offset + 6 <= range.upperBound, bytes[offset] == 0x5C, bytes[offset + 1] == 0x75 else {
                    return nil
                }
                let low = JSONScanner.hexadecimal(bytes, offset + 2)
                guard (0xDC00..<0xE000).contains(low) else { return nil }
                code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
                offset += 6
            }
            guard let scalar = Unicode.Scalar(code) else { return nil }
            text += Array(String(Character(scalar)).utf8)
        }
        return text
    }
}
