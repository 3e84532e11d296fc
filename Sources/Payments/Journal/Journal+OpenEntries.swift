// SPDX-License-Identifier: Apache-2.0
public import PaymentValues

extension Journal {
    /// Whether a payment has an open entry, in SQL: one condition for each query of `openEntries`.
    static let hasOpenEntry = """
        state IN ('sent', 'unknown', 'reversing', 'stored') OR \(awaitsConfirmation) OR (\(isUncaptured))
            OR EXISTS (SELECT 1 FROM operation WHERE operation.payment = payment.id AND (\(isOpenOperation)))
            OR EXISTS (SELECT 1 FROM open_item WHERE open_item.payment = payment.id)
            OR \(isHandedOver)
        """
    /// In a batch that the payment service has signed for: how it ended is in that service's books. It is open until figures of a day
    /// name it there, or a person has settled its day; that the day is over proves nothing.
    static let isHandedOver = """
        (state = 'delivered' AND NOT EXISTS (SELECT 1 FROM ledger JOIN business_day ON business_day.number = ledger.day
                WHERE ledger.payment = payment.id AND resolution IS NOT NULL)
            AND payment.id NOT IN (SELECT json_extract(item.value, '$.id') FROM business_day,
                json_each(CASE WHEN json_valid(figures) THEN figures END, '$.differences') AS line,
                json_each(line.value, '$.items') AS item
                WHERE json_extract(item.value, '$.theirs') IS NOT NULL AND json_extract(item.value, '$.id') IS NOT NULL))
        """
    private static let isUncaptured = """
        capture = 'manual' AND state = 'approved' AND json_valid(account)
            AND json_extract(account, '$.remaining') + json_extract(account, '$.pendingCapture') > 0
        """
    private static let isOpenOperation = "operation.state IN ('created', 'sent', 'unknown') OR attention IS NOT NULL"

    /// Everything that somebody has to look after or wait for, the oldest first.
    ///
    /// - Parameter owner: whose payments they have to be about; `nil` for all.
    /// - Returns: also how many there are in all.
    public func openEntries(
        limit: Int = Limits.openEntries, of owner: Principal? = nil
    ) throws(JournalError) -> (entries: [OpenEntry], count: Int) {
        let owned = Journal.owned(by: owner)
        var entries = try payments(owned)
        entries += try held(owned)
        entries += try operationEntries(owned)
        entries.sort { ($0.since, $0.transaction) < ($1.since, $1.transaction) }
        var shown = Array(entries.prefix(limit))
        let numbers = try numbers(of: shown.map(\.transaction))
        for place in shown.indices { shown[place].number = numbers[shown[place].transaction] }
        return (shown, entries.count)
    }

    /// What people call these transactions by; without those that the journal does not have.
    func numbers(of ids: [TransactionID]) throws(JournalError) -> [TransactionID: Int64] {
        let ids = Set(ids)
        guard !ids.isEmpty else { return [:] }
        let places = Array(repeating: "?", count: ids.count).joined(separator: ", ")
        let rows = try database.query(
            "SELECT id, number FROM payment WHERE id IN (\(places))", ids.map { .text($0.text) }
        ) { (row) throws(JournalError) in (try row.transactionID(0), try row.integer(1)) }
        return Dictionary(rows) { first, _ in first }
    }

    private func payments(_ owned: (String, [SQLValue])) throws(JournalError) -> [OpenEntry] {
        try database.query(
            """
            SELECT id, value, currency, updated_at, CASE
                WHEN state IN ('sent', 'unknown') AND of IS NOT NULL THEN 'unknownRefund'
                WHEN state = 'stored' AND EXISTS
                    (SELECT 1 FROM queue_record WHERE payment = payment.id AND batch IS NOT NULL) THEN 'inBatch'
                WHEN state = 'delivered' THEN 'handedOver'
                WHEN state = 'approved' THEN 'unconfirmed' ELSE state END, reversal_attempts
            FROM payment WHERE (state IN ('sent', 'unknown', 'reversing', 'stored') OR \(Journal.awaitsConfirmation)
                OR \(Journal.isHandedOver))
                AND \(owned.0)
            """, owned.1
        ) { (row) throws(JournalError) in
            let kind: OpenEntry.Kind = try row.name(4)
            return OpenEntry(
                kind, try row.transactionID(0), amount: try row.money(1), since: try row.instant(3),
                attempts: kind == .reversing ? row.optionalInteger(5).map { Int($0) } : nil)
        }
    }

    /// Payments of which a sum is held, or on the way to be captured.
    public func held() throws(JournalError) -> [OpenEntry] { try held(Journal.owned(by: nil)) }

    private func held(_ owned: (String, [SQLValue])) throws(JournalError) -> [OpenEntry] {
        try database.query(
            """
            SELECT id, json_extract(account, '$.remaining') + json_extract(account, '$.pendingCapture'), currency, created_at,
                service_terms FROM payment WHERE \(Journal.isUncaptured) AND \(owned.0)
            """, owned.1
        ) { (row) throws(JournalError) in
            let terms: ServiceTerms? = try row.message(4)
            return OpenEntry(
                .uncaptured, try row.transactionID(0), amount: try row.money(1), since: try row.instant(3),
                before: terms?.captureBefore)
        }
    }

    private func operationEntries(_ owned: (String, [SQLValue])) throws(JournalError) -> [OpenEntry] {
        let ofOwned = "payment IN (SELECT id FROM payment WHERE \(owned.0))"
        return try operations(where: "(\(Journal.isOpenOperation)) AND \(ofOwned)", owned.1).map { record in
            let kind: OpenEntry.Kind =
                switch record.attention {
                case .stuck: .stuck
                case .figuresDiffer: .figuresDiffer
                case .contradiction: .contradiction
                case nil: .unknownOperation
                }
            return OpenEntry(
                kind, record.payment, operation: record.id,
                amount: Money(value: record.value, currency: record.currency),
                since: record.attentionSince ?? record.createdAt, attempts: record.attempts)
        }
    }
}

extension Row {
    /// Minor units in this column, the currency's code in the next.
    borrowing func money(_ column: Int32) throws(JournalError) -> Money {
        guard let currency = Currency(journalled: try text(column + 1)) else { throw .damaged }
        return Money(value: try integer(column), currency: currency)
    }

    borrowing func instant(_ column: Int32) throws(JournalError) -> Timestamp {
        Timestamp(milliseconds: try integer(column))
    }
}
