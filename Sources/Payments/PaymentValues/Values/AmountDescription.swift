// SPDX-License-Identifier: Apache-2.0
/// What kind of payment the amount is, in the customer's words: an instalment, a membership, a surcharge and so on.
///
/// One `kind` in JSON, with the members that this kind has and no others. What does not go with the type of the
/// transaction or its amount is refused with `amount.description_conflict`, never left out silently.
public enum AmountDescription: Equatable, Sendable {
    /// One of several payments of `amount` each.
    case instalment(cycle: Item.Frequency, amount: Money, payments: Int)
    case membership(cycle: Item.Frequency)
    /// The amount is reserved, not charged.
    case preauthorization
    /// The amount is charged later at most up to this sum, which is reserved.
    case preauthorizationAmount(Money)
    /// What of the amount is a surcharge.
    case surchargeAmount(Money)
    /// At most this part of the amount is a surcharge, in hundredths of a percent: 100…10000.
    case surchargePercent(hundredths: Int)
    /// The reservation of an earlier payment is given up; with a refund.
    case preauthorizationRelease

    public enum Kind: String, Codable, CaseIterable, Sendable {
        case instalment, membership, preauthorization, preauthorizationAmount, surchargeAmount, surchargePercent
        case preauthorizationRelease
    }

    public var kind: Kind {
        switch self {
        case .instalment: .instalment
        case .membership: .membership
        case .preauthorization: .preauthorization
        case .preauthorizationAmount: .preauthorizationAmount
        case .surchargeAmount: .surchargeAmount
        case .surchargePercent: .surchargePercent
        case .preauthorizationRelease: .preauthorizationRelease
        }
    }

    /// The sum that it names; `nil` for those without one.
    public var amount: Money? {
        switch self {
        case .instalment(_, let amount, _), .preauthorizationAmount(let amount), .surchargeAmount(let amount): amount
        case .membership, .preauthorization, .surchargePercent, .preauthorizationRelease: nil
        }
    }

    /// Whether the payment is a reservation.
    public var isPreauthorization: Bool {
        switch self {
        case .preauthorization, .preauthorizationAmount: true
        case .instalment, .membership, .surchargeAmount, .surchargePercent, .preauthorizationRelease: false
        }
    }

    /// Whether it can be said of such a transaction.
    package func suits(_ type: TransactionType, _ total: Money, _ status: AmountStatus?) -> Bool {
        if self == .preauthorizationRelease { return type == .refund }
        guard type == .purchase else { return false }
        if isPreauthorization, status == .final { return false }
        guard let amount else { return true }
        guard amount.currency == total.currency, amount.refusalAsTotal == nil else { return false }
        // A part cannot be more than the whole; a reservation may be, an instalment need not even be near it.
        if case .surchargeAmount = self { return amount.value <= total.value }
        return true
    }
}

extension AmountDescription: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case kind, cycle, amount, payments, percent
    }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.strictContainer(keyedBy: CodingKeys.self)
        let kind = try members.decode(Kind.self, forKey: .kind)
        let allowed: Set<CodingKeys> =
            switch kind {
            case .instalment: [.kind, .cycle, .amount, .payments]
            case .membership: [.kind, .cycle]
            case .preauthorizationAmount, .surchargeAmount: [.kind, .amount]
            case .surchargePercent: [.kind, .percent]
            case .preauthorization, .preauthorizationRelease: [.kind]
            }
        if let key = CodingKeys.allCases.first(where: { members.contains($0) && !allowed.contains($0) }) {
            throw decoder.refusal(.requestFieldNotApplicable, at: key)
        }
        switch kind {
        case .instalment:
            let payments = try members.decodeWhole(Int.self, forKey: .payments)
            guard Limits.instalments.contains(payments) else {
                throw decoder.refusal(.requestInvalidField, at: CodingKeys.payments)
            }
            self = .instalment(
                cycle: try members.decode(Item.Frequency.self, forKey: .cycle),
                amount: try members.decode(Money.self, forKey: .amount), payments: payments)
        case .membership: self = .membership(cycle: try members.decode(Item.Frequency.self, forKey: .cycle))
        case .preauthorization: self = .preauthorization
        case .preauthorizationAmount: self = .preauthorizationAmount(try members.decode(Money.self, forKey: .amount))
        case .surchargeAmount: self = .surchargeAmount(try members.decode(Money.self, forKey: .amount))
        case .surchargePercent:
            let percent = try members.decode(Double.self, forKey: .percent)
            guard let hundredths = AmountDescription.hundredths(percent) else {
                throw decoder.refusal(.requestInvalidField, at: CodingKeys.percent)
            }
            self = .surchargePercent(hundredths: hundredths)
        case .preauthorizationRelease: self = .preauthorizationRelease
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(kind, forKey: .kind)
        try members.encodeIfPresent(amount, forKey: .amount)
        switch self {
        case .instalment(let cycle, _, let payments):
            try members.encode(cycle, forKey: .cycle)
            try members.encode(payments, forKey: .payments)
        case .membership(let cycle): try members.encode(cycle, forKey: .cycle)
        case .surchargePercent(let hundredths): try members.encode(Double(hundredths) / 100, forKey: .percent)
        case .preauthorization, .preauthorizationAmount, .surchargeAmount, .preauthorizationRelease: break
        }
    }

    /// - Returns: `nil` outside 1…100 percent, and for more than two decimals.
    static func hundredths(_ percent: Double) -> Int? {
        guard (1...100).contains(percent) else { return nil }
        let whole = (percent * 100).rounded()
        // A number with two decimals is the nearest one to its hundredths, whatever its binary form.
        return whole / 100 == percent ? Int(whole) : nil
    }
}
