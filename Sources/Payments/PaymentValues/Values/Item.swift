// SPDX-License-Identifier: Apache-2.0
/// A line of what the amount is made of. Not a basket: charges, discounts, tips.
public struct Item: Equatable, Sendable {
    public enum Kind: String, Codable, CaseIterable, Sendable {
        case charge, discount, pending, donation, recurring, deferred
    }

    public enum Frequency: String, Codable, CaseIterable, Sendable {
        case weekly, monthly, yearly
    }

    /// At most 32 characters, one line.
    public var label: String
    /// May be zero or negative; only the sum must be above zero. With `deferred` what is due later, beside that sum.
    public var amount: Money
    /// `charge` if not given.
    public var kind: Kind?
    /// With `recurring`, always and only then.
    public var frequency: Frequency?
    /// The day on which it is charged for the first time: `2027-01-31`. With `recurring` and `deferred` only; needed
    /// where a recurring charge costs nothing now.
    public var begins: String?

    public init(
        label: String, amount: Money, kind: Kind? = nil, frequency: Frequency? = nil, begins: String? = nil
    ) {
        self.label = label
        self.amount = amount
        self.kind = kind
        self.frequency = frequency
        self.begins = begins
    }

    /// What keeps `items` from being the parts of `total`; `nil` if nothing does. What is due later is no part of what is
    /// charged now.
    package static func refusal(of items: [Item], total: Money) -> ErrorCode? {
        guard (1...Limits.items).contains(items.count) else { return .requestInvalidField }
        var sum: Int64 = 0
        for item in items {
            guard item.amount.currency == total.currency else { return .amountCurrencyMismatch }
            if item.kind == .deferred { continue }
            let (next, overflow) = sum.addingReportingOverflow(item.amount.value)
            guard !overflow else { return .amountItemsMismatch }
            sum = next
        }
        return sum == total.value ? nil : .amountItemsMismatch
    }
}

extension Money {
    /// What keeps an amount from being paid: not above zero, or more than twelve digits. `nil` if nothing does.
    public var refusalAsTotal: ErrorCode? {
        if value <= 0 { return .amountTotalNotPositive }
        return value > Limits.amount ? .amountTooLarge : nil
    }
}

extension Item: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case label, amount, kind, frequency, begins
    }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.strictContainer(keyedBy: CodingKeys.self)
        label = try members.decode(String.self, forKey: .label)
        amount = try members.decode(Money.self, forKey: .amount)
        kind = try members.decodeIfPresent(Kind.self, forKey: .kind)
        frequency = try members.decodeIfPresent(Frequency.self, forKey: .frequency)
        let isOneLine = !label.unicodeScalars.contains { $0.properties.generalCategory == .control }
        guard (1...Limits.labelLength).contains(label.count), isOneLine, !label.isCardNumber else {
            throw decoder.refusal(.requestInvalidField, at: CodingKeys.label)
        }
        begins = try members.decodeIfPresent(String.self, forKey: .begins)
        try checkTimes(decoder)
    }

    private func checkTimes(_ decoder: any Decoder) throws {
        if kind == .recurring {
            if frequency == nil { throw decoder.refusal(.requestMissingField, at: CodingKeys.frequency) }
            if begins == nil, amount.value == 0 { throw decoder.refusal(.requestMissingField, at: CodingKeys.begins) }
        } else if frequency != nil {
            throw decoder.refusal(.requestFieldNotApplicable, at: CodingKeys.frequency)
        }
        guard let begins else { return }
        guard kind == .recurring || kind == .deferred else {
            throw decoder.refusal(.requestFieldNotApplicable, at: CodingKeys.begins)
        }
        guard begins.isCalendarDay else { throw decoder.refusal(.requestInvalidField, at: CodingKeys.begins) }
    }
}
