// SPDX-License-Identifier: Apache-2.0
import Crypto
public import POSAPI
public import PaymentValues

/// A part of a list, and where the next one begins.
public struct TransactionPage: Equatable, Sendable {
    public var transactions: [Transaction]
    /// Missing where there is no more.
    public var next: String?
    /// The newest change that is in the page, or before it: what to ask for changes after.
    public var changes: Int64
}

extension Journal {
    /// Transactions that a filter leaves, newest first by their number: a clock that was set back reorders nothing, a new
    /// transaction shifts nothing, and an erased one is passed over. What is damaged is left out.
    ///
    /// - Parameters:
    ///   - cursor: `next` of the page before.
    ///   - owner: whose they have to be; `nil` for all.
    /// - Returns: `nil` where the cursor is of another filter, or none.
    public func list(
        _ filter: TransactionFilter, limit: Int, after cursor: String? = nil, of owner: Principal? = nil
    ) throws(JournalError) -> TransactionPage? {
        var clause = clause(filter, owner)
        if let cursor {
            guard let last = Journal.number(in: cursor, of: filter) else { return nil }
            clause.0 += " AND number < ?"
            clause.1.append(.integer(last))
        }
        let numbers = try numbers("number", clause, "DESC", limit + 1)
        let page = Array(numbers.prefix(limit))
        let next = numbers.count > limit ? page.last.map { Journal.cursor($0, of: filter) } : nil
        return TransactionPage(
            transactions: try transactions("number", page, "DESC"), next: next, changes: try newestChange())
    }

    /// Transactions that a filter leaves and that have changed since, by the order of their newest change, each once.
    public func changes(
        after change: Int64, _ filter: TransactionFilter, limit: Int, of owner: Principal? = nil
    ) throws(JournalError) -> TransactionPage {
        var clause = clause(filter, owner)
        clause.0 += " AND change > ?"
        clause.1.append(.integer(change))
        let newest = try newestChange()
        let changes = try numbers("change", clause, "ASC", limit + 1)
        let page = Array(changes.prefix(limit))
        // Where there is no more, all up to now is in it, also what the filter leaves out.
        let reached = changes.count > limit ? page.last ?? newest : newest
        return TransactionPage(transactions: try transactions("change", page, "ASC"), changes: reached)
    }

    /// The transaction with the highest number on a lane.
    ///
    /// - Parameters:
    ///   - isSettled: leaves out the one that runs now.
    ///   - owner: of whom it has to be.
    public func last(
        of lane: String, type: TransactionType? = nil, isSettled: Bool = false, by owner: Principal? = nil
    ) throws(JournalError) -> Transaction? {
        var condition = "lane = ?"
        var values = [SQLValue.text(lane)]
        if let type {
            condition += " AND type = ?"
            values.append(.text(type.rawValue))
        }
        if isSettled { condition += " AND state IN (\(Journal.list(TransactionState.allCases.filter(\.isSettled))))" }
        let owned = Journal.owned(by: owner)
        condition += " AND \(owned.0)"
        values += owned.1
        return try records(where: condition + " ORDER BY number DESC LIMIT 1", values).first?.transaction
    }

    private func numbers(
        _ column: String, _ clause: (String, [SQLValue]), _ order: String, _ limit: Int
    ) throws(JournalError) -> [Int64] {
        try database.query(
            "SELECT \(column) FROM payment WHERE \(clause.0) ORDER BY \(column) \(order) LIMIT \(limit)", clause.1
        ) { (row) throws(JournalError) in try row.integer(0) }
    }

    private func transactions(
        _ column: String, _ numbers: [Int64], _ order: String
    ) throws(JournalError) -> [Transaction] {
        guard !numbers.isEmpty else { return [] }
        let list = numbers.map { String($0) }.joined(separator: ", ")
        return try records(where: "\(column) IN (\(list)) ORDER BY \(column) \(order)", [], .leaveOut)
            .map(\.transaction)
    }

    private func newestChange() throws(JournalError) -> Int64 {
        if let next = changes.first { return next - 1 }
        let found = try database.query("SELECT next_change - 1 FROM installation") { (row) throws(JournalError) in
            try row.integer(0)
        }
        guard let newest = found.first else { throw .damaged }
        return newest
    }

    private func clause(_ filter: TransactionFilter, _ owner: Principal?) -> (String, [SQLValue]) {
        var conditions: [(String, SQLValue)] = []
        func add(_ condition: String, _ value: SQLValue?) {
            if let value { conditions.append((condition, value)) }
        }
        add("created_at >= ?", filter.from.map { .integer($0.milliseconds) })
        add("created_at < ?", filter.to.map { .integer($0.milliseconds) })
        add("type = ?", filter.type.map { .text($0.rawValue) })
        add("order_reference = ?", filter.order.map(SQLValue.text))
        add("lane = ?", filter.lane.map(SQLValue.text))
        add("cashier = ?", filter.cashier.map(SQLValue.text))
        add("till = ?", filter.till.map { .text($0.text) })
        add("card_token = ?", filter.token.map(SQLValue.text))
        add("number = ?", filter.number.map(SQLValue.integer))
        add("of = ?", filter.of.map { .text($0.text) })
        add("value >= ?", filter.minimumAmount.map(SQLValue.integer))
        add("value <= ?", filter.maximumAmount.map(SQLValue.integer))
        add("currency = ?", filter.currency.map { .text($0.code) })
        if let day = filter.day {
            add("id IN (SELECT payment FROM ledger WHERE coalesce(day, 0) = ?)", .integer(day))
        }
        var texts = conditions.map(\.0)
        if !filter.states.isEmpty { texts.append("state IN (\(Journal.list(filter.states)))") }
        if filter.isOpen { texts.append("(\(Journal.hasOpenEntry))") }
        let owned = Journal.owned(by: owner)
        texts.append(owned.0)
        return (texts.joined(separator: " AND "), conditions.map(\.1) + owned.1)
    }

    static func list(_ states: [TransactionState]) -> String {
        states.map { "'\($0.rawValue)'" }.joined(separator: ", ")
    }

    private static func cursor(_ number: Int64, of filter: TransactionFilter) -> String {
        "\(number)-\(digest(filter))"
    }

    private static func number(in cursor: String, of filter: TransactionFilter) -> Int64? {
        let parts = cursor.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1] == digest(filter) else { return nil }
        return Int64(parts[0])
    }

    private static func digest(_ filter: TransactionFilter) -> String {
        let text = filter.parameters.map { "\($0.name)=\($0.value)\n" }.joined()
        return LowerHex.text(SHA256.hash(data: Array(text.utf8)).prefix(6))
    }
}
