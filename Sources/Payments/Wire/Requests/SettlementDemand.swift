// SPDX-License-Identifier: Apache-2.0
/// Body of `POST /v1/open-items/{id}/settlement`: how a payment ended that could not be ended by proof.
public struct SettlementDemand: Equatable, Sendable {
    public var outcome: Settlement.Outcome
    /// With `charged`: how much it was, where that is less than what was asked for.
    public var amount: Money?
    /// From where that is known, for whoever asks later.
    public var note: String

    public init(_ outcome: Settlement.Outcome, amount: Money? = nil, note: String) {
        self.outcome = outcome
        self.amount = amount
        self.note = note
    }
}

extension SettlementDemand: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case outcome = "as"
        case amount, note
    }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.strictContainer(keyedBy: CodingKeys.self)
        outcome = try members.decode(Settlement.Outcome.self, forKey: .outcome)
        amount = members.contains(.amount) ? try members.decode(Money.self, forKey: .amount) : nil
        note = try members.decode(String.self, forKey: .note)
        try amount?.checkPositive(decoder, at: CodingKeys.amount)
        guard amount == nil || outcome == .charged else {
            throw decoder.refusal(.requestInvalidField, at: CodingKeys.amount)
        }
        guard note.isNote else { throw decoder.refusal(.requestInvalidField, at: CodingKeys.note) }
    }
}

extension String {
    /// Words of a person for whoever asks later: a line, not blank, without a card's number.
    var isNote: Bool {
        contains { !$0.isWhitespace } && unicodeScalars.count <= Limits.noteLength
            && unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F } && !holdsCardNumber
    }

    /// Whether there are 12 to 19 digits in it, with blanks and dashes between them or not, that a card number could be: the
    /// last one checks the others (ISO/IEC 7812-1, Annex B).
    fileprivate var holdsCardNumber: Bool {
        let parts = split { !$0.isWholeNumber && $0 != " " && $0 != "-" }
        return parts.contains { part in
            let digits = part.compactMap(\.wholeNumberValue)
            return digits.indices.contains { start in
                (12...19).contains { length in
                    start + length <= digits.count && Self.isChecked(digits[start..<(start + length)])
                }
            }
        }
    }

    /// Whether it is a card number as a whole, with blanks and dashes or without: of a scheme's first digits and length (ISO/IEC 7812-1),
    /// with the right last digit. Numbers that merchants count up hardly ever are.
    var isCardNumber: Bool {
        let plain = filter { $0 != " " && $0 != "-" }
        let digits = plain.compactMap(\.wholeNumberValue)
        guard (14...19).contains(digits.count), digits.count == plain.count, let head = Int(plain.prefix(4)) else {
            return false
        }
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
}
