// SPDX-License-Identifier: Apache-2.0
public import Ledger
import POSAPI
public import PaymentValues
import Transactions

/// The ledger of tap payments and refunds: its rows are written in the same step as the change of state that causes them.
/// `payment.account` is a copy of the sums, for lists; a start holds it against them.
extension Journal {
    /// The books of a payment: rows, operations, and the refunds that name it.
    ///
    /// - Returns: `nil` for what is no purchase of this journal.
    public func books(of id: TransactionID) throws(JournalError) -> PaymentLedger? {
        let found = try database.query(
            """
            SELECT capture, currency, service_terms, \(Journal.awaitsConfirmation)
            FROM payment WHERE id = ? AND type IN ('purchase', 'charge', 'link', 'handover') AND capture IS NOT NULL
            """, [.text(id.text)]
        ) { (row) throws(JournalError) -> (PaymentAccount.Capture, Currency, ServiceTerms?, Bool) in
            guard let currency = Currency(journalled: try row.text(1)) else { throw .damaged }
            return (try row.name(0), currency, try row.message(2), try row.integer(3) == 1)
        }
        guard let (capture, currency, terms, isUnconfirmed) = found.first else { return nil }
        return PaymentLedger(
            payment: id, currency: currency, capture: capture, rows: try ledgerRows(of: id),
            operations: try operations(of: id).map(\.operation), refunds: try refunds(of: id),
            captureBefore: terms?.captureBefore, maximumCapture: terms?.maximumCapture,
            isAwaitingConfirmation: isUnconfirmed)
    }

    /// Rows of a payment or refund, oldest first.
    public func ledgerRows(of id: TransactionID) throws(JournalError) -> [LedgerRow] {
        try database.query(
            "SELECT operation, entry, hold, money FROM ledger WHERE payment = ? ORDER BY sequence", [.text(id.text)]
        ) { (row) throws(JournalError) in
            let operation = try row.text(0)
            let name = OperationID(operation)
            guard operation.isEmpty || name != nil else { throw .damaged }
            return LedgerRow(
                payment: id, operation: name, entry: try row.name(1), hold: try row.integer(2),
                money: try row.integer(3))
        }
    }

    /// Refunds that name a payment, oldest first.
    func refunds(of id: TransactionID) throws(JournalError) -> [LinkedRefund] {
        try database.query(
            """
            SELECT id, value, state, -(SELECT money FROM ledger WHERE payment = refund.id AND entry = 'refunded')
            FROM payment AS refund WHERE of = ? ORDER BY number
            """, [.text(id.text)]
        ) { (row) throws(JournalError) in
            let state: TransactionState = try row.name(2)
            return LinkedRefund(
                id: try row.transactionID(0), amount: try row.integer(1),
                state: RefundState(state, booked: row.optionalInteger(3)))
        }
    }

    /// Writes rows down, with what of them is a tip.
    func book(_ rows: [LedgerRow], tip: Int64 = 0, at time: Timestamp) throws(JournalError) {
        for row in rows {
            try database.run(
                """
                INSERT INTO ledger (at, payment, operation, entry, hold, money, tip, currency, mode, scheme, type, lane,
                    cashier) SELECT ?, id, ?, ?, ?, ?, ?, currency, mode, scheme, type, lane, cashier
                    FROM payment WHERE id = ?
                """,
                [
                    .integer(time.milliseconds), .text(row.operation?.text ?? ""), .text(row.entry.rawValue),
                    .integer(row.hold), .integer(row.money), .integer(row.entry == .captured ? tip : 0),
                    .text(row.payment.text),
                ])
            guard database.changes == 1 else { throw .unknownTransaction }
        }
    }

    /// Writes down what a change of state means for the money; the change itself has been written.
    func book(_ change: StateChange, of id: TransactionID) throws(JournalError) {
        switch change.state {
        case .approved, .reversing, .delivered, .declined, .cancelled, .failed, .reversed: break
        case .created, .preparing, .armed, .reading, .sealed, .sent, .stored, .unknown, .completed: return
        }
        let found = try database.query(
            """
            SELECT type, capture, of, coalesce(json_extract(result, '$.amountApproved.value'), value) FROM payment
            WHERE id = ? AND type IN ('purchase', 'charge', 'link', 'handover', 'refund')
            """, [.text(id.text)]
        ) { (row) throws(JournalError) -> (TransactionType, PaymentAccount.Capture?, TransactionID?, Int64) in
            (
                try row.name(0), row.optionalText(1) == nil ? nil : try row.name(1), try row.transaction(2),
                try row.integer(3)
            )
        }
        guard let (type, capture, original, amount) = found.first else { return }
        let rows = try ledgerRows(of: id)
        let new = Journal.rows(for: change, of: id, type, capture, amount, after: rows)
        try book(new, at: change.at)
        if let original {
            try renewAccount(of: original, at: change.at)
        } else if !new.isEmpty {
            try renewAccount(of: id, at: change.at)
        }
    }

    private static func rows(
        for change: StateChange, of id: TransactionID, _ type: TransactionType, _ capture: PaymentAccount.Capture?,
        _ amount: Int64, after rows: [LedgerRow]
    ) -> [LedgerRow] {
        // What is reversed twice was put right in between: the second time under a name of its own.
        let again = rows.contains { $0.entry == .reversed } ? OperationID(at: change.at) : nil
        let reversal = rows.last { [.reversed, .corrected].contains($0.entry) }
        switch change.state {
        case .approved:
            guard let reversal else {
                guard amount > 0, rows.isEmpty else { return [] }
                if type == .refund { return [LedgerRow(payment: id, entry: .refunded, money: -amount)] }
                return capture == .manual
                    ? [LedgerRow(payment: id, entry: .authorised, hold: amount)]
                    : [LedgerRow(payment: id, entry: .captured, money: amount)]
            }
            guard reversal.entry == .reversed else { return [] }
            return [
                LedgerRow(
                    payment: id, operation: reversal.operation, entry: .corrected, hold: -reversal.hold,
                    money: -reversal.money)
            ]
        case .reversing:
            guard rows.hold != 0 || rows.money != 0 else { return [] }
            return [LedgerRow(payment: id, operation: again, entry: .reversed, hold: -rows.hold, money: -rows.money)]
        case .delivered: return rows.isEmpty ? [LedgerRow(payment: id, entry: .delivered)] : []
        case .created, .preparing, .armed, .reading, .sealed, .sent, .declined, .stored, .unknown, .cancelled, .failed,
            .reversed, .completed:
            return []
        }
    }

    /// Writes the sums of a payment's books beside it.
    @discardableResult
    func renewAccount(of id: TransactionID, at time: Timestamp) throws(JournalError) -> PaymentAccount? {
        guard let account = try bookedAccount(of: id) else {
            try touch(id, at: time)
            return nil
        }
        try database.run(
            "UPDATE payment SET account = ?, change = ?, updated_at = max(updated_at, ?) WHERE id = ?",
            [try json(account), .integer(try nextChange()), .integer(time.milliseconds), .text(id.text)])
        return account
    }

    /// - Returns: `nil` for what was never approved, and for what is no purchase.
    func bookedAccount(of id: TransactionID) throws(JournalError) -> PaymentAccount? {
        guard let books = try books(of: id), books.rows.contains(where: { $0.entry != .delivered }) else { return nil }
        assert(books.contradictions.isEmpty, "books of \(id): \(books.contradictions)")
        return books.account
    }

    /// Something about a payment can be seen that could not be seen before.
    func touch(_ id: TransactionID, at time: Timestamp) throws(JournalError) {
        try database.run(
            "UPDATE payment SET change = ?, updated_at = max(updated_at, ?) WHERE id = ?",
            [.integer(try nextChange()), .integer(time.milliseconds), .text(id.text)])
    }

    /// Greater than every one before it; a transaction that is rolled back leaves a gap.
    func nextChange() throws(JournalError) -> Int64 {
        guard let next = changes.first else { return try count("next_change") }
        changes = next + 1..<changes.upperBound
        return next
    }

    func nextNumber() throws(JournalError) -> Int64 { try count("next_number") }

    private func count(_ counter: String) throws(JournalError) -> Int64 {
        let next = try database.query(
            "UPDATE installation SET \(counter) = \(counter) + 1 RETURNING \(counter) - 1"
        ) { (row) throws(JournalError) in try row.integer(0) }
        guard let next = next.first else { throw .damaged }
        return next
    }
}

extension RefundState {
    /// - Parameter booked: what the ledger says was given back.
    init(_ state: TransactionState, booked: Int64?) {
        switch state {
        case .declined, .cancelled, .failed, .reversed, .completed: self = .refused
        // Given back until the payment service says that it has taken it back.
        case .created, .preparing, .armed, .reading, .sealed, .sent, .unknown, .stored, .delivered, .approved,
            .reversing:
            self = booked.map(RefundState.done) ?? .pending
        }
    }
}
