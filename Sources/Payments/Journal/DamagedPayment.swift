// SPDX-License-Identifier: Apache-2.0
public import PaymentValues

/// A payment whose row in the journal is not as it was written, or not what its ledger says. It is left alone, for nothing in it can be believed: what
/// could still be made out is here, for the person who has to look after it.
public struct DamagedPayment: Equatable, Sendable {
    /// Number of its row in the table `payment`.
    public var row: Int64
    /// Missing where nobody can tell which one it is.
    public var id: TransactionID?
    /// As it can be read, which need not be right.
    public var state: String?
    public var order: String?
    public var value: Int64?
    public var currency: String?
    /// Its account is not what the rows of the table `ledger` add up to; the row itself may be as it was written.
    public var differsFromLedger = false

    public init(row: Int64, id: TransactionID? = nil) {
        self.row = row
        self.id = id
    }
}

extension DamagedPayment: CustomStringConvertible {
    /// For logs and the audit chain.
    public var description: String {
        let amount = value.flatMap { value in currency.map { ", \(value) \($0)" } } ?? ""
        return "row \(row) of payment, \(id?.text ?? "id unreadable"), state \(state ?? "unreadable")\(amount)"
            + (differsFromLedger ? ", account and ledger differ" : "")
    }
}

/// A row of the journal that belongs to no payment, and is not as it was written, or is gone.
public struct DamagedRow: Hashable, Sendable, CustomStringConvertible {
    public let table: String
    /// What the row is known by in its table.
    public let key: String

    public init(table: String, key: String) { (self.table, self.key) = (table, key) }

    public var description: String { "\(table) \(key)" }
}
