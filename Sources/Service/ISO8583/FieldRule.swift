// SPDX-License-Identifier: Apache-2.0
/// How a host packs one field.
public struct FieldRule: Equatable, Sendable {
    public enum Encoding: String, Sendable, CaseIterable {
        case ascii
        case ebcdic
        /// Two digits a byte.
        case bcd
        case binary
        /// Bytes as two hexadecimal characters each.
        case hex
    }

    public enum LengthEncoding: String, Sendable, CaseIterable {
        case ascii, ebcdic, bcd, binary
    }

    /// What the length in front counts.
    public enum Counting: String, Sendable, CaseIterable {
        /// Characters or digits as the value has them.
        case digits
        case bytes
    }

    /// What stands beside an odd number of digits.
    public enum Padding: String, Sendable, CaseIterable {
        case leftZero = "left-0"
        case rightZero = "right-0"
        case rightF = "right-F"
    }

    public let number: Int
    public let name: String
    public let format: FieldFormat
    public let encoding: Encoding
    public let lengths: LengthEncoding
    public let counts: Counting
    public let pad: Padding
    /// What separates a track in characters: D or =.
    public let separator: UInt8
}
