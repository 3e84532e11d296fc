// SPDX-License-Identifier: Apache-2.0
import PaymentValues

/// Whether what the file says is what was written into it.
extension Journal {
    /// SQLite's own look at the file: with small ones the indexes too, by which a repeated key or an order's payments are
    /// found. An empty file is sound.
    static func examine(_ database: Database) throws(JournalError) {
        let check = try size(of: database) > wholeCheckLimit ? "quick_check" : "integrity_check"
        let found = try database.query("PRAGMA \(check)(1)") { (row) throws(JournalError) in try row.text(0) }
        guard found == ["ok"] else { throw .damaged }
    }

    /// Sets each payment apart whose account is not what the ledger says: one row costs the payment that it belongs to, not the
    /// shop. A payment whose row is not as it was written is set apart anyway. Large files are not looked through, as in `examine`.
    func examineBooks() throws(JournalError) {
        guard try Journal.size(of: database) <= Journal.wholeCheckLimit else { return }
        let differing = try database.query(
            "SELECT id FROM payment WHERE \(Journal.differsFromLedger) AND \(isSoundRow)"
        ) { (row) throws(JournalError) in try row.text(0) }
        for id in differing {
            // No digest is this word: from now on the row is not as it was written, for every reader.
            try database.run(
                "UPDATE meta SET value = ? WHERE name = ?",
                [.text(JournalDigests.differs), .text(JournalDigests.prefix + id)])
        }
    }

    /// Whether a payment's account is not what its ledger says, in SQL; `payment` is the row.
    static var differsFromLedger: String {
        func sum(_ figure: String, _ entries: String) -> String {
            "(SELECT coalesce(sum(\(figure)), 0) FROM ledger WHERE ledger.payment = payment.id AND entry IN (\(entries)))"
        }
        return """
            type IN ('purchase', 'charge', 'link', 'handover') AND CASE WHEN account IS NULL
                THEN EXISTS (SELECT 1 FROM ledger WHERE ledger.payment = payment.id AND entry <> 'delivered')
                WHEN NOT json_valid(account) THEN 1
                ELSE json_extract(account, '$.captured') IS NOT \(sum("money", "'captured'"))
                    OR json_extract(account, '$.released') IS NOT -\(sum("hold", "'released', 'expired'"))
                    OR json_extract(account, '$.authorised') IS NOT CASE capture
                        WHEN 'manual' THEN \(sum("hold", "'authorised', 'adjusted'"))
                        ELSE \(sum("money", "'captured'")) END
                    OR json_extract(account, '$.refunded') IS NOT
                        (SELECT coalesce(-sum(money), 0) FROM ledger WHERE entry = 'refunded' AND ledger.payment IN
                            (SELECT id FROM payment AS refund WHERE refund.of = payment.id
                                AND refund.state IN ('approved', 'reversing')))
                END
            """
    }

    /// What a `JournalExamination` has to look at, one after the other.
    public func tables() throws(JournalError) -> [String] {
        try database.query("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'") {
            (row) throws(JournalError) in try row.text(0)
        }
    }

    /// Payments that have no end yet and are not as they were written, or cannot be understood: all that a start has to
    /// know. Where the file is small, those that have ended too.
    public func damagedPayments() throws(JournalError) -> [DamagedPayment] {
        let size = try Journal.size(of: database)
        return try damaged(where: size > Journal.wholeCheckLimit ? Journal.isOpen : "1", [])
    }

    /// The same among the next payments, whatever became of them.
    ///
    /// - Parameter row: the last one that was looked at; 0 to begin.
    /// - Returns: also the last one that was looked at now; `nil` where there are no more.
    public func damagedPayments(
        after row: Int64, limit: Int
    ) throws(JournalError) -> (damaged: [DamagedPayment], last: Int64?) {
        let last = try database.query(
            "SELECT max(rowid) FROM (SELECT rowid FROM payment WHERE rowid > ? ORDER BY rowid LIMIT ?)",
            [.integer(row), .integer(Int64(limit))]
        ) { (row) throws(JournalError) in row.optionalInteger(0) }.first
        guard let last = last ?? nil else { return ([], nil) }
        return (try damaged(where: "rowid > ? AND rowid <= ?", [.integer(row), .integer(last)]), last)
    }

    /// Rows that belong to no payment and are not as they were written, or are gone: each is named, and whatever needs it says
    /// that it is damaged.
    ///
    /// - Throws: what keeps the journal from being read.
    public func damagedRows() throws(JournalError) -> [DamagedRow] {
        var found: [DamagedRow] = []
        for (table, key) in JournalDigests.others {
            let keys = try database.query(
                """
                SELECT CAST(\(key) AS TEXT) FROM \(table) WHERE NOT (\(digests.isSound(table, by: key)))
                UNION SELECT CAST(row AS TEXT) FROM digest WHERE owner = '\(table)' AND row NOT IN (SELECT \(key) FROM \(table))
                """
            ) { (row) throws(JournalError) in row.optionalText(0) }
            found += keys.map { DamagedRow(table: table, key: $0 ?? "") }
        }
        return found
    }

    /// Keeps a write from taking what is there for right.
    private func mark(_ id: String) throws(JournalError) {
        try database.run(
            "INSERT OR REPLACE INTO meta (name, value) SELECT ?1, ?2 WHERE (SELECT value FROM meta WHERE name = ?1) IS NOT ?3",
            [.text(JournalDigests.prefix + id), .text(JournalDigests.damaged), .text(JournalDigests.differs)])
    }

    private func damaged(where condition: String, _ values: [SQLValue]) throws(JournalError) -> [DamagedPayment] {
        let rows = try database.query(
            "SELECT \(Journal.columns), \(isSoundRow), rowid FROM payment NOT INDEXED WHERE \(condition)", values
        ) { (row) throws(JournalError) -> Int64? in
            do throws(JournalError) {
                guard try row.integer(Journal.columnCount) == 1 else { throw .damaged }
                _ = try Journal.record(row)
                return nil
            } catch {
                guard error == .damaged else { throw error }
                return try row.integer(Journal.columnCount + 1)
            }
        }
        var damaged: [DamagedPayment] = []
        for row in rows.compactMap(\.self) { damaged.append(contentsOf: try outline(row)) }
        for payment in damaged { if let id = payment.id { try mark(id.text) } }
        return damaged
    }

    static func size(of database: Database) throws(JournalError) -> Int64 {
        try database.query("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size") {
            (row) throws(JournalError) in try row.integer(0)
        }.first ?? 0
    }

    /// What has an end by a state that is one, and nothing to be confirmed, is not open. A state that is none is.
    private static var isOpen: String {
        let ended = TransactionState.allCases.filter(\.successors.isEmpty).map { "'\($0.rawValue)'" }
        return """
            state NOT IN (\(ended.joined(separator: ", ")), 'approved')
                OR \(awaitsConfirmation)
            """
    }

    private func outline(_ row: Int64) throws(JournalError) -> [DamagedPayment] {
        try database.query(
            """
            SELECT id, state, order_reference, value, currency, \(JournalDigests.written) IS '\(JournalDigests.differs)'
            FROM payment WHERE rowid = ?
            """, [.integer(row)]
        ) { (found) throws(JournalError) in
            var damaged = DamagedPayment(row: row, id: found.optionalText(0).flatMap { TransactionID($0) })
            damaged.state = found.optionalText(1)
            damaged.order = found.optionalText(2)
            damaged.value = found.optionalInteger(3)
            damaged.currency = found.optionalText(4)
            damaged.differsFromLedger = found.optionalInteger(5) == 1
            return damaged
        }
    }
}
