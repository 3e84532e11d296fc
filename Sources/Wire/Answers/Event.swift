// SPDX-License-Identifier: Apache-2.0
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
    /// With `operation.…` and `books.attention`.
    public var operation: OperationID?
    public var kind: OperationKind?
    /// With `card.…`.
    public var credential: StoredCardID?
    /// What is to be paid, with `read.readyForTap` and `link.opened`.
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
    /// With `loyalty.result`; the passes in it are sent once and not kept for a later `Last-Event-ID`.
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
}
