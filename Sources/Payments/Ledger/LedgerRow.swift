// SPDX-License-Identifier: Apache-2.0
public import PaymentValues

/// What a row of the ledger stands for. Rows are added and never altered.
public enum LedgerEntry: String, Codable, CaseIterable, Sendable {
    /// The issuer holds a sum that the shop may capture.
    case authorised
    /// The sum that is held became another one.
    case adjusted
    /// The shop was promised money: all of a payment without a capture of its own, or what a capture took.
    case captured
    /// Held, and given up by the shop.
    case released
    /// Held, and no longer capturable because its time is over.
    case expired
    /// Taken back as a whole. Booked when the reversal begins: from then on the payment has not taken place for the shop.
    case reversed
    /// Given back to the customer.
    case refunded
    /// Handed to the payment service in a batch: what became of it is in that service's books.
    case delivered
    /// Put right by an administrator.
    case corrected
}

/// One row of the ledger. `(payment, operation, entry)` is unique, so the same fact cannot be booked twice.
public struct LedgerRow: Hashable, Sendable {
    public let payment: TransactionID
    /// What caused the row; `nil` where the payment itself did.
    public let operation: OperationID?
    public let entry: LedgerEntry
    /// By how much the sum held by the issuer changes, in minor units of the payment's currency.
    public let hold: Int64
    /// By how much the shop's money changes, in minor units of the payment's currency.
    public let money: Int64

    public init(
        payment: TransactionID, operation: OperationID? = nil, entry: LedgerEntry, hold: Int64 = 0, money: Int64 = 0
    ) {
        self.payment = payment
        self.operation = operation
        self.entry = entry
        self.hold = hold
        self.money = money
    }
}

extension Collection<LedgerRow> {
    /// By how much rows change the sum held.
    public var hold: Int64 { reduce(0) { saturated($0, $1.hold) } }
    /// By how much they change the shop's money.
    public var money: Int64 { reduce(0) { saturated($0, $1.money) } }
}
