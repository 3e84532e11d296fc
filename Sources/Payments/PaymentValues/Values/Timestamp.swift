// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials

/// A point in time: UTC with milliseconds, written as RFC 3339 §5.6 (`2026-03-01T08:30:00.125Z`).
public struct Timestamp: Hashable, Comparable, Sendable {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    public var milliseconds: Int64

    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// The machine's clock.
    public static var now: Timestamp {
        Timestamp(milliseconds: Int64((Date().timeIntervalSince1970 * 1_000).rounded(.down)))
    }

    public static func < (left: Timestamp, right: Timestamp) -> Bool { left.milliseconds < right.milliseconds }

    /// This time moved on; stays at the end of the range instead of overflowing.
    public func advanced(bySeconds seconds: Int64) -> Timestamp {
        let (delta, tooFar) = seconds.multipliedReportingOverflow(by: 1_000)
        let (sum, overflow) = milliseconds.addingReportingOverflow(tooFar ? .max : delta)
        return Timestamp(milliseconds: overflow ? .max : sum)
    }

    /// Calendar date and time of day in UTC.
    public var components: (year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) {
        let seconds = milliseconds.flooredQuotient(by: 1_000)
        let day = seconds.flooredQuotient(by: 86_400)
        let rest = Int(seconds - day * 86_400)
        let date = Timestamp.civilDate(daysSince1970: Int(day))
        return (date.year, date.month, date.day, rest / 3_600, rest / 60 % 60, rest % 60)
    }

    /// Days are counted in eras of 400 years that begin on 1 March, so that the leap day is the last of its year.
    private static func civilDate(daysSince1970 days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
    }

    private static func daysSince1970(year: Int, month: Int, day: Int) -> Int {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}

extension Timestamp: LosslessStringConvertible {
    public var description: String {
        let parts = components
        let fraction = Int(milliseconds - milliseconds.flooredQuotient(by: 1_000) * 1_000)
        return Timestamp.padded(parts.year, 4) + "-" + Timestamp.padded(parts.month, 2) + "-"
            + Timestamp.padded(parts.day, 2) + "T" + Timestamp.padded(parts.hour, 2) + ":"
            + Timestamp.padded(parts.minute, 2) + ":" + Timestamp.padded(parts.second, 2) + "."
            + Timestamp.padded(fraction, 3) + "Z"
    }

    /// Reads what `description` writes; the fraction may have 0 to 9 digits. Only `Z` counts as offset.
    public init?(_ text: String) {
        let units = Array(text.utf8)
        guard units.count >= 20, units.count <= 30, units.last == UInt8(ascii: "Z") else { return nil }
        let marks: [(Int, Character)] = [(4, "-"), (7, "-"), (10, "T"), (13, ":"), (16, ":")]
        guard marks.allSatisfy({ units[$0.0] == $0.1.asciiValue }) else { return nil }
        func number(_ range: Range<Int>) -> Int? { Timestamp.digits(units[range]) }
        guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
            let hour = number(11..<13), let minute = number(14..<16), let second = number(17..<19),
            (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second < 60,
            let fraction = Timestamp.fraction(units[19..<units.count - 1])
        else { return nil }
        let days = Timestamp.daysSince1970(year: year, month: month, day: day)
        guard Timestamp.civilDate(daysSince1970: days) == (year, month, day) else { return nil }
        let seconds = days * 86_400 + hour * 3_600 + minute * 60 + second
        milliseconds = Int64(seconds) * 1_000 + Int64(fraction)
    }

    /// Reads RFC 3339 §5.6 with any offset, as a client far away writes it.
    ///
    /// - Returns: `nil` for a time without a zone: nobody knows which moment it is.
    public init?(withZone text: String) {
        if let time = Timestamp(text) {
            self = time
            return
        }
        let units = Array(text.utf8)
        guard units.count >= 25 else { return nil }
        let zone = units[(units.count - 6)...]
        let (start, sign) = (zone.startIndex, zone[zone.startIndex])
        guard sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-"), zone[start + 3] == UInt8(ascii: ":"),
            let hours = Timestamp.digits(zone[start + 1..<start + 3]), hours < 24,
            let minutes = Timestamp.digits(zone[start + 4..<start + 6]), minutes < 60,
            let local = Timestamp(String(decoding: units.dropLast(6), as: UTF8.self) + "Z")
        else { return nil }
        let ahead = Int64(hours * 3_600 + minutes * 60)
        self = local.advanced(bySeconds: sign == UInt8(ascii: "+") ? -ahead : ahead)
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
    }

    private static func digits(_ units: ArraySlice<UInt8>) -> Int? {
        var value = 0
        for unit in units {
            guard (0x30...0x39).contains(unit) else { return nil }
            value = value * 10 + Int(unit - 0x30)
        }
        return value
    }

    private static func fraction(_ units: ArraySlice<UInt8>) -> Int? {
        guard let mark = units.first else { return 0 }
        let given = units.dropFirst()
        guard mark == UInt8(ascii: "."), !given.isEmpty, digits(given) != nil else { return nil }
        return digits(ArraySlice(Array((given + [0x30, 0x30, 0x30]).prefix(3))))
    }
}

extension Timestamp: Codable {
    public init(from decoder: any Decoder) throws {
        guard let time = Timestamp(try decoder.singleValueContainer().decode(String.self)) else {
            throw decoder.refusal(.requestInvalidField)
        }
        self = time
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

extension Int64 {
    fileprivate func flooredQuotient(by divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
