// SPDX-License-Identifier: Apache-2.0
/// Which message a reversal takes back: field 90 in 1987, field 56 in 1993.
public struct OriginalData: Equatable, Sendable {
    public let type: MessageType
    public let stan: String
    /// Field 7 in 1987, field 12 in 1993.
    public let time: String
    public let acquirer: String
    public let forwarder: String

    /// `nil` where the original lacks what the field needs.
    public init?(of original: ISOMessage) {
        let isFirst = original.type.version == MessageType.Version.iso1987.rawValue
        guard let stan = original.text(11), let time = original.text(isFirst ? 7 : 12) else { return nil }
        guard stan.utf8.count == 6, time.utf8.count == (isFirst ? 10 : 12) else { return nil }
        let (acquirer, forwarder) = (original.text(32) ?? "", original.text(33) ?? "")
        guard acquirer.utf8.count <= 11, forwarder.utf8.count <= 11 else { return nil }
        type = original.type
        self.stan = stan
        self.time = time
        self.acquirer = acquirer
        self.forwarder = forwarder
    }

    /// n42: type 4, trace number 6, field 7 10, fields 32 and 33 of eleven digits, right-justified.
    public var field90: String {
        "\(type)\(stan)\(time)" + Self.justified(acquirer, 11) + Self.justified(forwarder, 11)
    }

    /// n..35: type 4, trace number 6, field 12 12, field 32 with its length of two digits.
    public var field56: String { "\(type)\(stan)\(time)" + Self.justified("\(acquirer.utf8.count)", 2) + acquirer }

    static func justified(_ digits: String, _ count: Int) -> String {
        String(repeating: "0", count: max(0, count - digits.utf8.count)) + digits
    }
}

/// What remains of an amount after a reversal of a part: field 95 in 1987. Field 4 stays the original amount.
public struct ReplacementAmounts: Equatable, Sendable {
    public let actual: UInt64

    /// `nil` for more than twelve digits.
    public init?(actual: UInt64) {
        guard actual < 1_000_000_000_000 else { return nil }
        self.actual = actual
    }

    /// an42: the amount 12, in settlement 12, two fees of a sign and eight digits.
    public var field95: String {
        OriginalData.justified("\(actual)", 12) + String(repeating: "0", count: 12) + "C00000000C00000000"
    }
}

/// The wall clock in UTC, as far as messages show it. Comes in as a parameter, checked by whoever reads the clock.
public struct HostTime: Equatable, Sendable {
    public let year, month, day, hour, minute, second: Int

    /// `nil` for what no calendar has.
    public init?(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) {
        guard (2000...2099).contains(year), (1...12).contains(month), (0...23).contains(hour),
            (0...59).contains(minute), (0...59).contains(second), (1...Self.days(month, year)).contains(day)
        else { return nil }
        (self.year, self.month, self.day) = (year, month, day)
        (self.hour, self.minute, self.second) = (hour, minute, second)
    }

    private static func days(_ month: Int, _ year: Int) -> Int {
        switch month {
        // Of the years 2000 to 2099 every fourth is a leap year.
        case 2: year.isMultiple(of: 4) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// MMDDhhmmss, field 7.
    public var transmission: String { Self.digits([month, day, hour, minute, second]) }
    /// YYMMDDhhmmss, field 12 of 1993.
    public var whole: String { Self.digits([year % 100, month, day, hour, minute, second]) }

    /// Field 37: the year's last digit, the day of the year, the hour and the trace number.
    public func reference(stan: String) -> String {
        let ordinal = (1..<month).reduce(day) { $0 + Self.days($1, year) }
        return "\(year % 10)" + OriginalData.justified("\(ordinal)", 3) + Self.digits([hour]) + stan
    }

    private static func digits(_ numbers: [Int]) -> String {
        numbers.map { OriginalData.justified("\($0)", 2) }.joined()
    }
}
