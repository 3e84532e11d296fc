// SPDX-License-Identifier: Apache-2.0
import POSAPI
import PaymentValues
import Transactions

extension Journal {
    /// Columns in the order in which `record(_:)` takes them.
    static let columns = """
        id, uid, request_hash, type, mode, lane, value, currency, order_reference, state, created_at, updated_at, card,
        result, error, cancelled_by, authorization, reversal_reason, reversal_attempts, reversal_due,
        details, chip, confirm_due, confirmed_at, service, settlement,
        (SELECT reason FROM open_item WHERE payment = payment.id), message, number, of, retry_of, cashier, account,
        service_terms, till
        """
    static let columnCount = Int32(columns.split(separator: ",").count)

    /// Whether a row of `payment` is as it was written, in SQL.
    var isSoundRow: String { digests.isSoundPayment }

    /// What a reader does with payments that are not as they were written.
    enum DamageCare {
        /// Throws.
        case refuse
        /// Leaves them to `damagedPayments`.
        case leaveOut
        /// Takes them as they are, because something else proves what is in them.
        case read
    }

    /// - Parameter care: what becomes of a row that is not as it was written.
    /// - Throws: `.damagedPayment` for such a row.
    func records(
        where condition: String, _ values: [SQLValue], _ care: DamageCare = .refuse
    ) throws(JournalError) -> [JournalRecord] {
        let isSound = care == .read ? "1" : isSoundRow
        let found = try database.query(
            "SELECT \(Journal.columns), \(isSound) FROM payment WHERE \(condition)", values
        ) { (row) throws(JournalError) -> JournalRecord? in
            do throws(JournalError) {
                guard try row.integer(Journal.columnCount) == 1 else { throw .damaged }
                return try Journal.record(row)
            } catch {
                guard error == .damaged else { throw error }
                guard care == .leaveOut else { throw .damagedPayment }
                return nil
            }
        }.compactMap(\.self)
        var records: [JournalRecord] = []
        for var record in found {
            record.transaction.history = try history(of: record.transaction.id)
            records.append(record)
        }
        return records
    }

    private func history(of id: TransactionID) throws(JournalError) -> [Transaction.Step] {
        try database.query(
            "SELECT state, at FROM state_change WHERE payment = ? ORDER BY sequence", [.text(id.text)]
        ) { (row) throws(JournalError) in
            Transaction.Step(state: try row.name(0), at: Timestamp(milliseconds: try row.integer(1)))
        }
    }

    static func record(_ row: borrowing Row) throws(JournalError) -> JournalRecord {
        guard let id = TransactionID(try row.text(0)),
            let currency = Currency(journalled: try row.text(7))
        else { throw .damaged }
        var transaction = Transaction(
            id: id, type: try row.name(3), mode: try row.name(4), lane: try row.text(5),
            amount: Money(value: try row.integer(6), currency: currency), order: row.optionalText(8),
            createdAt: Timestamp(milliseconds: try row.integer(10)))
        transaction.state = try row.name(9)
        transaction.updatedAt = Timestamp(milliseconds: try row.integer(11))
        transaction.card = try row.message(12)
        transaction.details = try row.message(20)
        transaction.chip = try row.message(21)
        transaction.result = try row.message(13)
        transaction.error = try row.message(14)
        if row.optionalText(15) != nil { transaction.cancelledBy = try row.name(15) }
        if row.optionalText(27) != nil { transaction.message = try row.name(27) }
        if let due = row.optionalInteger(22) {
            transaction.confirmation = Confirmation(
                due: Timestamp(milliseconds: due),
                confirmedAt: row.optionalInteger(23).map { Timestamp(milliseconds: $0) })
        }
        transaction.settlement = try row.message(25)
        // An earlier version kept what was feared before a person settled it.
        if transaction.state == .approved, transaction.settlement != nil {
            (transaction.error, transaction.confirmation) = (nil, nil)
        }
        transaction.number = row.optionalInteger(28)
        transaction.of = try row.transaction(29)
        transaction.retryOf = try row.transaction(30)
        transaction.cashier = row.optionalText(31)
        transaction.account = try row.message(32)
        if transaction.details?.capturable == false { transaction.account?.capturable = false }
        let owner = try row.principal(1, till: 34)
        transaction.till = owner.till
        var record = JournalRecord(transaction: transaction, owner: owner, requestHash: try row.text(2))
        record.authorization = try row.message(16)
        record.reversal = try reversal(row)
        record.service = try row.message(24)
        record.terms = try row.message(33)
        if row.optionalText(26) != nil { record.open = try row.name(26) }
        return record
    }

    private static func reversal(_ row: borrowing Row) throws(JournalError) -> ReversalPlan? {
        guard row.optionalText(17) != nil, let attempts = row.optionalInteger(18),
            let due = row.optionalInteger(19)
        else { return nil }
        return ReversalPlan(reason: try row.name(17), attempts: Int(attempts), due: Timestamp(milliseconds: due))
    }
}

extension Currency {
    /// - Returns: `nil` for what was never written.
    init?(journalled code: String) {
        guard code != Currency.none.code else {
            self = .none
            return
        }
        self.init(code)
    }
}

extension Row {
    borrowing func transaction(_ column: Int32) throws(JournalError) -> TransactionID? {
        guard let text = optionalText(column) else { return nil }
        guard let id = TransactionID(text) else { throw .damaged }
        return id
    }

    borrowing func name<Name: RawRepresentable<String>>(_ column: Int32) throws(JournalError) -> Name {
        guard let name = Name(rawValue: try text(column)) else { throw .damaged }
        return name
    }

    borrowing func message<Message: Decodable>(_ column: Int32) throws(JournalError) -> Message? {
        guard let text = optionalText(column) else { return nil }
        do { return try WireJSON.decode(Message.self, from: Array(text.utf8)) } catch { throw .damaged }
    }
}
