// SPDX-License-Identifier: Apache-2.0
public import Ledger
public import PaymentValues

/// An operation on a payment that is to be written down for the first time.
public struct NewOperation: Equatable, Sendable {
    public enum Request: Equatable, Sendable {
        /// `nil` for all that remains.
        case capture(amount: Int64? = nil, tip: Int64 = 0, isFinal: Bool = true)
        /// The sum to be held from now on.
        case adjust(total: Int64)
        case extend
        /// `nil` for all that remains.
        case release(amount: Int64? = nil)
    }

    public var id: OperationID
    public var payment: TransactionID
    /// Who asked for it.
    public var owner: Principal
    /// Unique among the operations of one principal; keys of transactions are apart from them.
    public var idempotencyKey: String
    /// Digest of the POS's request, which tells a repetition from another request with the same key.
    public var requestHash: String
    public var wish: Request
    public var at: Timestamp

    public init(
        id: OperationID, payment: TransactionID, owner: Principal, idempotencyKey: String, requestHash: String,
        wish: Request, at: Timestamp
    ) {
        self.id = id
        self.payment = payment
        self.owner = owner
        self.idempotencyKey = idempotencyKey
        self.requestHash = requestHash
        self.wish = wish
        self.at = at
    }
}

/// Why a person has to look after an operation.
public enum OperationAttention: String, CaseIterable, Sendable {
    /// No answer, and the payment service may have forgotten its key: it is asked about, and never sent again.
    case stuck
    /// The payment service's figures are not those of the ledger.
    case figuresDiffer
    /// The payment service has said the contrary of its first final answer.
    case contradiction
}

/// What the journal holds of an operation.
///
/// Its columns are what has to be known for sending it again and for telling it: none follows from the others.
public struct OperationRecord: Equatable, Sendable {
    public struct Step: Equatable, Sendable {
        public var state: OperationState
        public var at: Timestamp
    }

    /// Id, what is wanted, and the state.
    public var operation: Ledger.Operation
    public var payment: TransactionID
    public var currency: Currency
    public var owner: Principal
    public var requestHash: String
    /// What is sent to the payment service, byte for byte the same each time.
    public var request: String
    /// What it answered.
    public var result: String?
    public var error: ErrorDetail?
    /// How often it was sent.
    public var attempts: Int
    /// When it is looked after next; `nil` once it has an end.
    public var due: Timestamp?
    public var attention: OperationAttention?
    public var attentionSince: Timestamp?
    public var createdAt: Timestamp
    public var updatedAt: Timestamp
    /// Every state so far, oldest first.
    public var history: [Step]

    public var id: OperationID { operation.id }
    public var state: OperationState { operation.state }
}

/// What came of `Journal.createOperation`.
public enum OperationCreation: Equatable, Sendable {
    case created(OperationRecord)
    /// The same principal has used this key for the same request.
    case repeated(OperationRecord)
    /// The same principal has used this key for another request.
    case keyReused(OperationID)
    /// The same principal has used this key, and what became of it has been erased because its time was over.
    case erased
    /// The books do not allow it. Nothing was written.
    case refused(LedgerRefusal)
    /// No purchase of this journal.
    case unknownPayment
    /// What would be sent cannot be put into words. Nothing was written.
    case withoutRequest
}

/// What came of `Journal.endOperation`.
public enum OperationEnding: Equatable, Sendable {
    /// Written down, with its rows.
    case booked(OperationRecord)
    /// The same answer again.
    case repeated(OperationRecord)
    /// The opposite of the answer that came first, or an answer about nothing: a person has to look at it.
    case contradicted(OperationRecord)
}

/// What came of `Journal.createRefund`.
public enum RefundCreation: Equatable, Sendable {
    case created(number: Int64, amount: Money)
    /// As for every transaction: a repetition, or a key that was used for something else.
    case known(Creation)
    case refused(LedgerRefusal)
    /// No purchase of this journal and mode.
    case originalUnknown
    /// The payment is of another currency.
    case otherCurrency(Currency)
}

/// What came of `Journal.beginWishedReversal`.
public enum ReversalBeginning: Equatable, Sendable {
    /// What it was in the moment before.
    case begun(JournalRecord)
    case notApproved
    case refused(LedgerRefusal)
}
