// SPDX-License-Identifier: Apache-2.0
import Ledger
import PaymentValues

extension Journal {
    /// An action as the table has it.
    struct Columns {
        var kind: String
        var value: Int64
        var tip: Int64 = 0
        var isFinal = false

        /// - Parameter hold: what an extension keeps.
        init(_ action: Operation.Action, holding hold: Int64) {
            switch action {
            case .capture(let amount, let tip, let isFinal):
                (kind, value) = ("capture", amount)
                (self.tip, self.isFinal) = (tip, isFinal)
            case .adjust(let total): (kind, value) = ("adjustment", total)
            case .extend: (kind, value) = ("extension", hold)
            case .release(let amount): (kind, value) = ("release", amount)
            }
        }
    }

    func operations(where condition: String, _ values: [SQLValue]) throws(JournalError) -> [OperationRecord] {
        var found = try database.query(
            """
            SELECT id, payment, kind, value, tip, final, currency, state, uid, request_hash, request, result, error, attempts,
                due, attention, attention_since, created_at, updated_at, till
            FROM operation WHERE kind <> 'advice' AND \(condition)
            """, values
        ) { (row) throws(JournalError) in try Journal.operation(row) }
        for index in found.indices {
            found[index].history = try database.query(
                "SELECT state, at FROM operation_change WHERE operation = ? ORDER BY sequence",
                [.text(found[index].id.text)]
            ) { (row) throws(JournalError) in
                OperationRecord.Step(state: try row.name(0), at: Timestamp(milliseconds: try row.integer(1)))
            }
        }
        return found
    }

    private static func operation(_ row: borrowing Row) throws(JournalError) -> OperationRecord {
        guard let id = OperationID(try row.text(0)), let currency = Currency(journalled: try row.text(6))
        else { throw .damaged }
        let state: OperationState = try row.name(7)
        return OperationRecord(
            operation: Operation(id: id, action: try action(row), state: state), payment: try row.transactionID(1),
            currency: currency, owner: try row.principal(8, till: 19), requestHash: try row.text(9),
            request: try row.text(10),
            result: row.optionalText(11), error: try row.message(12), attempts: Int(try row.integer(13)),
            due: row.time(14), attention: row.optionalText(15) == nil ? nil : try row.name(15),
            attentionSince: row.time(16), createdAt: Timestamp(milliseconds: try row.integer(17)),
            updatedAt: Timestamp(milliseconds: try row.integer(18)), history: [])
    }

    private static func action(_ row: borrowing Row) throws(JournalError) -> Operation.Action {
        let value = try row.integer(3)
        return switch try row.text(2) {
        case "capture": .capture(amount: value, tip: try row.integer(4), isFinal: try row.integer(5) == 1)
        case "adjustment": .adjust(total: value)
        case "extension": .extend
        case "release": .release(amount: value)
        case let other: throw unreadable(other)
        }
    }

    private static func unreadable(_: String) -> JournalError { .damaged }
}

extension OperationRecord {
    /// What is to be captured, held or released; 0 where it is only a matter of time.
    var value: Int64 {
        switch operation.action {
        case .capture(let amount, _, _): amount
        case .adjust(let total): total
        case .extend: 0
        case .release(let amount): amount
        }
    }

    /// What of it is a tip.
    var tip: Int64 {
        switch operation.action {
        case .capture(_, let tip, _): tip
        case .adjust, .extend, .release: 0
        }
    }
}

extension Row {
    borrowing func transactionID(_ column: Int32) throws(JournalError) -> TransactionID {
        guard let id = try transaction(column) else { throw .damaged }
        return id
    }

    borrowing func time(_ column: Int32) -> Timestamp? {
        optionalInteger(column).map { Timestamp(milliseconds: $0) }
    }
}
