// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// Walks a data object list in place (EMV Book 3 §5.4); `DOL` makes entries of it, which the hot path does without.
struct DOLCursor {
    private var offset: Int
    private let end: Int
    /// The list ended inside an entry.
    private(set) var isMalformed = false

    init(_ range: Range<Int>) {
        offset = range.lowerBound
        end = range.upperBound
    }

    /// The next tag and the length wanted, or `nil` at the end or where the list is malformed.
    mutating func next(_ bytes: [UInt8]) -> (tag: Tag, length: Int)? {
        guard offset < end, end <= bytes.count else { return nil }
        guard let tag = DOLCursor.tag(bytes, &offset, end) else { return malformed() }
        guard offset < end else { return malformed() }
        let length = Int(bytes[offset])
        offset += 1
        return (tag, length)
    }

    /// The tag at `offset`, which moves behind it; `nil` where it is cut off or longer than four bytes (EMV Book 3
    /// Annex B1).
    static func tag(_ bytes: [UInt8], _ offset: inout Int, _ end: Int) -> Tag? {
        let start = offset
        var raw = UInt32(bytes[offset])
        offset += 1
        guard raw & 0x1F == 0x1F else { return Tag(raw) }
        var more = true
        while more {
            guard offset < end, offset - start < 4 else { return nil }
            raw = raw << 8 | UInt32(bytes[offset])
            more = bytes[offset] & 0x80 != 0
            offset += 1
        }
        return Tag(raw)
    }

    private mutating func malformed() -> (tag: Tag, length: Int)? {
        isMalformed = true
        offset = end
        return nil
    }

    /// Whether a well-formed list asks for `tag`.
    static func contains(_ tag: Tag, _ bytes: [UInt8], _ range: Range<Int>) -> Bool {
        var cursor = DOLCursor(range)
        var found = false
        while let entry = cursor.next(bytes) {
            if entry.tag == tag { found = true }
        }
        return found && !cursor.isMalformed
    }
}
