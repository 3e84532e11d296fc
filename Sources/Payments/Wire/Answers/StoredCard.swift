// SPDX-License-Identifier: Apache-2.0
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

/// What a customer has agreed to, with its proof.
public struct Agreement: Codable, Equatable, Sendable {
    public enum End: String, Codable, CaseIterable, Sendable {
        /// By the wish of the shop or the customer.
        case ended
        /// The payment service said that this card is not to be charged again.
        case stopped
        /// The card was not stored after all.
        case notGiven
        /// With the stored card.
        case deleted
    }

    public var id: AgreementID
    public var kind: AgreementTerms.Kind
    public var text: String
    /// SHA-256 of the text in UTF-8, in lower-case hexadecimal: the audit chain has it, too.
    public var hash: String
    public var language: String
    public var maximum: Money?
    public var until: Timestamp?
    public var cycle: AgreementTerms.Cycle?
    /// Written before the card was read.
    public var agreedAt: Timestamp
    public var transaction: TransactionID?
    public var endedAt: Timestamp?
    public var end: End?

    public init(
        _ id: AgreementID, _ terms: AgreementTerms, hash: String, agreedAt: Timestamp, transaction: TransactionID? = nil
    ) {
        self.id = id
        kind = terms.kind
        text = terms.text
        self.hash = hash
        language = terms.language
        maximum = terms.maximum
        until = terms.until
        cycle = terms.cycle
        self.agreedAt = agreedAt
        self.transaction = transaction
    }
}

extension Agreement {
    /// What was agreed to, without what became of it.
    public var terms: AgreementTerms {
        AgreementTerms(kind, text: text, language: language, maximum: maximum, until: until, cycle: cycle)
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
