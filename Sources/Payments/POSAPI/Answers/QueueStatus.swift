// SPDX-License-Identifier: Apache-2.0
public import PaymentValues

/// Answer of `GET /v1/queue`: what is stored and not answered yet.
public struct QueueStatus: Codable, Equatable, Sendable {
    /// One payment that waits.
    public struct Entry: Codable, Equatable, Sendable {
        public var transaction: TransactionID
        public var state: TransactionState
        public var amount: Money
        public var card: MaskedCard?
        public var storedAt: Timestamp
        /// How often it was forwarded without an answer.
        public var attempts: Int
        /// The open batch that it is in.
        public var batch: String?

        public init(
            transaction: TransactionID, state: TransactionState, amount: Money, card: MaskedCard?, storedAt: Timestamp,
            attempts: Int, batch: String?
        ) {
            self.transaction = transaction
            self.state = state
            self.amount = amount
            self.card = card
            self.storedAt = storedAt
            self.attempts = attempts
            self.batch = batch
        }
    }

    public var count: Int
    /// When the oldest was stored.
    public var oldest: Timestamp?
    /// The oldest waits for longer than the alert says.
    public var overdue: Bool
    /// One for each currency.
    public var totals: [Money]
    /// The payment service that payments are stored for.
    public var serviceName: String
    /// Until when payments are stored without another contact with the payment service.
    public var expires: Timestamp?
    /// Why none would be stored now, whatever the card and amount.
    public var refusal: ErrorDetail?
    public var openBatch: String?
    /// The oldest first, at most 100.
    public var entries: [Entry]

    public init(
        count: Int, oldest: Timestamp?, overdue: Bool, totals: [Money], serviceName: String, expires: Timestamp?,
        refusal: ErrorDetail?, openBatch: String?, entries: [Entry]
    ) {
        self.count = count
        self.oldest = oldest
        self.overdue = overdue
        self.totals = totals
        self.serviceName = serviceName
        self.expires = expires
        self.refusal = refusal
        self.openBatch = openBatch
        self.entries = entries
    }
}
