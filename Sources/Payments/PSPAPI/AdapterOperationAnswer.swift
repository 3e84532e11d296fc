// SPDX-License-Identifier: Apache-2.0
public import PaymentValues

/// The adapter's answer to a capture, an adjustment, a release or a linked refund, and to `GET /v1/operations/{id}`.
/// `OperationAnswer` in docs/openapi-psp.yaml.
public struct AdapterOperationAnswer: Codable, Equatable, Sendable {
    public enum Outcome: String, Codable, CaseIterable, Sendable {
        case approved, declined
        /// A refund of which only a part was carried out; nothing else has parts.
        case partial
        case pending
    }

    /// Why it was declined.
    public enum Reason: String, Codable, CaseIterable, Sendable {
        case expired, tooMuch, otherCard, alreadySettled, notSupported, unknownOriginal, issuer
        /// A word of a later version.
        case other

        public init(from decoder: any Decoder) throws {
            self = Reason(rawValue: try decoder.singleValueContainer().decode(String.self)) ?? .other
        }
    }

    /// Of the request that it answers; one with another id answers nothing.
    public var id: OperationID
    public var outcome: Outcome
    /// What was carried out: missing for all that was asked for, demanded with `partial`.
    public var amountDone: Money?
    /// Data element 39 of ISO 8583.
    public var responseCode: String?
    public var reason: Reason?
    /// The payment service's own name for the operation.
    public var pspReference: String?
    /// Until when the payment service holds what is left.
    public var captureBefore: Timestamp?
    /// With a refund for which a card was read.
    public var cardToken: String?
    public var account: ServiceAccount?
    public var receiptLines: [String]?

    public init(id: OperationID, outcome: Outcome, responseCode: String? = nil, reason: Reason? = nil) {
        self.id = id
        self.outcome = outcome
        self.responseCode = responseCode
        self.reason = reason
    }
}

/// A payment's figures in the payment service's books, in minor units. Only compared with the journal's own, never booked.
public struct ServiceAccount: Codable, Equatable, Sendable {
    public var currency: Currency
    /// What the issuer approved, adjustments included.
    public var authorised: Int64
    public var captured: Int64
    public var released: Int64
    public var refunded: Int64

    public init(currency: Currency, authorised: Int64, captured: Int64, released: Int64, refunded: Int64) {
        self.currency = currency
        self.authorised = authorised
        self.captured = captured
        self.released = released
        self.refunded = refunded
    }
}
