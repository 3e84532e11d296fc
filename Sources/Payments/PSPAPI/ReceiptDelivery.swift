// SPDX-License-Identifier: Apache-2.0
public import PaymentValues

/// Body of the adapter's `POST /v1/receipts`: the customer wants the receipt of a transaction. `Idempotency-Key` is of this wish
/// alone. Where to send it is in `envelope`, and in no other member.
public struct ReceiptDelivery: Codable, Equatable, Sendable {
    public var id: TransactionID
    public var mode: Mode
    /// Compact JWE to the payment service's key, around a `ReceiptAddress`.
    public var envelope: String
    /// Of what the customer reads, BCP 47.
    public var language: String?

    public init(id: TransactionID, mode: Mode, envelope: String, language: String? = nil) {
        (self.id, self.mode, self.envelope, self.language) = (id, mode, envelope, language)
    }
}

/// What is sealed in a `ReceiptDelivery`: one of `email` and `phone`.
public struct ReceiptAddress: Codable, Equatable, Sendable {
    /// 1
    public var v: Int
    /// The transaction, so that the envelope fits no other one.
    public var txn: String
    /// Seconds since 1970 from which it is too old.
    public var exp: Int64
    public var email: String?
    /// E.164, with `+`.
    public var phone: String?

    public init(txn: String, exp: Int64, email: String? = nil, phone: String? = nil) {
        (v, self.txn, self.exp, self.email, self.phone) = (1, txn, exp, email, phone)
    }

    /// Whether it is of this transaction, not too old, and one address that can be one.
    ///
    /// - Parameter now: seconds since 1970.
    public func isFit(for transaction: TransactionID, at now: Int64) -> Bool {
        guard v == 1, txn == transaction.text, exp > now, (email == nil) != (phone == nil) else { return false }
        return email?.isEmailAddress ?? phone?.isPhoneNumber ?? false
    }
}

/// What the adapter answers: the receipt is on its way, or waits to be sent.
public struct ReceiptDeliveryAnswer: Codable, Equatable, Sendable {
    public var id: TransactionID

    public init(id: TransactionID) { self.id = id }
}
