// SPDX-License-Identifier: Apache-2.0
/// Reads BER-TLV without copying: every object is a range in the caller's one buffer.
///
/// Rules of EMV Book 3 Annex B and of cards in the field: tags of 1…4 bytes, lengths 00…7F, 81, 82 and 83 (also where a
/// shorter form would do), bytes 00 and FF skipped wherever a tag is expected. One kind of tag begins with FF all the same:
/// FF8101 … FF817F, the templates of kernels 2 and 8.
public enum TLV {
    /// Deepest nesting of templates that is followed.
    public static let maximumDepth = 12

    /// Visits every object in the order of the bytes, a template before its children.
    ///
    /// - Parameters:
    ///   - bytes: the buffer that all offsets refer to.
    ///   - range: the part to read; `nil` for all of it.
    ///   - visit: gets each object; return `false` to stop early.
    /// - Throws: `TLVError` at the first object that is no BER-TLV, or lies deeper than `maximumDepth`.
    @inlinable
    public static func walk(
        _ bytes: borrowing Span<UInt8>, in range: Range<Int>? = nil, _ visit: (TLVNode) -> Bool
    ) throws(TLVError) {
        var ends = InlineArray<12, Int>(repeating: 0)
        var depth = 0
        var offset = max(0, range?.lowerBound ?? 0)
        var end = min(bytes.count, range?.upperBound ?? bytes.count)
        while true {
            while offset >= end {
                if depth == 0 { return }
                depth &-= 1
                end = ends[depth]
            }
            let first = bytes[offset]
            // 00 or FF.
            if first &+ 1 < 2, isPadding(bytes, at: offset, end: end) {
                offset &+= 1
                continue
            }
            let node = try header(bytes, at: offset, end: end, depth: depth)
            if !visit(node) { return }
            if first & 0x20 != 0 {
                guard depth < maximumDepth - 1 else { throw .nestedTooDeep(offset: offset) }
                ends[depth] = end
                depth &+= 1
                offset = node.value.lowerBound
                end = node.value.upperBound
            } else {
                offset = node.value.upperBound
            }
        }
    }

    /// Every object at every depth as a flat list.
    ///
    /// - Throws: `TLVError` at the first object that is no BER-TLV, or lies deeper than `maximumDepth`.
    public static func nodes(_ bytes: [UInt8], in range: Range<Int>? = nil) throws(TLVError) -> [TLVNode] {
        var nodes: [TLVNode] = []
        nodes.reserveCapacity(24)
        try walk(bytes.span, in: range) { node in
            nodes.append(node)
            return true
        }
        return nodes
    }

    /// The objects directly in `range`, without looking into templates.
    ///
    /// - Throws: `TLVError` at the first object in `range` that is no BER-TLV.
    public static func children(_ bytes: [UInt8], in range: Range<Int>? = nil) throws(TLVError) -> [TLVNode] {
        var nodes: [TLVNode] = []
        // Templates of cards have a handful.
        nodes.reserveCapacity(8)
        try children(bytes.span, in: range ?? 0..<bytes.count) { node in nodes.append(node) }
        return nodes
    }

    /// Visits the objects directly in `range`, without looking into templates.
    ///
    /// - Throws: at the first object that is malformed, after those before it were visited; and what `visit` throws.
    @inlinable
    public static func children(
        _ bytes: borrowing Span<UInt8>, in range: Range<Int>, _ visit: (TLVNode) throws(TLVError) -> Void
    ) throws(TLVError) {
        var offset = max(0, range.lowerBound)
        let end = min(bytes.count, range.upperBound)
        while offset < end {
            if isPadding(bytes, at: offset, end: end) {
                offset &+= 1
                continue
            }
            let node = try header(bytes, at: offset, end: end, depth: 0)
            try visit(node)
            offset = node.end
        }
    }

    /// The first object with `tag` at any depth, or `nil`.
    ///
    /// - Throws: `TLVError` for an object before the one found that is no BER-TLV, or lies too deep.
    public static func first(_ tag: Tag, _ bytes: [UInt8], in range: Range<Int>? = nil) throws(TLVError) -> TLVNode? {
        var found: TLVNode?
        try walk(bytes.span, in: range) { node in
            if node.tag == tag { found = node }
            return found == nil
        }
        return found
    }

    /// Whether the byte stands for nothing. FF begins a tag where 81 and the last byte of a tag follow: after padding that
    /// would be 81 (Amount, Authorised in binary), which a terminal has and no card sends.
    @inlinable
    static func isPadding(_ bytes: borrowing Span<UInt8>, at offset: Int, end: Int) -> Bool {
        switch bytes[offset] {
        case 0x00: true
        case 0xFF: end - offset < 3 || bytes[offset + 1] != 0x81 || !(0x01...0x7F).contains(bytes[offset + 2])
        default: false
        }
    }

    @inlinable
    static func header(
        _ bytes: borrowing Span<UInt8>, at start: Int, end: Int, depth: Int
    ) throws(TLVError) -> TLVNode {
        var offset = start
        var raw = UInt32(bytes[offset])
        offset &+= 1
        if raw & 0x1F == 0x1F {
            var more = true
            while more {
                guard offset < end else { throw .truncatedTag(offset: start) }
                guard offset &- start < 4 else { throw .tagTooLong(offset: start) }
                let next = bytes[offset]
                raw = raw << 8 | UInt32(next)
                more = next & 0x80 != 0
                offset &+= 1
            }
        }
        guard offset < end else { throw .truncatedLength(offset: offset) }
        let firstLength = bytes[offset]
        offset &+= 1
        var length = Int(firstLength)
        if firstLength > 0x7F {
            let octets = length & 0x7F
            guard (1...3).contains(octets) else {
                throw .unsupportedLength(offset: offset &- 1, firstByte: firstLength)
            }
            guard end &- offset >= octets else { throw .truncatedLength(offset: offset &- 1) }
            length = 0
            for _ in 0..<octets {
                length = length << 8 | Int(bytes[offset])
                offset &+= 1
            }
        }
        let after = offset &+ length
        // The first is always so. Said here, the range below needs no check of its own.
        guard after >= offset, after <= end else {
            throw .truncatedValue(tag: Tag(raw), offset: start, needed: length, have: end &- offset)
        }
        return TLVNode(tag: Tag(raw), depth: depth, start: start, value: offset..<after)
    }
}
