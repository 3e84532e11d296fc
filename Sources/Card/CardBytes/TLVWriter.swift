// SPDX-License-Identifier: Apache-2.0
/// Builds BER-TLV with minimal lengths, and only what `TLV` finds again.
public struct TLVWriter: Sendable {
    public private(set) var bytes: [UInt8] = []

    public init() {}

    /// Appends one object, unless no reader could find it: its tag is none, or its value has more than 16,777,215 bytes
    /// (three length octets).
    ///
    /// - Returns: whether it was appended.
    @discardableResult
    public mutating func append(_ tag: Tag, _ value: [UInt8]) -> Bool {
        guard tag.isWellFormed, value.count <= 0xFF_FFFF else { return false }
        for position in (0..<tag.byteCount).reversed() {
            bytes.append(UInt8(truncatingIfNeeded: tag.rawValue >> UInt32(position * 8)))
        }
        if value.count < 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: value.count))
        } else {
            bytes += TLVWriter.length(value.count)
        }
        bytes += value
        return true
    }

    /// Appends a template whose value `body` writes.
    ///
    /// - Returns: whether it was appended.
    @discardableResult
    public mutating func append(_ template: Tag, _ body: (inout TLVWriter) -> Void) -> Bool {
        var inner = TLVWriter()
        body(&inner)
        return append(template, inner.bytes)
    }

    /// Appends objects that are encoded already.
    public mutating func append(encoded: [UInt8]) { bytes += encoded }

    /// The length field for `count` bytes of value, in its shortest form.
    public static func length(_ count: Int) -> [UInt8] {
        switch count {
        case ..<0x80: [UInt8(truncatingIfNeeded: count)]
        case ..<0x100: [0x81, UInt8(truncatingIfNeeded: count)]
        case ..<0x1_0000: [0x82, UInt8(truncatingIfNeeded: count >> 8), UInt8(truncatingIfNeeded: count)]
        default:
            [
                0x83, UInt8(truncatingIfNeeded: count >> 16), UInt8(truncatingIfNeeded: count >> 8),
                UInt8(truncatingIfNeeded: count),
            ]
        }
    }
}
