// SPDX-License-Identifier: Apache-2.0
public import PaymentValues

/// Body of `POST /v1/open-items/{id}/settlement`: how a payment ended that could not be ended by proof.
public struct SettlementRequest: Equatable, Sendable {
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

extension SettlementRequest: Codable {
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
