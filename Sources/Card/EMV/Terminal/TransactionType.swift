// SPDX-License-Identifier: Apache-2.0
/// Transaction Type (9C): the first two digits of ISO 8583 processing code, in BCD.
public struct TransactionType: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let purchase = TransactionType(rawValue: 0x00)
    public static let cash = TransactionType(rawValue: 0x01)
    public static let adjustment = TransactionType(rawValue: 0x02)
    public static let purchaseWithCashback = TransactionType(rawValue: 0x09)
    public static let cashDisbursement = TransactionType(rawValue: 0x17)
    public static let refund = TransactionType(rawValue: 0x20)
    public static let balanceInquiry = TransactionType(rawValue: 0x31)

    /// Manual cash and cash disbursement: 01, 17.
    public var isCash: Bool { self == .cash || self == .cashDisbursement }
    /// Purchase with or without cashback: 00, 09.
    public var isPurchase: Bool { self == .purchase || self == .purchaseWithCashback }
}
