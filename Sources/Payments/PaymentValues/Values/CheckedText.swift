// SPDX-License-Identifier: Apache-2.0
/// What words from outside may be.
extension String {
    /// 1 to 64 ASCII characters, blanks inside only: tills name their orders "Order 00042-003-0007" and "Table 5".
    public var isOrder: Bool {
        (1...Limits.orderLength).contains(utf8.count) && utf8.allSatisfy { (0x20...0x7E).contains($0) }
            && utf8.first != 0x20 && utf8.last != 0x20
    }

    /// Whether words that stand together are the digits of a card number. Signs but dashes stand between words; a word with a letter
    /// is a name, or an IBAN.
    package var namesCard: Bool {
        let words = split { !$0.isLetter && !$0.isNumber && $0 != "-" }
        return words.indices.contains { first in
            var joined = ""
            for word in words[first...] {
                guard word.allSatisfy({ $0.wholeNumberValue != nil || $0 == "-" }), joined.count < 40 else {
                    return false
                }
                joined += word
                if joined.isCardNumber { return true }
            }
            return false
        }
    }

    /// 1 to `length` visible ASCII characters.
    public func isReference(upTo length: Int) -> Bool {
        (1...length).contains(utf8.count) && utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    /// The same for what a merchant calls something: it stands in receipts, logs and lists, where no card number may be.
    package func isOwnName(upTo length: Int) -> Bool { isReference(upTo: length) && !namesCard }

    /// An address that a customer's phone may be sent to: `https`, visible ASCII, short enough for a QR code that a phone
    /// reads from a till's display.
    public var isCustomerAddress: Bool {
        hasPrefix("https://") && utf8.count <= 512 && utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    /// Words of a person for whoever asks later: a line, not blank, without a card's number.
    package var isNote: Bool {
        contains { !$0.isWhitespace } && unicodeScalars.count <= Limits.noteLength
            && unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F } && !namesCard
    }

    /// Whether it is a card number as a whole, with blanks and dashes or without: of a scheme's first digits and length (ISO/IEC 7812-1),
    /// with the right last digit. Numbers that merchants count up hardly ever are.
    var isCardNumber: Bool {
        let plain = filter { $0 != " " && $0 != "-" }
        // Of any script; "½" and "百" are numbers, and no digits.
        let digits = plain.compactMap(\.wholeNumberValue).filter { (0...9).contains($0) }
        guard (14...19).contains(digits.count), digits.count == plain.count else { return false }
        let head = digits.prefix(4).reduce(0) { $0 * 10 + $1 }
        let lengths: ClosedRange<Int>? =
            switch head {
            case 3_400..<3_500, 3_700..<3_800: 15...15
            case 3_000..<3_060, 3_600..<3_700, 3_800..<4_000: 14...14
            case 3_528..<3_590, 5_100..<5_600, 2_221..<2_721: 16...16
            case 4_000..<5_000, 6_011, 6_200..<6_300, 6_440..<6_600: 16...19
            default: nil
            }
        return lengths?.contains(digits.count) == true && Self.isChecked(digits[...])
    }

    private static func isChecked(_ digits: ArraySlice<Int>) -> Bool {
        let sum = digits.reversed().enumerated().reduce(0) { sum, digit in
            let doubled = digit.element * 2
            return sum + (digit.offset % 2 == 0 ? digit.element : doubled > 9 ? doubled - 9 : doubled)
        }
        return sum % 10 == 0
    }

    /// `2027-01-31`: a day that exists (RFC 3339 full-date).
    var isCalendarDay: Bool {
        let parts = split(separator: "-", omittingEmptySubsequences: false)
        guard parts.map(\.utf8.count) == [4, 2, 2],
            parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
            let year = Int(parts[0]), let month = Int(parts[1]), let day = Int(parts[2]), (1...12).contains(month)
        else { return false }
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        return (1...days[month - 1]).contains(day)
    }
}
