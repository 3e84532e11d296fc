// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// As what bytes are to be read.
public enum DecodeForm: Equatable, Sendable {
    case tlv
    /// A data object list without its tag.
    case dol
    /// A command, or a response with its status word.
    case apdu
    case atr
    /// Answer to select, with or without its length byte.
    case ats
    /// The value of this tag, without tag and length.
    case value(Tag)

    /// `tlv`, `dol`, `apdu`, `atr`, `ats` or a tag in hexadecimal; `nil` for anything else.
    public init?(word: String) {
        switch word.lowercased() {
        case "tlv": self = .tlv
        case "dol": self = .dol
        case "apdu": self = .apdu
        case "atr": self = .atr
        case "ats": self = .ats
        case let tag:
            guard let bytes = try? Hex.bytes(tag), let parsed = DecodeForm.tag(bytes) else { return nil }
            self = .value(parsed)
        }
    }

    /// The one tag that `bytes` are.
    private static func tag(_ bytes: [UInt8]) -> Tag? {
        guard let list = try? DOL(bytes + [0x00]), list.entries.count == 1, let first = list.entries.first,
            first.tag.bytes == bytes
        else { return nil }
        return first.tag
    }
}
