// SPDX-License-Identifier: Apache-2.0
/// Identity of a transaction: a UUID of version 7 (RFC 9562 §5.7) in lower-case text. Sorts by time of creation.
public struct TransactionID: Hashable, Comparable, Sendable {
    /// 36 characters.
    public let text: String

    /// A new one: 48 bits of milliseconds, 74 bits from the system's generator.
    public init(at time: Timestamp = .now) {
        var generator = SystemRandomNumberGenerator()
        let milliseconds = UInt64(bitPattern: time.milliseconds) & 0xFFFF_FFFF_FFFF
        let high = milliseconds << 16 | 0x7000 | UInt64.random(in: 0...0x0FFF, using: &generator)
        let low = 0x8000_0000_0000_0000 | UInt64.random(in: 0...0x3FFF_FFFF_FFFF_FFFF, using: &generator)
        text = TransactionID.text(high, low)
    }

    /// - Returns: `nil` where `text` is no UUID of version 7 in the usual form; upper case is folded.
    public init?(_ text: String) {
        let units = Array(text.lowercased().utf8)
        guard units.count == 36, units[14] == UInt8(ascii: "7"), "89ab".utf8.contains(units[19]) else { return nil }
        for (index, unit) in units.enumerated() {
            let isDash = [8, 13, 18, 23].contains(index)
            let isDigit = (0x30...0x39).contains(unit) || (0x61...0x66).contains(unit)
            guard isDash ? unit == UInt8(ascii: "-") : isDigit else { return nil }
        }
        self.text = String(decoding: units, as: UTF8.self)
    }

    public static func < (left: TransactionID, right: TransactionID) -> Bool { left.text < right.text }

    private static func text(_ high: UInt64, _ low: UInt64) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var units: [UInt8] = []
        for nibble in 0..<32 {
            if [8, 12, 16, 20].contains(nibble) { units.append(UInt8(ascii: "-")) }
            let word = nibble < 16 ? high : low
            units.append(digits[Int(word >> UInt64(60 - nibble % 16 * 4) & 0xF)])
        }
        return String(decoding: units, as: UTF8.self)
    }
}

extension TransactionID: CustomStringConvertible {
    public var description: String { text }
}

extension TransactionID: Codable {
    public init(from decoder: any Decoder) throws {
        guard let id = TransactionID(try decoder.singleValueContainer().decode(String.self)) else {
            throw decoder.refusal(.requestInvalidField)
        }
        self = id
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
