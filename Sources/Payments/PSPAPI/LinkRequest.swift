// SPDX-License-Identifier: Apache-2.0
public import PaymentValues

/// Body of the adapter's `POST /v1/links` and `POST /v1/handovers`. `Idempotency-Key` is the transaction's id. No name or address is in it,
/// and no card but a sealed one.
public struct LinkRequest: Codable, Equatable, Sendable {
    public var id: TransactionID
    public var mode: Mode
    public var amount: Money
    /// The terminal in whose day the payment is, as authorisations name it.
    public var terminal: String
    public var expiresAt: Timestamp
    public var order: String?
    /// Of what the customer reads, BCP 47.
    public var language: String?
    /// The sale that ended without money before.
    public var retryOf: TransactionID?
    /// With a hand-over: the terminal that is to take the payment, as the health answer names it.
    public var to: String?
    /// What the card of `retryOf` gave before it declined for want of a PIN, where the service goes on with that.
    public var read: KeptRead?

    public init(
        id: TransactionID, mode: Mode, amount: Money, terminal: String, expiresAt: Timestamp, order: String? = nil,
        language: String? = nil, retryOf: TransactionID? = nil, to: String? = nil
    ) {
        self.id = id
        self.mode = mode
        self.amount = amount
        self.terminal = terminal
        self.expiresAt = expiresAt
        self.order = order
        self.language = language
        self.retryOf = retryOf
        self.to = to
    }
}

/// What the adapter says of a link or a hand-over, whatever it was asked.
public struct LinkAnswer: Codable, Equatable, Sendable {
    public enum State: String, Codable, CaseIterable, Sendable {
        case open, paid
        /// Both for ever: from then on nobody can pay it.
        case expired, cancelled
        /// As well, of a hand-over: the terminal has read a card, and its payment was declined.
        case declined
    }

    public var id: TransactionID
    public var state: State
    /// While it is open.
    public var url: String?
    /// Once it is paid or declined: as an authorisation is answered.
    public var payment: AuthorizationAnswer?
    /// The card that has paid or was declined, where it was one.
    public var card: MaskedCard?

    public init(id: TransactionID, state: State) {
        self.id = id
        self.state = state
    }
}
