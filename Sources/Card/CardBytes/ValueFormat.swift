// SPDX-License-Identifier: Apache-2.0
/// How EMV stores a value, which decides how a DOL pads or cuts it (EMV Book 3 §4.3 and §5.4).
public enum ValueFormat: String, Sendable {
    /// Digits, right-justified in BCD.
    case n
    /// Digits, left-justified in BCD with filler F.
    case cn
    case a
    case an
    case ans
    /// Bits or bytes.
    case b
    /// Bytes of varying structure, treated as `b`.
    case variable = "var"

    /// `value` brought to exactly `length` bytes by the rule of the format.
    public func fit(_ value: [UInt8], to length: Int) -> [UInt8] {
        guard value.count != length else { return value }
        let missing = [UInt8](repeating: self == .cn ? 0xFF : 0x00, count: max(0, length - value.count))
        return switch self {
        case .n: missing + value.suffix(length)
        case .cn, .a, .an, .ans, .b, .variable: value.prefix(length) + missing
        }
    }
}
