// SPDX-License-Identifier: Apache-2.0
/// Packed decimal digits as EMV stores them (EMV Book 3 §4.3, formats n and cn).
public enum BCD {
    /// Format n: right-justified, padded on the left with zero digits.
    ///
    /// - Returns: `nil` where `value` has more than `2 * count` digits.
    public static func encode(_ value: UInt64, count: Int) -> [UInt8]? {
        guard count >= 0 else { return nil }
        var rest = value
        var bytes = [UInt8](repeating: 0, count: count)
        for index in bytes.indices.reversed() {
            bytes[index] = UInt8(rest % 10) | UInt8(rest / 10 % 10) << 4
            rest /= 100
        }
        return rest == 0 ? bytes : nil
    }

    /// The number that right-justified digits spell.
    ///
    /// - Returns: `nil` for a nibble above 9 or a number beyond `UInt64`.
    @inlinable
    public static func decode(_ bytes: some Sequence<UInt8>) -> UInt64? {
        var value: UInt64 = 0
        for byte in bytes {
            let high = UInt64(byte >> 4)
            let low = UInt64(byte & 0x0F)
            guard high < 10, low < 10 else { return nil }
            let (scaled, overflow) = value.multipliedReportingOverflow(by: 100)
            let (sum, carry) = scaled.addingReportingOverflow(high * 10 + low)
            guard !overflow, !carry else { return nil }
            value = sum
        }
        return value
    }

    /// Format cn: left-justified digits, filled with nibble F. One value (0…9) a digit.
    ///
    /// - Returns: `nil` where another nibble than 0…9 stands before the filler, or a digit after it.
    @inlinable
    public static func digits(_ bytes: some Sequence<UInt8>) -> [UInt8]? {
        var digits: [UInt8] = []
        digits.reserveCapacity(2 * bytes.underestimatedCount)
        var filler = false
        for byte in bytes {
            for shift: UInt8 in stride(from: 4, through: 0, by: -4) {
                let nibble = byte >> shift & 0x0F
                if nibble == 0x0F {
                    filler = true
                } else if filler || nibble > 9 {
                    return nil
                } else {
                    digits.append(nibble)
                }
            }
        }
        return digits
    }

    /// Format cn: digits (0…9 each) packed left-justified with filler F up to `count` bytes.
    ///
    /// - Returns: `nil` where a digit is above 9 or the digits need more than `count` bytes.
    public static func pack(_ digits: [UInt8], count: Int) -> [UInt8]? {
        guard digits.count <= count * 2, digits.allSatisfy({ $0 < 10 }) else { return nil }
        var bytes = [UInt8](repeating: 0xFF, count: count)
        for (index, digit) in digits.enumerated() {
            if index.isMultiple(of: 2) {
                bytes[index / 2] = digit << 4 | 0x0F
            } else {
                bytes[index / 2] = bytes[index / 2] & 0xF0 | digit
            }
        }
        return bytes
    }
}
