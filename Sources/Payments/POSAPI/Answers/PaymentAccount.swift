// SPDX-License-Identifier: Apache-2.0
public import PaymentValues

/// What became of a payment's money: every figure is a sum over its rows of the ledger, in minor units of `currency`.
public struct PaymentAccount: Hashable, Codable, Sendable {
    public enum State: String, Codable, CaseIterable, Sendable {
        /// The issuer still holds something that can be captured.
        case open
        case captured
        case released
        case expired
        case reversed
        /// All that was captured has been given back.
        case refunded
        case partiallyRefunded
    }

    public enum Capture: String, Codable, CaseIterable, Sendable {
        /// Taken with the approval.
        case automatic
        /// Held with the approval; the shop captures it.
        case manual
    }

    public var currency: Currency
    public var capture: Capture
    public var state: State
    /// What the issuer approved, adjustments included.
    public var authorised: Int64
    /// What the shop was promised, tips included.
    public var captured: Int64
    /// Held once and given up: by releases, by a final capture, by expiry.
    public var released: Int64
    /// Given back by refunds that name the payment.
    public var refunded: Int64
    /// What captures without an answer may still take.
    public var pendingCapture: Int64
    /// What refunds without an answer may still give back.
    public var pendingRefund: Int64
    /// What is held and nobody has asked for.
    public var remaining: Int64
    /// The largest capture that is possible now: above `remaining` only where the payment service allows a tip on top.
    public var capturableUpTo: Int64
    /// The largest refund that is possible now.
    public var refundable: Int64
    /// With `manual`: until when the payment service holds the sum, by its own word.
    public var before: Timestamp?
    /// `false` where the payment service had not said that it captures what it holds.
    public var capturable: Bool?

    public init(
        currency: Currency, capture: Capture, state: State, authorised: Int64, captured: Int64, released: Int64,
        refunded: Int64, pendingCapture: Int64, pendingRefund: Int64, remaining: Int64, capturableUpTo: Int64,
        refundable: Int64, before: Timestamp? = nil
    ) {
        self.currency = currency
        self.capture = capture
        self.state = state
        self.authorised = authorised
        self.captured = captured
        self.released = released
        self.refunded = refunded
        self.pendingCapture = pendingCapture
        self.pendingRefund = pendingRefund
        self.remaining = remaining
        self.capturableUpTo = capturableUpTo
        self.refundable = refundable
        self.before = before
    }
}
