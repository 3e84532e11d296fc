// SPDX-License-Identifier: Apache-2.0
public import PaymentValues

/// Body of `POST /v1/transactions/{id}/captures`: takes what the payment holds, or a part of it.
public struct CaptureRequest: Equatable, Sendable {
    /// Tip included; `nil` for all that remains.
    public var amount: Money?
    /// The part of `amount` that is a tip.
    public var tip: Money?
    /// The rest is given up in the same step; `true` where nothing is said.
    public var final: Bool
    /// The shop's own words for it, at most 64 visible characters.
    public var reference: String?

    public init(amount: Money? = nil, tip: Money? = nil, final: Bool = true, reference: String? = nil) {
        self.amount = amount
        self.tip = tip
        self.final = final
        self.reference = reference
    }
}

extension CaptureRequest: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case amount, tip, final, reference
    }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.strictContainer(keyedBy: CodingKeys.self, besides: DryRun.members)
        amount = members.contains(.amount) ? try members.decode(Money.self, forKey: .amount) : nil
        tip = members.contains(.tip) ? try members.decode(Money.self, forKey: .tip) : nil
        final = members.contains(.final) ? try members.decode(Bool.self, forKey: .final) : true
        reference = members.contains(.reference) ? try members.decode(String.self, forKey: .reference) : nil
        try amount?.checkPositive(decoder, at: CodingKeys.amount)
        if let tip {
            guard tip.value >= 0 else { throw decoder.refusal(.requestInvalidField, at: CodingKeys.tip) }
            if let amount {
                guard tip.currency == amount.currency else {
                    throw decoder.refusal(.amountCurrencyMismatch, at: CodingKeys.tip)
                }
                guard tip.value <= amount.value else {
                    throw decoder.refusal(.requestInvalidField, at: CodingKeys.tip)
                }
            }
        }
        if let reference, !reference.isOwnName(upTo: Limits.orderLength) {
            throw decoder.refusal(.requestInvalidField, at: CodingKeys.reference)
        }
    }
}

/// Body of `POST /v1/transactions/{id}/adjustments`: another sum is to be held from now on, or the same one for longer.
public enum AdjustmentRequest: Equatable, Sendable {
    /// The sum to be held, not the difference: the same again adds nothing.
    case total(Money)
    case extend
}

extension AdjustmentRequest: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case total, extend
    }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.strictContainer(keyedBy: CodingKeys.self, besides: DryRun.members)
        if members.contains(.extend) {
            guard !members.contains(.total) else {
                throw decoder.refusal(.requestFieldConflict, at: CodingKeys.extend)
            }
            guard try members.decode(Bool.self, forKey: .extend) else {
                throw decoder.refusal(.requestInvalidField, at: CodingKeys.extend)
            }
            self = .extend
        } else {
            let total = try members.decode(Money.self, forKey: .total)
            try total.checkPositive(decoder, at: CodingKeys.total)
            self = .total(total)
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .total(let total): try members.encode(total, forKey: .total)
        case .extend: try members.encode(true, forKey: .extend)
        }
    }
}

/// Body of `POST /v1/transactions/{id}/releases`: gives up what the payment holds, or a part of it.
public struct ReleaseRequest: Equatable, Sendable {
    /// `nil` for all that remains.
    public var amount: Money?

    public init(amount: Money? = nil) { self.amount = amount }
}

extension ReleaseRequest: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case amount
    }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.strictContainer(keyedBy: CodingKeys.self, besides: DryRun.members)
        amount = members.contains(.amount) ? try members.decode(Money.self, forKey: .amount) : nil
        try amount?.checkPositive(decoder, at: CodingKeys.amount)
    }
}

/// Body of `POST /v1/operations/{id}/resolution`: how an operation ended, by the word of an administrator.
public struct ResolutionRequest: Equatable, Sendable {
    public enum Outcome: String, Codable, CaseIterable, Sendable {
        case done, refused
    }

    public var outcome: Outcome
    /// From where that is known, for whoever asks later.
    public var evidence: String

    public init(_ outcome: Outcome, evidence: String) {
        self.outcome = outcome
        self.evidence = evidence
    }
}

extension ResolutionRequest: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case outcome, evidence
    }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.strictContainer(keyedBy: CodingKeys.self)
        outcome = try members.decode(Outcome.self, forKey: .outcome)
        evidence = try members.decode(String.self, forKey: .evidence)
        guard evidence.isNote else { throw decoder.refusal(.requestInvalidField, at: CodingKeys.evidence) }
    }
}

extension Money {
    func checkPositive(_ decoder: any Decoder, at key: any CodingKey) throws {
        guard value > 0 else { throw decoder.refusal(.amountTotalNotPositive, at: key) }
        guard value <= Limits.amount else { throw decoder.refusal(.amountTooLarge, at: key) }
    }
}
