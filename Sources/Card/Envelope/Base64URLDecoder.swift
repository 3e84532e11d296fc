// SPDX-License-Identifier: Apache-2.0
/// Decodes base64url one character at a time, so that a secret need not pass through an array.
struct Base64URLDecoder {
    private var pending: UInt32 = 0
    private var bits: UInt32 = 0

    /// Takes one character; `false` for one that is not of the alphabet.
    mutating func accept(_ unit: UInt8) -> Bool {
        guard let value = Base64URLDecoder.value(of: unit) else { return false }
        pending = (pending << 6 | value) & 0x3FFF
        bits += 6
        return true
    }

    /// The byte that the last character completed, if it did.
    mutating func next() -> UInt8? {
        guard bits >= 8 else { return nil }
        bits -= 8
        return UInt8(truncatingIfNeeded: pending >> bits)
    }

    /// Whether the text may end here: no character left over, no bit set after the last byte.
    var isComplete: Bool { bits < 6 && pending & (1 << bits - 1) == 0 }

    private static func value(of unit: UInt8) -> UInt32? {
        switch unit {
        case 0x41...0x5A: UInt32(unit - 0x41)
        case 0x61...0x7A: UInt32(unit - 0x61) + 26
        case 0x30...0x39: UInt32(unit - 0x30) + 52
        case 0x2D: 62
        case 0x5F: 63
        default: nil
        }
    }
}
