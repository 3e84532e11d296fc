// SPDX-License-Identifier: Apache-2.0

/// An object in a container: a tag of one to three bytes, a length with the high byte first, a value.
public struct ZVTObject: Equatable, Sendable {
    static let deepest = 8

    public let tag: UInt32
    public let value: [UInt8]

    public init(_ tag: UInt32, _ value: [UInt8]) {
        self.tag = tag
        self.value = value
    }

    public init(_ tag: UInt32, _ objects: [ZVTObject]) {
        self.init(tag, objects.flatMap(\.bytes))
    }

    /// Bit 20 of the tag's first byte: the value is made of objects.
    public var isConstructed: Bool { tagBytes.first.map { $0 & 0x20 != 0 } ?? false }

    public var tagBytes: [UInt8] {
        let bytes = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: tag >> UInt32($0)) }
        return Array(bytes.dropFirst(min(3, bytes.prefix { $0 == 0 }.count)))
    }

    public var bytes: [UInt8] { tagBytes + ZVTObject.length(value.count) + value }

    static func length(_ count: Int) -> [UInt8] {
        let low = UInt8(truncatingIfNeeded: count)
        if count < 0x80 { return [low] }
        return count < 0x100 ? [0x81, low] : [0x82, UInt8(truncatingIfNeeded: count >> 8), low]
    }

    /// 00 to 7F, 81 and one byte, 82 and two bytes.
    static func popLength(_ rest: inout ArraySlice<UInt8>) throws(ZVTFailure) -> Int {
        guard let first = rest.popFirst() else { throw .truncated }
        switch first {
        case 0x00...0x7F: return Int(first)
        case 0x81:
            guard let low = rest.popFirst() else { throw .truncated }
            return Int(low)
        case 0x82:
            guard let high = rest.popFirst(), let low = rest.popFirst() else { throw .truncated }
            return Int(high) << 8 | Int(low)
        default: throw .notALength
        }
    }

    public static func length(_ bytes: [UInt8]) throws(ZVTFailure) -> Int {
        var rest = bytes[...]
        let length = try popLength(&rest)
        guard rest.isEmpty else { throw .notALength }
        return length
    }

    public static func tag(_ bytes: [UInt8]) throws(ZVTFailure) -> UInt32 {
        var rest = bytes[...]
        let tag = try popTag(&rest)
        guard rest.isEmpty else { throw .notAnObject }
        return tag
    }

    private static func popTag(_ rest: inout ArraySlice<UInt8>) throws(ZVTFailure) -> UInt32 {
        guard let first = rest.popFirst() else { throw .truncated }
        guard first != 0 else { throw .notAnObject }
        var tag = UInt32(first)
        guard first & 0x1F == 0x1F else { return tag }
        for _ in 0..<3 {
            guard let next = rest.popFirst() else { throw .truncated }
            tag = tag << 8 | UInt32(next)
            if next & 0x80 == 0 { return tag }
        }
        throw .notAnObject
    }

    public static func parse(_ bytes: [UInt8]) throws(ZVTFailure) -> [ZVTObject] {
        try parse(bytes, depth: 0)
    }

    /// What a constructed object is made of.
    public func objects() throws(ZVTFailure) -> [ZVTObject] { try ZVTObject.parse(value, depth: 0) }

    private static func parse(_ bytes: [UInt8], depth: Int) throws(ZVTFailure) -> [ZVTObject] {
        guard depth < deepest else { throw .notAnObject }
        var objects: [ZVTObject] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let tag = try popTag(&rest)
            let length = try popLength(&rest)
            guard rest.count >= length else { throw .truncated }
            let object = ZVTObject(tag, Array(rest.prefix(length)))
            // Seen to be whole now, so that nobody meets a broken part later.
            if object.isConstructed { _ = try parse(object.value, depth: depth + 1) }
            objects.append(object)
            rest = rest.dropFirst(length)
        }
        return objects
    }
}
