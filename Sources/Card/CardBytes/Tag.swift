// SPDX-License-Identifier: Apache-2.0
/// A BER-TLV tag: its bytes as transmitted, big-endian in one number (`0x82`, `0x9F02`, `0xDF8129`).
///
/// One to three bytes; kernels 2 and 8 use three (EMV Book 3 Annex B1).
public struct Tag: RawRepresentable, Hashable, Sendable, ExpressibleByIntegerLiteral {
    public let rawValue: UInt32

    public init(rawValue: UInt32) { self.rawValue = rawValue }
    public init(_ rawValue: UInt32) { self.rawValue = rawValue }
    public init(integerLiteral value: UInt32) { rawValue = value }

    /// Number of bytes the tag takes on the wire: 1…4.
    public var byteCount: Int {
        if rawValue <= 0xFF { return 1 }
        if rawValue <= 0xFFFF { return 2 }
        return rawValue <= 0xFF_FFFF ? 3 : 4
    }

    /// The bytes as transmitted.
    public var bytes: [UInt8] {
        (0..<byteCount).reversed().map { UInt8(truncatingIfNeeded: rawValue >> (UInt32($0) * 8)) }
    }

    /// Whether `TLV` reads these bytes as one tag: as many as their continuation bits say, and no padding before them.
    public var isWellFormed: Bool {
        let first = rawValue >> (UInt32(byteCount - 1) * 8)
        if first == 0xFF { return (0xFF8101...0xFF817F).contains(rawValue) }
        guard first != 0x00 else { return false }
        guard byteCount > 1 else { return first & 0x1F != 0x1F }
        guard first & 0x1F == 0x1F, rawValue & 0x80 == 0 else { return false }
        return (1..<byteCount - 1).allSatisfy { rawValue >> (UInt32($0) * 8) & 0x80 != 0 }
    }

    /// Whether the value is itself made of data objects: bit 6 of the *first* byte, also of a three-byte tag.
    public var isConstructed: Bool {
        rawValue >> (UInt32(byteCount - 1) * 8) & 0x20 != 0
    }
}

extension Tag: CustomStringConvertible {
    /// The tag in hexadecimal, as the field writes it: `9F02`.
    public var description: String { Hex.string(bytes) }
}
