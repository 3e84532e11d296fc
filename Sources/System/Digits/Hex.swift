// SPDX-License-Identifier: Apache-2.0
/// Hexadecimal text of bytes. The one place that converts between the two.
public enum Hex {
    /// Upper-case digits, two a byte, without separators.
    public static func string(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(bytes.underestimatedCount * 2)
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 0x0F)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The bytes that `text` spells. Blanks and line ends between digits are skipped; upper and lower case both count.
    ///
    /// - Throws: `HexError` with the offset in UTF-8 code units of the first character that is no digit, or
    ///   `.oddLength` where the last byte has one digit only.
    public static func bytes(_ text: String) throws(HexError) -> [UInt8] {
        let units = text.utf8.span
        var result: [UInt8] = []
        result.reserveCapacity(units.count / 2)
        var pending: UInt8?
        for offset in units.indices {
            let unit = units[offset]
            if unit == 0x20 || unit == 0x09 || unit == 0x0A || unit == 0x0D { continue }
            guard let digit = value(of: unit) else { throw .notADigit(offset: offset) }
            if let high = pending {
                result.append(high << 4 | digit)
                pending = nil
            } else {
                pending = digit
            }
        }
        guard pending == nil else { throw .oddLength }
        return result
    }

    private static func value(of unit: UInt8) -> UInt8? {
        switch unit {
        case 0x30...0x39: unit - 0x30
        case 0x41...0x46: unit - 0x41 + 10
        case 0x61...0x66: unit - 0x61 + 10
        default: nil
        }
    }
}

/// Why a text is not hexadecimal.
public enum HexError: Error, Equatable, Sendable, CustomStringConvertible {
    case notADigit(offset: Int)
    case oddLength

    public var description: String {
        switch self {
        case .notADigit(let offset): "not a hexadecimal digit at position \(offset)"
        case .oddLength: "odd number of hexadecimal digits"
        }
    }
}
