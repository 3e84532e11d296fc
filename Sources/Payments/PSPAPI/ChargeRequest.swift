// SPDX-License-Identifier: Apache-2.0
public import PaymentValues

/// What allows charges, as the payment service gets it. The text stays with the shop.
public struct AgreementProof: Codable, Equatable, Sendable {
    public var id: AgreementID
    public var kind: AgreementTerms.Kind
    /// SHA-256 of the text.
    public var hash: String
    public var agreedAt: Timestamp

    public init(_ agreement: Agreement) {
        id = agreement.id
        kind = agreement.kind
        hash = agreement.hash
        agreedAt = agreement.agreedAt
    }
}

/// Body of the adapter's `POST /v1/charges`. `Idempotency-Key` is the transaction's id; the answer is that of an
/// authorisation, and so is what follows it.
public struct ChargeRequest: Codable, Equatable, Sendable {
    public var id: TransactionID
    public var mode: Mode
    public var amount: Money
    /// The terminal in whose day the charge is, as authorisations name it.
    public var terminal: String
    public var token: String
    public var agreement: AgreementProof
    public var initiator: ChargeOptions.Initiator
    public var reason: ChargeOptions.Reason
    public var of: TransactionID?
    /// As the payment service gave it when the card was stored.
    public var networkReference: String?
    public var order: String?

    public init(
        id: TransactionID, mode: Mode, amount: Money, terminal: String, token: String, under agreement: Agreement,
        _ wish: ChargeOptions, networkReference: String? = nil, order: String? = nil
    ) {
        self.id = id
        self.mode = mode
        self.amount = amount
        self.terminal = terminal
        self.token = token
        self.agreement = AgreementProof(agreement)
        initiator = wish.initiator
        reason = wish.reason
        of = wish.of
        self.networkReference = networkReference
        self.order = order
    }
}

/// Body of the adapter's `POST /v1/token-deletions`. `Idempotency-Key` is the stored card's id.
public struct TokenDeletionRequest: Codable, Equatable, Sendable {
    public var id: StoredCardID
    public var mode: Mode
    public var token: String

    public init(id: StoredCardID, mode: Mode, token: String) {
        self.id = id
        self.mode = mode
        self.token = token
    }
}

/// The adapter's answer to a deletion: that it is done, or will be.
public struct TokenDeletionAnswer: Codable, Equatable, Sendable {
    public var id: StoredCardID

    public init(id: StoredCardID) { self.id = id }
}
