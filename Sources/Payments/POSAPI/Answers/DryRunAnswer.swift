// SPDX-License-Identifier: Apache-2.0
public import PaymentValues

/// Answer to a request with `"dryRun": true` that would be accepted. One that would not gets the error it would get.
public struct DryRunAnswer: Codable, Equatable, Sendable {
    public var dryRun = true
    public var mode: Mode
    public var type: TransactionType
    /// Where the card would be asked for.
    public var lane: String

    public init(mode: Mode, type: TransactionType, lane: String) {
        self.mode = mode
        self.type = type
        self.lane = lane
    }
}

/// Answer to an operation or a refund of a payment with `"dryRun": true` that would be accepted. Nothing was written down, and
/// the payment service was not asked.
public struct OperationDryRun: Codable, Equatable, Sendable {
    /// What would be asked of the payment service.
    public enum Kind: String, Codable, CaseIterable, Sendable {
        case capture, adjustment, release, refund
    }

    public var dryRun = true
    public var mode: Mode
    public var transaction: TransactionID
    public var kind: Kind
    /// With an adjustment the sum to be held; missing where only more time is asked for.
    public var amount: Money?
    /// The account as it would be once the payment service has done it.
    public var account: PaymentAccount

    public init(mode: Mode, transaction: TransactionID, kind: Kind, amount: Money?, account: PaymentAccount) {
        self.mode = mode
        self.transaction = transaction
        self.kind = kind
        self.amount = amount
        self.account = account
    }
}
