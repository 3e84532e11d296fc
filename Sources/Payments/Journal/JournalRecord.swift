// SPDX-License-Identifier: Apache-2.0
public import POSAPI
public import PSPAPI
public import PaymentValues
public import Transactions

/// A transaction that is to be written down for the first time. It has a stored property for each column that it fills.
public struct NewTransaction: Equatable, Sendable {
    public var id: TransactionID
    /// Who asked for it.
    public var owner: Principal
    /// Unique among those of one principal.
    public var idempotencyKey: String
    /// Digest of the request, which tells a repetition from another request with the same key.
    public var requestHash: String
    public var type: TransactionType
    public var mode: Mode
    public var lane: String
    public var amount: Money
    public var order: String?
    public var at: Timestamp
    public var details: TransactionDetails?
    /// Whom it is sent to, and nobody else.
    public var service: AskedService?
    /// With a purchase: whether the approval is the capture, or the shop captures later.
    public var capture: PaymentAccount.Capture?
    /// With a linked refund: the payment that it gives back. Set by `createRefund`.
    public internal(set) var of: TransactionID?
    public var retryOf: TransactionID?
    public var cashier: String?
    /// With a card that is to be stored: what its holder has agreed to, written before the card is read.
    public var agreement: Agreement?

    /// With what a backend far away asks for.
    public var remote: Remote?

    /// Where an order comes from, and what limits it.
    public struct Remote: Equatable, Sendable {
        /// Who has signed it, as the program says that passes it on.
        public var signer: String?
        public var key: String?
        /// The most of all such payments of 24 hours together, this one included, in minor units; `nil` for no limit.
        public var dayLimit: Int64?

        public init(signer: String?, key: String?, dayLimit: Int64?) {
            (self.signer, self.key, self.dayLimit) = (signer, key, dayLimit)
        }
    }

    public init(
        id: TransactionID, owner: Principal, idempotencyKey: String, requestHash: String, type: TransactionType,
        mode: Mode,
        lane: String, amount: Money, order: String?, at: Timestamp, details: TransactionDetails? = nil,
        service: AskedService? = nil
    ) {
        self.id = id
        self.owner = owner
        self.idempotencyKey = idempotencyKey
        self.requestHash = requestHash
        self.type = type
        self.mode = mode
        self.lane = lane
        self.amount = amount
        self.order = order
        self.at = at
        self.details = details
        self.service = service
        if type == .charge || type.isPaidElsewhere { capture = .automatic }
        if type == .purchase { capture = details?.isPreauthorization == true ? .manual : .automatic }
    }
}

/// What the journal holds of a transaction.
public struct JournalRecord: Equatable, Sendable {
    public var transaction: Transaction
    /// Who asked for it.
    public var owner: Principal
    public var requestHash: String
    /// What was or is to be sent to the adapter; gone once it has been answered.
    public var authorization: AuthorizationRequest?
    public var reversal: ReversalPlan?
    /// Whom it was, or is to be, sent to; `nil` for what an earlier version of this program has begun.
    public var service: AskedService?
    /// Why a person has to look after it.
    public var open: OpenReason?
    /// What the payment service has said of captures and refunds with its approval.
    public var terms: ServiceTerms?

    public init(
        transaction: Transaction, owner: Principal, requestHash: String, authorization: AuthorizationRequest? = nil,
        reversal: ReversalPlan? = nil, service: AskedService? = nil, open: OpenReason? = nil
    ) {
        self.transaction = transaction
        self.owner = owner
        self.requestHash = requestHash
        self.authorization = authorization
        self.reversal = reversal
        self.service = service
        self.open = open
    }
}

/// What came of `Journal.create`.
public enum Creation: Equatable, Sendable {
    /// With its number among all transactions of this journal, from 1.
    case created(number: Int64)
    /// The same principal has used this key for the same request.
    case repeated(TransactionID)
    /// The same principal has used this key for another request.
    case keyReused(TransactionID)
    /// The same principal has used this key, and what became of it has been erased because its time was over.
    case erased
    /// The same principal's key can begin nothing.
    case barred(KeyBar)
    /// With what backends have begun within 24 hours it is too much: so much may still be.
    case overDayLimit(Money)
}
