// SPDX-License-Identifier: Apache-2.0
/// What one transaction is about. Amounts are in minor units of the currency.
public struct Transaction: Equatable, Sendable {
    /// Amount, Authorised (9F02), including cashback; at most 12 digits.
    public var amount: UInt64
    /// Amount, Other (9F03): cashback. `nil` leaves 9F03 out of the data.
    public var otherAmount: UInt64?
    /// ISO 4217 numeric code, for example 978 (5F2A).
    public var currency: UInt16
    /// ISO 4217 exponent: 0, 2, 3 or 4 (5F36).
    public var exponent: UInt8
    /// ISO 3166-1 numeric code of the terminal's country, for example 276 (9F1A).
    public var country: UInt16
    /// 9C.
    public var type: TransactionType
    /// The terminal's local date (9A).
    public var date: EMVDate
    /// The terminal's local time (9F21).
    public var time: EMVTime
    /// Transaction Sequence Counter (9F41), at most 8 digits.
    public var sequenceCounter: UInt32
    /// The merchant wants an online authorisation (TVR byte 4 bit 4); `RiskManagement` says what comes of it.
    public var merchantForcedOnline: Bool

    public init(
        amount: UInt64, otherAmount: UInt64? = nil, currency: UInt16, exponent: UInt8, country: UInt16,
        type: TransactionType = .purchase, date: EMVDate, time: EMVTime, sequenceCounter: UInt32,
        merchantForcedOnline: Bool = false
    ) {
        self.amount = amount
        self.otherAmount = otherAmount
        self.currency = currency
        self.exponent = exponent
        self.country = country
        self.type = type
        self.date = date
        self.time = time
        self.sequenceCounter = sequenceCounter
        self.merchantForcedOnline = merchantForcedOnline
    }
}
