// SPDX-License-Identifier: Apache-2.0
/// Where in a message something stands.
public enum MessagePart: Hashable, Sendable, CustomStringConvertible {
    case type
    case bitmap
    /// Field 1 is the second bitmap.
    case field(Int)

    public var description: String {
        switch self {
        case .type: "message type"
        case .bitmap: "bitmap"
        case .field(let number): "field \(number)"
        }
    }
}

/// Why bytes are not a message of a packager, or a message cannot be packed by it. Says places and counts, never values.
public enum MessageError: Error, Equatable, Sendable {
    case tooLong(count: Int, most: Int)
    case truncated(MessagePart, needed: Int, have: Int)
    /// Bytes after the last field.
    case trailing(count: Int)
    case notAType
    /// The type's first digit is not the packager's version.
    case otherVersion(UInt8)
    case notABitmap(MessagePart)
    /// Field 65, a third bitmap: none of the packagers knows fields above 128.
    case thirdBitmap
    case notInPackager(field: Int)
    /// The length in front of a field is no number.
    case notALength(field: Int)
    case length(field: Int, count: Int, most: Int)
    /// A character that the field's format does not have, by its position in the field.
    case character(field: Int, position: Int)
    /// The half byte beside an odd number of digits is not the packager's.
    case padding(field: Int)

    /// The part that is wrong, if it is one.
    public var part: MessagePart? {
        switch self {
        case .tooLong, .trailing: nil
        case .notAType, .otherVersion: .type
        case .truncated(let part, _, _), .notABitmap(let part): part
        case .thirdBitmap: .field(65)
        case .notInPackager(let field), .notALength(let field), .length(let field, _, _), .character(let field, _),
            .padding(let field):
            .field(field)
        }
    }
}

extension MessageError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .tooLong(let count, let most): "\(count) bytes; a message has at most \(most)"
        case .truncated(let part, let needed, let have): "\(part): \(needed) bytes needed, \(have) are left"
        case .trailing(let count): "\(count) bytes after the last field; compare the packager's lengths with the host's"
        case .notAType: "message type: not four digits; compare “mti” in the packager"
        case .otherVersion(let digit): "message type: version \(digit); compare “version” in the packager"
        case .notABitmap(let part): "\(part): not hexadecimal; compare “bitmap” in the packager"
        case .thirdBitmap: "field 65 is set: fields above 128 are not supported"
        case .notInPackager(let field): "field \(field): not in the packager; add it to “fields”"
        case .notALength(let field): "field \(field): its length is not a number; compare “lengths” in the packager"
        case .length(let field, let count, let most): "field \(field): length \(count), the format has \(most)"
        case .character(let field, let position): "field \(field): position \(position) does not fit the format"
        case .padding(let field): "field \(field): wrong padding; compare “pad” in the packager"
        }
    }
}
