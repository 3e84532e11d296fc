// SPDX-License-Identifier: Apache-2.0
/// A calendar date as EMV stores it: YYMMDD in BCD, where YY 00–49 means 2000–2049 and 50–99 means 1950–1999
/// (EMV Book 4 §6.7.3; the century rule is unverified).
///
/// Month and day are kept as sent: a certificate's MMYY has no day, and a card may say day 00. Comparison is by year, month
/// and day in this order, so that an impossible date still compares.
public struct EMVDate: Equatable, Hashable, Comparable, Sendable {
    /// Four digits.
    public let year: Int
    public let month: Int
    public let day: Int

    public init(year: Int, month: Int, day: Int) {
        self.year = year
        self.month = month
        self.day = day
    }

    /// - Parameter bytes: YYMMDD, three bytes BCD; `nil` for another length or a nibble above 9.
    public init?(yymmdd bytes: some Collection<UInt8>) {
        guard bytes.count == 3 else { return nil }
        var parts = (0, 0, 0)
        for (index, byte) in bytes.enumerated() {
            guard byte >> 4 < 10, byte & 0x0F < 10 else { return nil }
            let number = Int(byte >> 4) * 10 + Int(byte & 0x0F)
            switch index {
            case 0: parts.0 = number < 50 ? 2000 + number : 1900 + number
            case 1: parts.1 = number
            default: parts.2 = number
            }
        }
        self.init(year: parts.0, month: parts.1, day: parts.2)
    }

    /// The last possible day of a month given as MMYY (two bytes BCD), for expiry dates of certificates.
    public init?(mmyy bytes: some Collection<UInt8>) {
        guard bytes.count == 2, let month = bytes.first, let year = bytes.dropFirst().first else { return nil }
        self.init(yymmdd: [year, month, 0x31])
    }

    /// Month 1…12 and day 1…31. A date of a terminal or a card that is not plausible counts as expired and as not yet
    /// effective.
    public var isPlausible: Bool { (1...12).contains(month) && (1...31).contains(day) }

    /// YYMMDD, three bytes BCD.
    public var yymmdd: [UInt8] { [EMVDate.bcd(year % 100), EMVDate.bcd(month), EMVDate.bcd(day)] }

    public static func < (left: EMVDate, right: EMVDate) -> Bool {
        (left.year, left.month, left.day) < (right.year, right.month, right.day)
    }

    static func bcd(_ number: Int) -> UInt8 {
        let small = abs(number) % 100
        return UInt8(small / 10) << 4 | UInt8(small % 10)
    }
}
