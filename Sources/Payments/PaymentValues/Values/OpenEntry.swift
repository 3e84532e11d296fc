// SPDX-License-Identifier: Apache-2.0
/// What has no end yet, or does not add up.
public struct OpenEntry: Codable, Equatable, Sendable {
    public enum Kind: String, Codable, CaseIterable, Sendable {
        /// No answer yet.
        case sent, unknown
        /// Being taken back, not acknowledged.
        case reversing
        /// Not forwarded, or in a batch without a receipt.
        case stored, inBatch
        /// In the payment service's books, how it ended is not known here.
        case handedOver
        /// Held, and not captured.
        case uncaptured
        /// The till has to confirm it.
        case unconfirmed
        case unknownOperation, unknownRefund
        /// No answer, and nothing is sent any more.
        case stuck
        /// The payment service's figures are others, or it has said one thing and then the contrary.
        case figuresDiffer, contradiction
    }

    public var transaction: TransactionID
    /// Number of the transaction, as lists and receipts show it.
    public var number: Int64?
    public var operation: OperationID?
    public var kind: Kind
    public var amount: Money
    public var since: Timestamp
    /// With `uncaptured`: until when the sum is held, if the payment service has said so.
    public var before: Timestamp?
    public var attempts: Int?

    public init(
        _ kind: Kind, _ transaction: TransactionID, operation: OperationID? = nil, amount: Money, since: Timestamp,
        before: Timestamp? = nil, attempts: Int? = nil
    ) {
        self.kind = kind
        self.transaction = transaction
        self.operation = operation
        self.amount = amount
        self.since = since
        self.before = before
        self.attempts = attempts
    }
}
