// SPDX-License-Identifier: Apache-2.0
public import PaymentValues

/// Why a payment has no end that anybody could prove: a person has to look after it.
public enum OpenReason: String, Codable, CaseIterable, Sendable {
    /// The payment service that was asked is not configured any more; no other one is asked.
    case otherService
    /// The service says that it has never seen what was sent to it.
    case neverSeen
    /// The service does not acknowledge a reversal.
    case unacknowledged
    /// The service gives no usable answer about a stored payment that was sent to it.
    case unanswered
    /// The service does not know a stored payment that was sent to it, and may have forgotten its key by now.
    case keyLifeOver
    /// The service refuses a stored payment that it says it has never seen before: it may have booked it the first time.
    case refusedAfterDoubt
    /// A stored payment's record does not hold.
    case recordAltered

    /// What happened and what is to be done, in words.
    public var code: ErrorCode {
        switch self {
        case .otherService: .openItemOtherService
        case .neverSeen: .openItemNeverSeen
        case .unacknowledged: .openItemUnacknowledged
        case .unanswered: .openItemUnanswered
        case .keyLifeOver: .openItemKeyLifeOver
        case .refusedAfterDoubt: .openItemRefusedAfterDoubt
        case .recordAltered: .queueRecordAltered
        }
    }
}

/// A payment that nobody can end by proof, for a person.
public struct OpenItem: Codable, Equatable, Sendable {
    public var transaction: TransactionID
    public var type: TransactionType
    public var mode: Mode
    public var state: TransactionState
    public var reason: OpenReason
    /// Since when it is open.
    public var since: Timestamp
    public var createdAt: Timestamp
    /// What may be charged.
    public var amount: Money
    public var order: String?
    public var card: MaskedCard?
    /// Where it may be charged; missing for what an earlier version of nfc-tap has begun.
    public var service: AskedService?
    /// The payment service's own name for the payment, where it has given one.
    public var pspReference: String?
    /// What happened, and what is to be done.
    public var error: ErrorDetail

    public init(_ transaction: Transaction, _ reason: OpenReason, since: Timestamp, service: AskedService?) {
        self.transaction = transaction.id
        type = transaction.type
        mode = transaction.mode
        state = transaction.state
        self.reason = reason
        self.since = since
        createdAt = transaction.createdAt
        amount = transaction.amount
        order = transaction.order
        card = transaction.card
        self.service = service
        pspReference = transaction.result?.pspReference
        error = ErrorDetail(reason.code, transaction: transaction.id)
    }
}

/// Answer of `GET /v1/open-items`, the oldest first.
public struct OpenItemList: Codable, Equatable, Sendable {
    /// All of them, be they listed or not.
    public var count: Int
    /// At most `Limits.openItems`.
    public var items: [OpenItem]

    public init(count: Int, items: [OpenItem]) {
        self.count = count
        self.items = items
    }
}

/// How many open items there are, without a look into them.
public struct OpenItemExtent: Codable, Equatable, Sendable {
    public var count: Int
    /// Since when the oldest is open.
    public var oldest: Timestamp?

    public init(count: Int, oldest: Timestamp?) {
        self.count = count
        self.oldest = oldest
    }
}

/// What a person has found out about an open item, at the payment service itself.
public struct Settlement: Codable, Equatable, Sendable {
    public enum Outcome: String, Codable, CaseIterable, Sendable {
        /// The customer is charged, and stays so.
        case charged
        case notCharged
    }

    public var outcome: Outcome
    /// How much was charged, where that person has said so.
    public var amount: Money?
    public var at: Timestamp
    /// Who said so.
    public var uid: UInt32
    public var note: String
    /// When the payment service said the contrary afterwards, of which nothing follows by itself.
    public var contradictedAt: Timestamp?

    public init(_ outcome: Outcome, amount: Money? = nil, at: Timestamp, uid: UInt32, note: String) {
        self.outcome = outcome
        self.amount = amount
        self.at = at
        self.uid = uid
        self.note = note
    }

    private enum CodingKeys: String, CodingKey {
        case outcome = "as"
        case amount, at, uid, note, contradictedAt
    }
}
