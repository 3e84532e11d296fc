// SPDX-License-Identifier: Apache-2.0
/// The grammar behind `JSONIndex`.
struct JSONScanner {
    private(set) var nodes: [JSONIndex.Node] = []
    private var offset = 0

    static let escapes: [UInt8: UInt8] = [
        0x22: 0x22, 0x5C: 0x5C, 0x2F: 0x2F, 0x62: 0x08, 0x66: 0x0C, 0x6E: 0x0A, 0x72: 0x0D, 0x74: 0x09,
    ]

    mutating func document(_ bytes: borrowing Span<UInt8>) throws(JSONIndexError) {
        try value(bytes, name: 0..<0, parent: -1, depth: 0)
        skipBlanks(bytes)
        guard offset == bytes.count else { throw .unexpected(offset: offset) }
    }

    private mutating func value(
        _ bytes: borrowing Span<UInt8>, name: Range<Int>, parent: Int, depth: Int
    ) throws(JSONIndexError) {
        skipBlanks(bytes)
        let start = offset
        guard depth <= JSONIndex.maximumDepth else { throw .nestedTooDeep(offset: start) }
        let kind: JSONIndex.Kind
        let range: Range<Int>
        switch try peek(bytes) {
        case 0x7B, 0x5B:
            return try container(bytes, name: name, parent: parent, depth: depth)
        case 0x22:
            kind = .string
            range = try string(bytes, allowsEscapes: true)
        case 0x2D, 0x30...0x39:
            kind = .number
            try number(bytes)
            range = start..<offset
        default:
            kind = .literal
            try literal(bytes)
            range = start..<offset
        }
        nodes.append(JSONIndex.Node(kind: kind, name: name, value: range, parent: parent))
    }

    private mutating func container(
        _ bytes: borrowing Span<UInt8>, name: Range<Int>, parent: Int, depth: Int
    ) throws(JSONIndexError) {
        let start = offset
        let isObject = bytes[start] == 0x7B
        let close: UInt8 = isObject ? 0x7D : 0x5D
        let own = nodes.count
        nodes.append(
            JSONIndex.Node(kind: isObject ? .object : .array, name: name, value: start..<start, parent: parent))
        offset += 1
        skipBlanks(bytes)
        var names: [Range<Int>] = []
        if try peek(bytes) == close {
            offset += 1
        } else {
            repeat {
                skipBlanks(bytes)
                let member = isObject ? try memberName(bytes, seen: &names) : 0..<0
                try value(bytes, name: member, parent: own, depth: depth + 1)
                skipBlanks(bytes)
            } while try follows(bytes, close: close)
        }
        nodes[own].value = start..<offset
    }

    /// After a value: `true` behind a comma, `false` behind the closing bracket.
    private mutating func follows(_ bytes: borrowing Span<UInt8>, close: UInt8) throws(JSONIndexError) -> Bool {
        let unit = try peek(bytes)
        guard unit == close || unit == 0x2C else { throw .unexpected(offset: offset) }
        offset += 1
        return unit == 0x2C
    }

    private mutating func memberName(
        _ bytes: borrowing Span<UInt8>, seen: inout [Range<Int>]
    ) throws(JSONIndexError) -> Range<Int> {
        let start = offset
        guard try peek(bytes) == 0x22 else { throw .unexpected(offset: start) }
        let name = try string(bytes, allowsEscapes: false)
        for other in seen where other.count == name.count {
            let isSame = zip(other, name).allSatisfy { bytes[$0] == bytes[$1] }
            if isSame { throw .duplicateMember(offset: start) }
        }
        guard seen.count < JSONIndex.maximumMembers else { throw .tooManyMembers(offset: start) }
        seen.append(name)
        skipBlanks(bytes)
        guard try peek(bytes) == 0x3A else { throw .unexpected(offset: offset) }
        offset += 1
        return name
    }

    private mutating func string(
        _ bytes: borrowing Span<UInt8>, allowsEscapes: Bool
    ) throws(JSONIndexError) -> Range<Int> {
        offset += 1
        let start = offset
        while true {
            let unit = try peek(bytes)
            switch unit {
            case 0x22:
                offset += 1
                return start..<(offset - 1)
            case 0x5C where allowsEscapes: try escape(bytes)
            case 0x5C, 0x00..<0x20: throw .unexpected(offset: offset)
            default: offset += 1
            }
        }
    }

    private mutating func escape(_ bytes: borrowing Span<UInt8>) throws(JSONIndexError) {
        offset += 1
        let unit = try peek(bytes)
        if unit == 0x75 {
            for _ in 0..<4 {
                offset += 1
                guard JSONScanner.digit(try peek(bytes)) != nil else { throw .unexpected(offset: offset) }
            }
        } else if JSONScanner.escapes[unit] == nil {
            throw .unexpected(offset: offset)
        }
        offset += 1
    }

    private mutating func number(_ bytes: borrowing Span<UInt8>) throws(JSONIndexError) {
        if try peek(bytes) == 0x2D { offset += 1 }
        let first = offset
        try digits(bytes)
        guard bytes[first] != 0x30 || offset == first + 1 else { throw .unexpected(offset: first) }
        if offset < bytes.count, bytes[offset] == 0x2E {
            offset += 1
            try digits(bytes)
        }
        if offset < bytes.count, bytes[offset] | 0x20 == 0x65 {
            offset += 1
            let sign = try peek(bytes)
            if sign == 0x2B || sign == 0x2D { offset += 1 }
            try digits(bytes)
        }
    }

    private mutating func digits(_ bytes: borrowing Span<UInt8>) throws(JSONIndexError) {
        guard (0x30...0x39).contains(try peek(bytes)) else { throw .unexpected(offset: offset) }
        while offset < bytes.count, (0x30...0x39).contains(bytes[offset]) { offset += 1 }
    }

    private mutating func literal(_ bytes: borrowing Span<UInt8>) throws(JSONIndexError) {
        for word in ["true", "false", "null"] {
            let text = Array(word.utf8)
            guard bytes.count - offset >= text.count else { continue }
            if JSONIndex.equal(bytes, offset..<(offset + text.count), text) {
                offset += text.count
                return
            }
        }
        throw .unexpected(offset: offset)
    }

    private mutating func skipBlanks(_ bytes: borrowing Span<UInt8>) {
        while offset < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[offset]) { offset += 1 }
    }

    private func peek(_ bytes: borrowing Span<UInt8>) throws(JSONIndexError) -> UInt8 {
        guard offset < bytes.count else { throw .truncated }
        return bytes[offset]
    }

    /// Four hexadecimal digits that were checked before.
    static func hexadecimal(_ bytes: borrowing Span<UInt8>, _ start: Int) -> UInt32 {
        (start..<(start + 4)).reduce(0) { $0 << 4 | (digit(bytes[$1]) ?? 0) }
    }

    private static func digit(_ unit: UInt8) -> UInt32? {
        switch unit {
        case 0x30...0x39: UInt32(unit - 0x30)
        case 0x41...0x46: UInt32(unit - 0x41) + 10
        case 0x61...0x66: UInt32(unit - 0x61) + 10
        default: nil
        }
    }
}
