// SPDX-License-Identifier: Apache-2.0
public import PaymentValues

/// The whole truth about one transaction, as the POS gets it. It has a stored property for each member.
public struct Transaction: Equatable, Sendable {
    /// The lane of what is on none; no lane can have this name.
    public static let noLane = "-"

    /// A state and when it was reached.
    public struct Step: Codable, Equatable, Sendable {
        public var state: TransactionState
        public var at: Timestamp

        public init(state: TransactionState, at: Timestamp) {
            self.state = state
            self.at = at
        }
    }

    public var id: TransactionID
    public var type: TransactionType
    public var mode: Mode
    public var state: TransactionState
    public var lane: String
    /// `.none` for a read of passes, whose JSON has no such member.
    public var amount: Money
    public var order: String?
    public var createdAt: Timestamp
    public var updatedAt: Timestamp
    public var card: MaskedCard?
    /// What the request said beyond the amount.
    public var details: TransactionDetails?
    /// What the card's chip said, once a card was read.
    public var chip: ChipData?
    /// Present once the payment has an end, known or unknown.
    public var result: PaymentResult?
    /// What became of the wish for passes: while the transaction is live and for a minute after its end.
    public var loyalty: LoyaltyResult?
    /// Present in state `failed`, and where an error led to a reversal.
    public var error: ErrorDetail?
    /// Present in state `cancelled`.
    public var cancelledBy: Canceller?
    /// In states `failed` and `cancelled`: what the card or phone had asked of the customer last, if that was not done.
    public var message: CardholderMessage?
    /// Present where the POS asked for a two-step close and the payment was approved.
    public var confirmation: Confirmation?
    /// Present where a person has said how it ended, since nobody could prove it.
    public var settlement: Settlement?
    /// Its place among all transactions of the installation: given once, and growing.
    public var number: Int64?
    /// With a linked refund: the payment that it gives back.
    public var of: TransactionID?
    /// The transaction after whose decline or failure this one was made.
    public var retryOf: TransactionID?
    public var cashier: String?
    /// Whose it is, where a gateway speaks for a till.
    public var till: TillName?
    /// Of a purchase that was approved: what became of its money.
    public var account: PaymentAccount?
    /// With a verification that has stored a card; missing where the payment service gave no token.
    public var credential: StoredCard?
    /// With a look-up: the newest transactions of the same card before it.
    public var earlier: [EarlierTransaction]?
    /// Where the customer pays, while a link is open; it is the payment service's and in no journal.
    public var link: OpenLink?
    /// The payment service opens links: said in `alternatives`, and nowhere else.
    public var offersLink = false
    /// To these it hands a sale: said there, too.
    public var offeredTerminals: [String] = []
    /// Every state so far, oldest first.
    public var history: [Step]
    /// The events about it that are still kept, oldest first; in the answer to a question about one transaction.
    public var events: [Event]?

    public init(
        id: TransactionID, type: TransactionType, mode: Mode, lane: String, amount: Money, order: String? = nil,
        createdAt: Timestamp
    ) {
        self.id = id
        self.type = type
        self.mode = mode
        state = .created
        self.lane = lane
        self.amount = amount
        self.order = order
        self.createdAt = createdAt
        updatedAt = createdAt
        history = [Step(state: .created, at: createdAt)]
    }
}

/// Answer of `GET /v1/transactions`.
public struct TransactionList: Codable, Equatable, Sendable {
    public var transactions: [Transaction]
    /// What `after` is to be for the transactions that follow; missing where there are none.
    public var next: String?
    /// What `changedAfter` is to be for what changes from now on.
    public var changes: Int64?

    public init(transactions: [Transaction], next: String? = nil, changes: Int64? = nil) {
        self.transactions = transactions
        self.next = next
        self.changes = changes
    }
}

/// Answer of `DELETE /v1/transactions/{id}`.
public struct CancelAnswer: Codable, Equatable, Sendable {
    public enum Outcome: String, Codable, CaseIterable, Sendable {
        case cancelled, tooLate, nothingToCancel
    }

    public var outcome: Outcome
    /// The state that made it too late.
    public var phase: TransactionState?
    /// After `sent`: the payment is taken back if it turns out to be approved.
    public var becomesReversal: Bool?
    public var transaction: Transaction

    public init(
        outcome: Outcome, phase: TransactionState? = nil, becomesReversal: Bool? = nil, transaction: Transaction
    ) {
        self.outcome = outcome
        self.phase = phase
        self.becomesReversal = becomesReversal
        self.transaction = transaction
    }
}

/// Answer of `DELETE /v1/transactions?key=K`.
public struct KeyCancelAnswer: Codable, Equatable, Sendable {
    public var outcome: CancelAnswer.Outcome
    /// The state that made it too late.
    public var phase: TransactionState?
    /// After `sent`: the payment is taken back if it turns out to be approved.
    public var becomesReversal: Bool?
    /// No request with the key has come, and none that comes can begin.
    public var neverBegan: Bool?
    /// Missing with `neverBegan`.
    public var transaction: Transaction?

    /// The key's transaction was there.
    public init(_ answer: CancelAnswer) {
        (outcome, phase, becomesReversal) = (answer.outcome, answer.phase, answer.becomesReversal)
        transaction = answer.transaction
    }

    private init() { (outcome, neverBegan) = (.cancelled, true) }

    /// The key has no transaction, and gets none.
    public static var nothingBegan: KeyCancelAnswer { KeyCancelAnswer() }
}
