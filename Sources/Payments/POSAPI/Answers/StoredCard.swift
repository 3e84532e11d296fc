// SPDX-License-Identifier: Apache-2.0
public import PaymentValues

/// A card that the payment service keeps under its own name, as the POS gets it. The token is a payment secret of sorts: only
/// whoever may charge sees it.
public struct StoredCard: Codable, Equatable, Sendable {
    public enum State: String, Codable, CaseIterable, Sendable {
        case active
        /// No charge any more; the payment service has not acknowledged the deletion yet.
        case deleting
        case deleted
    }

    public var id: StoredCardID
    public var state: State
    public var mode: Mode
    public var card: MaskedCard
    /// `YYYY-MM`, where the payment service says so.
    public var expires: String?
    /// The transaction that stored it first.
    public var transaction: TransactionID
    public var createdAt: Timestamp
    /// When the payment service acknowledged the deletion.
    public var deletedAt: Timestamp?
    /// Oldest first, ended ones included: they are the proof.
    public var agreements: [Agreement]

    public init(
        id: StoredCardID, state: State, mode: Mode, card: MaskedCard, expires: String? = nil,
        transaction: TransactionID, createdAt: Timestamp, deletedAt: Timestamp? = nil, agreements: [Agreement] = []
    ) {
        self.id = id
        self.state = state
        self.mode = mode
        self.card = card
        self.expires = expires
        self.transaction = transaction
        self.createdAt = createdAt
        self.deletedAt = deletedAt
        self.agreements = agreements
    }

    /// For whoever may not charge.
    public var withoutToken: StoredCard {
        var stored = self
        stored.card = card.withoutToken
        return stored
    }
}

/// Answer of `GET /v1/credentials`.
public struct StoredCardList: Codable, Equatable, Sendable {
    public var credentials: [StoredCard]

    public init(_ credentials: [StoredCard]) { self.credentials = credentials }
}

/// A transaction of the card that was looked up, before this one.
public struct EarlierTransaction: Codable, Equatable, Sendable {
    public var id: TransactionID
    public var type: TransactionType
    public var state: TransactionState
    public var amount: Money
    public var order: String?
    public var at: Timestamp
    /// Minor units that can be given back, and that are held.
    public var refundable: Int64?
    public var remaining: Int64?

    public init(_ transaction: Transaction) {
        id = transaction.id
        type = transaction.type
        state = transaction.state
        amount = transaction.amount
        order = transaction.order
        at = transaction.createdAt
        refundable = transaction.account?.refundable
        remaining = transaction.account?.remaining
    }
}
