// SPDX-License-Identifier: Apache-2.0
public import PaymentValues

/// Something that happened, as `GET /v1/events` sends it and a transaction lists it.
/// It has a stored property for each member.
public struct Event: Codable, Equatable, Sendable {
    /// Cursor: grows with every event, also over restarts. `Last-Event-ID` takes it.
    public var id: UInt64
    public var name: EventName
    public var at: Timestamp
    public var lane: String?
    public var transaction: TransactionID?
    /// Whose transaction it is, where a gateway speaks for a till.
    public var till: TillName?
    /// With `tap.…`, `session.…`, and `loyalty.result` of a lane that stands alone: number of the tap on its lane.
    public var tap: Int64?
    /// With `tap.refused`.
    public var refused: TapRefusal?
    /// With `session.…`: the machine's own name for it.
    public var reference: String?
    /// With `operation.…` and `books.attention`.
    public var operation: OperationID?
    public var kind: OperationKind?
    /// With `card.…`.
    public var credential: StoredCardID?
    /// What is to be paid, with `read.readyForTap` and `link.opened`; what is held or was taken, with `tap.…` and `session.…`.
    public var amount: Money?
    /// With `link.opened`: where the customer pays, and until when.
    public var link: OpenLink?
    /// With `link.opened`: the transaction after whose decline or failure the link was made.
    public var retryOf: TransactionID?
    /// With `day.…`, and `books.attention` about a day: its number.
    public var day: Int64?
    /// 1…100, with `prepare.progress` once it is known how far the preparation is.
    public var percent: Int?
    /// With `prepare.progress`: why the lane is being prepared, and what comes next; the last one has no `step`.
    public var reason: PrepareReason?
    public var step: PrepareStep?
    /// With `read.cancelled`.
    public var by: Canceller?
    /// What went wrong, with `read.retry`, `read.notCompleted` and the like.
    public var error: ErrorDetail?
    public var card: MaskedCard?
    /// With the `payment.…` events that end a payment.
    public var result: PaymentResult?
    /// With `loyalty.result`, without the passes.
    public var loyalty: LoyaltyResult?
    /// What the card asks of the customer while it is read, with `read.…` events.
    public var message: CardholderMessage?
    /// What the customer should do, with `read.retry` while passes are read.
    public var customerAction: LoyaltyResult.CustomerAction?
    /// What to say to the customer, in the language of the request, with `read.readyForTap`, `read.retry`,
    /// `read.removeCard` and `link.opened`, and wherever `message` is.
    public var customerText: String?
    /// With `pin.…`.
    public var pin: PINNotice?
    /// With `terms.changed`.
    public var terms: Status.Terms?
    public var mode: Mode?

    public init(id: UInt64 = 0, _ name: EventName, at: Timestamp = .now, lane: String? = nil) {
        self.id = id
        self.name = name
        self.at = at
        self.lane = lane
    }

    /// About a transaction.
    ///
    /// - Parameter lane: `nil` for that of the transaction.
    public init(_ name: EventName, about transaction: Transaction, at: Timestamp = .now, lane: String? = nil) {
        self.init(name, at: at, lane: lane ?? transaction.lane)
        self.transaction = transaction.id
        till = transaction.till
    }

    /// The same event for those who may not see results.
    public var withoutResult: Event {
        var event = self
        event.card = nil
        event.result = nil
        event.loyalty = nil
        event.amount = nil
        event.link = nil
        event.credential = nil
        return event
    }
}

extension Event {
    /// As the compiler would write it, but that what is absent, as most of it is in any event, costs nothing.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(id, forKey: .id)
        try members.encode(name, forKey: .name)
        try members.encode(at, forKey: .at)
        if let lane { try members.encode(lane, forKey: .lane) }
        if let transaction { try members.encode(transaction, forKey: .transaction) }
        if let till { try members.encode(till, forKey: .till) }
        if let tap { try members.encode(tap, forKey: .tap) }
        if let refused { try members.encode(refused, forKey: .refused) }
        if let reference { try members.encode(reference, forKey: .reference) }
        if let operation { try members.encode(operation, forKey: .operation) }
        if let kind { try members.encode(kind, forKey: .kind) }
        if let credential { try members.encode(credential, forKey: .credential) }
        if let amount { try members.encode(amount, forKey: .amount) }
        if let link { try members.encode(link, forKey: .link) }
        if let retryOf { try members.encode(retryOf, forKey: .retryOf) }
        if let day { try members.encode(day, forKey: .day) }
        if let percent { try members.encode(percent, forKey: .percent) }
        if let reason { try members.encode(reason, forKey: .reason) }
        if let step { try members.encode(step, forKey: .step) }
        if let by { try members.encode(by, forKey: .by) }
        if let error { try members.encode(error, forKey: .error) }
        if let card { try members.encode(card, forKey: .card) }
        if let result { try members.encode(result, forKey: .result) }
        if let loyalty { try members.encode(loyalty, forKey: .loyalty) }
        if let message { try members.encode(message, forKey: .message) }
        if let customerAction { try members.encode(customerAction, forKey: .customerAction) }
        if let customerText { try members.encode(customerText, forKey: .customerText) }
        if let pin { try members.encode(pin, forKey: .pin) }
        if let terms { try members.encode(terms, forKey: .terms) }
        if let mode { try members.encode(mode, forKey: .mode) }
    }
}

extension Event {
    /// What a till hears of another's transaction: that somebody uses the lane. `nil` for what happens elsewhere.
    public var ofSomebody: Event? {
        guard name.rawValue.hasPrefix("read."), lane != Transaction.noLane else { return nil }
        var event = Event(id: id, name, at: at, lane: lane)
        event.mode = mode
        return event
    }

    /// The same event as it is published.
    public var withoutPasses: Event {
        var event = self
        event.loyalty = loyalty?.withoutPasses
        return event
    }
}

/// On whose wish a transaction was cancelled.
public enum Canceller: String, Codable, CaseIterable, Sendable {
    case client, disconnect, administrator, shutdown
    /// At the PIN device.
    case customer
    /// At the lane, of what a backend far away had begun.
    case cashier
}
