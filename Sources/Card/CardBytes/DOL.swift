// SPDX-License-Identifier: Apache-2.0
/// A data object list: which values, in which lengths, a card wants (EMV Book 3 §5.4).
public struct DOL: Equatable, Sendable {
    public struct Entry: Equatable, Sendable {
        public let tag: Tag
        /// 0…255 bytes.
        public let length: Int

        public init(tag: Tag, length: Int) {
            self.tag = tag
            self.length = length
        }
    }

    public let entries: [Entry]

    public init(entries: [Entry]) { self.entries = entries }

    /// - Throws: `DOLError` with the offset where a tag or its length byte is cut off.
    public init(_ bytes: [UInt8]) throws(DOLError) {
        var entries: [Entry] = []
        var offset = 0
        while offset < bytes.count {
            let start = offset
            var raw = UInt32(bytes[offset])
            offset += 1
            if raw & 0x1F == 0x1F {
                var more = true
                while more {
                    guard offset < bytes.count else { throw .truncatedTag(offset: start) }
                    guard offset - start < 4 else { throw .tagTooLong(offset: start) }
                    raw = raw << 8 | UInt32(bytes[offset])
                    more = bytes[offset] & 0x80 != 0
                    offset += 1
                }
            }
            guard offset < bytes.count else { throw .missingLength(tag: Tag(raw), offset: offset) }
            entries.append(Entry(tag: Tag(raw), length: Int(bytes[offset])))
            offset += 1
        }
        self.entries = entries
    }

    /// Sum of the lengths: the number of bytes that `fill` returns.
    public var totalLength: Int { entries.reduce(0) { $0 + $1.length } }

    public func contains(_ tag: Tag) -> Bool { entries.contains { $0.tag == tag } }

    /// The concatenated values, each fitted to its length.
    ///
    /// - Parameter value: the value and format of a tag; `nil` or an empty value for one that is unknown, which is
    ///   filled with zero bytes, as are constructed tags (EMV Book 3 §5.4).
    public func fill(_ value: (Tag) -> (bytes: [UInt8], format: ValueFormat)?) -> [UInt8] {
        var filled: [UInt8] = []
        filled.reserveCapacity(totalLength)
        for entry in entries {
            if !entry.tag.isConstructed, let known = value(entry.tag), !known.bytes.isEmpty {
                filled += known.format.fit(known.bytes, to: entry.length)
            } else {
                filled += [UInt8](repeating: 0, count: entry.length)
            }
        }
        return filled
    }
}

/// Why bytes are no data object list.
public enum DOLError: Error, Equatable, Sendable {
    case truncatedTag(offset: Int)
    case tagTooLong(offset: Int)
    case missingLength(tag: Tag, offset: Int)
}

extension DOLError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .truncatedTag(let offset): "tag cut off at offset \(offset)"
        case .tagTooLong(let offset): "tag of more than four bytes at offset \(offset)"
        case .missingLength(let tag, let offset): "no length after \(tag) at offset \(offset)"
        }
    }
}
