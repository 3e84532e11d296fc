// SPDX-License-Identifier: Apache-2.0
public import PaymentValues

/// How a payment ended, for the shop.
public struct PaymentResult: Codable, Equatable, Sendable {
    public enum Outcome: String, Codable, CaseIterable, Sendable {
        case approved, partiallyApproved, declined, stored, unknown
    }

    public enum Reversal: String, Codable, CaseIterable, Sendable {
        case pending, done
    }

    public var mode: Mode
    public var outcome: Outcome
    /// Why it was declined, where known.
    public var reason: DeclineReason?
    /// What the customer has to do elsewhere.
    public var action: RequiredAction?
    /// Data element 39 of ISO 8583, as the issuer gave it.
    public var responseCode: String?
    public var approvalCode: String?
    /// Where it differs from what was asked: with `partiallyApproved`.
    public var amountApproved: Money?
    public var pspReference: String?
    public var receiptLines: [String]?
    /// Where the customer finds a digital receipt; the payload of a QR code.
    public var receiptURL: String?
    /// The same card has paid the same amount on the same lane minutes ago: in that transaction.
    public var repeats: TransactionID?
    /// Present once the payment is being or has been taken back.
    public var reversal: Reversal?
    public var next: [NextStep]?
    /// What was read is kept, sealed, until then: a link or another terminal with `retryOf` goes on with it, and nobody taps again.
    public var readKeptUntil: Timestamp?
    /// With a declined charge: whether the payment service wants another attempt.
    public var retry: RetryAdvice?

    public init(mode: Mode, outcome: Outcome, reason: DeclineReason? = nil) {
        self.mode = mode
        self.outcome = outcome
        self.reason = reason
    }
}

/// What nfc-tap cannot do itself: it has neither a contact slot nor PIN entry.
public enum RequiredAction: String, Codable, CaseIterable, Sendable {
    case useOtherTerminal, callIssuer
}
