// SPDX-License-Identifier: Apache-2.0
public import PaymentValues

/// A business day: from one end of day to the next.
public struct BusinessDay: Codable, Equatable, Sendable {
    public enum State: String, Codable, CaseIterable, Sendable {
        case open, closed
        /// The payment service's figures are the same.
        case balanced
        case differs
        /// The payment service has not given its figures.
        case unconfirmed
    }

    public var id: String
    public var number: Int64
    /// What the shop calls it; missing while it is open.
    public var label: String?
    public var state: State
    public var openedAt: Timestamp
    public var closedAt: Timestamp?
    /// Who closed it.
    public var uid: UInt32?
    /// With a till that a gateway speaks for.
    public var till: TillName?

    public init(
        id: String, number: Int64, label: String? = nil, state: State, openedAt: Timestamp, closedAt: Timestamp? = nil,
        closedBy: Principal? = nil
    ) {
        self.id = id
        self.number = number
        self.label = label
        self.state = state
        self.openedAt = openedAt
        self.closedAt = closedAt
        (uid, till) = (closedBy?.uid, closedBy?.till)
    }
}

extension BusinessDay {
    /// Who closed it; `nil` for the open one.
    public var closedBy: Principal? {
        get { uid.map { Principal(uid: $0, till: till) } }
        set { (uid, till) = (newValue?.uid, newValue?.till) }
    }
}

/// Sums of the ledger that have the same mode, currency, and whatever else was asked for. It has a stored property for each
/// member.
public struct TotalsLine: Codable, Equatable, Sendable {
    public var mode: Mode
    public var currency: Currency
    public var scheme: String?
    public var type: TransactionType?
    public var lane: String?
    public var cashier: String?
    /// Tips included.
    public var captured = Figure()
    public var tips = Figure()
    /// Captured once and taken back: below zero.
    public var reversed = Figure()
    /// Below zero.
    public var refunded = Figure()
    /// Refunds that were taken back, and what a person has put right.
    public var corrected = Figure()
    /// Sums that issuers began to hold.
    public var held = Figure()
    /// Held sums that were given up: below zero.
    public var released = Figure()
    /// Handed to the payment service in a batch: how they ended is in its books.
    public var handedOver = Figure()
    /// The shop's money.
    public var net: Int64 = 0
    public var declined = 0
    public var cancelled = 0

    public init(mode: Mode, currency: Currency) {
        self.mode = mode
        self.currency = currency
    }
}

/// The shop's money in one mode and currency.
public struct NetSum: Codable, Equatable, Sendable {
    public var mode: Mode
    public var currency: Currency
    public var value: Int64

    public init(mode: Mode, currency: Currency, value: Int64) {
        self.mode = mode
        self.currency = currency
        self.value = value
    }
}

/// Answer of `GET /v1/totals`.
public struct Totals: Codable, Equatable, Sendable {
    /// Missing where the totals are of a span of time.
    public var day: BusinessDay?
    /// Sums by time, which no end of day can be compared with.
    public var byTime: Bool?
    public var lines: [TotalsLine]
    public var net: [NetSum]
    /// The oldest of what is open.
    public var open: [OpenEntry]
    /// How many those are in all.
    public var openCount: Int
    /// Closed days whose figures differ from the payment service's, or were never given, and that nobody has settled; the
    /// newest of them. Missing where there is none.
    public var days: [BusinessDay]?

    public init(
        day: BusinessDay? = nil, byTime: Bool? = nil, lines: [TotalsLine], net: [NetSum], open: [OpenEntry],
        openCount: Int, days: [BusinessDay]? = nil
    ) {
        self.days = days
        self.day = day
        self.byTime = byTime
        self.lines = lines
        self.net = net
        self.open = open
        self.openCount = openCount
    }
}

/// What totals are grouped by, besides mode and currency.
public enum TotalsGroup: String, CaseIterable, Sendable {
    case scheme, type, lane, cashier
}

/// A day that was closed, with its report as it was then. Answer of `POST /v1/days`.
public struct EndOfDay: Codable, Equatable, Sendable {
    public var day: BusinessDay
    public var totals: Totals
    /// Who runs the shop, for the report.
    public var merchant: Merchant?
    public var terminal: String?
    /// Where the payment service is asked for its figures; as things stand now.
    public var service: ServiceFigures?
    public var differences: [DayDifference]?
    /// Of figures that differ, or were never given.
    public var resolution: DayResolution?

    public init(day: BusinessDay, totals: Totals, merchant: Merchant? = nil, terminal: String? = nil) {
        self.day = day
        self.totals = totals
        self.merchant = merchant
        self.terminal = terminal
    }
}

/// Answer of `GET /v1/days`, newest first.
public struct DayList: Codable, Equatable, Sendable {
    public var days: [BusinessDay]

    public init(days: [BusinessDay]) { self.days = days }
}
