// SPDX-License-Identifier: Apache-2.0
public import PaymentValues

/// Which transactions a list is to have: all that is said must hold. It has a stored property for each parameter of the call.
public struct TransactionFilter: Equatable, Sendable {
    /// Created at this time or later.
    public var from: Timestamp?
    /// Created before this time.
    public var to: Timestamp?
    public var states: [TransactionState] = []
    public var type: TransactionType?
    public var order: String?
    public var lane: String?
    public var cashier: String?
    /// Asked for by this till of a gateway.
    public var till: TillName?
    /// The payment service's own name for the card.
    public var token: String?
    /// The one of this number, as lists and receipts show it.
    public var number: Int64?
    /// Refunds that name this payment.
    public var of: TransactionID?
    public var minimumAmount: Int64?
    public var maximumAmount: Int64?
    public var currency: Currency?
    /// With rows of the ledger in the day of this number; 0 stands for the day that is open.
    public var day: Int64?
    /// Only transactions that need a person, or have not ended.
    public var isOpen = false

    public init() {}

    /// Parameters of `GET /v1/transactions`, in one order.
    public var parameters: [(name: String, value: String)] {
        var found: [(String, String?)] = [("from", from?.description), ("to", to?.description)]
        found += states.map(\.rawValue).sorted().map { ("state", $0) }
        found += [
            ("type", type?.rawValue), ("order", order), ("lane", lane), ("cashier", cashier),
            ("till", till?.text), ("token", token), ("number", number.map { String($0) }), ("of", of?.text),
        ]
        if let minimumAmount, minimumAmount == maximumAmount {
            found.append(("amount", String(minimumAmount)))
        } else {
            found.append(("minAmount", minimumAmount.map { String($0) }))
            found.append(("maxAmount", maximumAmount.map { String($0) }))
        }
        found += [
            ("currency", currency?.code), ("day", day.map { $0 == 0 ? "current" : String($0) }),
            ("open", isOpen ? "true" : nil),
        ]
        return found.compactMap { item in item.1.map { (item.0, $0) } }
    }
}
