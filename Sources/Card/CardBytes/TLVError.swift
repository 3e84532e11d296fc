// SPDX-License-Identifier: Apache-2.0
/// Why bytes are not BER-TLV as EMV uses it. Offsets count from the start of the buffer.
public enum TLVError: Error, Equatable, Sendable {
    case truncatedTag(offset: Int)
    /// More than four tag bytes.
    case tagTooLong(offset: Int)
    case truncatedLength(offset: Int)
    /// Indefinite length (80), or more than three length octets after the first.
    case unsupportedLength(offset: Int, firstByte: UInt8)
    /// The value runs past the end of its template or of the buffer.
    case truncatedValue(tag: Tag, offset: Int, needed: Int, have: Int)
    case nestedTooDeep(offset: Int)
}

extension TLVError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .truncatedTag(let offset): "tag cut off at offset \(offset)"
        case .tagTooLong(let offset): "tag of more than four bytes at offset \(offset)"
        case .truncatedLength(let offset): "length cut off at offset \(offset)"
        case .unsupportedLength(let offset, let byte):
            "unsupported length byte \(Hex.string([byte])) at offset \(offset)"
        case .truncatedValue(let tag, let offset, let needed, let have):
            "value of \(tag) at offset \(offset) needs \(needed) bytes, \(have) are left"
        case .nestedTooDeep(let offset): "templates nested more than \(TLV.maximumDepth) deep at offset \(offset)"
        }
    }
}
