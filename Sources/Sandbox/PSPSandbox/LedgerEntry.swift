// SPDX-License-Identifier: Apache-2.0
public import PSPAPI
public import PaymentValues

/// One transaction in the sandbox's books. Never more of a card than its mask. It has a stored property for each figure and
/// each fact that a test looks at.
public struct LedgerEntry: Codable, Equatable, Sendable {
    public enum State: String, Codable, Sendable {
        case approved, declined
        /// Fully taken back.
        case reversed
    }

    public var id: TransactionID
    public var type: AuthorizationRequest.Kind
    public var amount: Money
    /// The card had approved by itself, with or without having been stored.
    public var offline: Bool
    public var card: MaskedCard
    public var state: State
    public var responseCode: String?
    /// Why it was declined before the amount table was looked at: the name of the check.
    public var failedCheck: String?
    /// What the test issuer says: `verified`, `wrongCryptogram`, `unknownCard`, `missing`.
    public var cryptogram: String?
    /// Minor units that were authorised, adjustments included, whatever became of them.
    public var authorised: Int64 = 0
    public var reversed: Int64 = 0
    /// Held now, for a capture.
    public var held: Int64 = 0
    /// Taken by captures, or by an approval that needs none. Tips are part of it.
    public var captured: Int64 = 0
    public var tips: Int64 = 0
    /// Held once, and given up by a release or a final capture.
    public var released: Int64 = 0
    /// Given back by refunds that name this transaction.
    public var refunded: Int64 = 0
    /// What has moved and was not taken back: above zero to the shop, below zero to the customer.
    public var money: Int64 = 0
    /// Until when the sum is held, and how much may be captured in all.
    public var captureBefore: Timestamp?
    public var maximumCapture: Int64?
    /// In the order in which they were carried out or declined.
    public var operations: [LedgerOperation] = []
    /// Whether a whole, proper answer was given to a client that was still there.
    public var answered = false

    init(_ request: AuthorizationRequest) {
        id = request.id
        type = request.type
        amount = request.amount
        card = request.card
        offline = request.offline
        state = .declined
    }

    /// A charge of a stored card.
    ///
    /// - Parameter card: `nil` for one that nobody has stored.
    init?(_ request: ChargeRequest, card: MaskedCard?) {
        let unknown = MaskedCard(scheme: "Unknown", last4: "0000", masked: "************0000")
        guard let card = card?.withoutToken ?? unknown else { return nil }
        id = request.id
        type = .sale
        amount = request.amount
        self.card = card
        offline = false
        state = .declined
    }

    /// A sale that no authorisation has asked for.
    init(id: TransactionID, amount: Money, card: MaskedCard) {
        (self.id, self.amount, self.card) = (id, amount, card)
        type = .sale
        offline = false
        state = .declined
    }

    /// What the card holder would find on the account: held or moved, and not taken back.
    public var outstanding: Int64 { held + (type == .refund ? -money : money) }

    /// As the service's `account` has it.
    var account: ServiceAccount {
        ServiceAccount(
            currency: amount.currency, authorised: authorised, captured: captured, released: released,
            refunded: refunded)
    }
}

/// A capture, an adjustment, a release or a linked refund in the sandbox's books.
public struct LedgerOperation: Codable, Equatable, Sendable {
    public enum Kind: String, Codable, Sendable {
        case capture = "completion", adjustment, extend, release, refund
    }

    public var id: OperationID
    public var kind: Kind
    /// The new total of an adjustment; 0 for `extend`.
    public var amount: Int64
    public var answer: AdapterOperationAnswer
    /// A refund that was taken back.
    public var reversed = false
    /// Pending until then, for whoever asks.
    public var visibleFrom: Timestamp?
    public var answered = false

    init(id: OperationID, kind: Kind, amount: Int64, answer: AdapterOperationAnswer) {
        self.id = id
        self.kind = kind
        self.amount = amount
        self.answer = answer
    }

    /// Money or a hold has changed by it.
    public var isCarriedOut: Bool { answer.outcome == .approved || answer.outcome == .partial }
}
