// SPDX-License-Identifier: Apache-2.0
public import PaymentValues

extension Journal {
    /// Appends an entry to the chain.
    public func audit(_ entry: AuditEntry) throws(JournalError) {
        try database.transaction { () throws(JournalError) in try note(entry) }
    }

    /// The same as part of the transaction that is open.
    func note(_ entry: AuditEntry) throws(JournalError) {
        let end = try auditEnd()
        let link = AuditLink(entry, sequence: (end?.sequence ?? 0) + 1, after: end?.hash ?? AuditLink.origin)
        try database.run(
            "INSERT INTO audit (sequence, at, kind, subject, detail, hash) VALUES (?, ?, ?, ?, ?, ?)",
            [
                .integer(link.sequence), .integer(entry.at.milliseconds), .text(entry.kind.rawValue),
                .text(entry.subject), .text(entry.detail), .text(link.hash),
            ])
    }

    /// Number and hash of the last entry; `nil` for an empty chain.
    public func auditEnd() throws(JournalError) -> (sequence: Int64, hash: String)? {
        try database.query("SELECT sequence, hash FROM audit ORDER BY sequence DESC LIMIT 1") {
            (row) throws(JournalError) in (try row.integer(0), try row.text(1))
        }.first
    }

    /// Last entry that a kept statement covers; 0 where there is none.
    public func auditSignedUpTo() throws(JournalError) -> Int64 {
        try database.query("SELECT max(sequence) FROM audit_statement") { (row) throws(JournalError) in
            row.optionalInteger(0) ?? 0
        }.first ?? 0
    }

    /// Keeps a signed head instead of the one before, which the chain makes superfluous.
    public func keep(head token: String, sequence: Int64) throws(JournalError) {
        try database.transaction { () throws(JournalError) in try keep(.head, token, sequence) }
    }

    private func keep(_ kind: AuditStatement.Kind, _ token: String, _ sequence: Int64) throws(JournalError) {
        try database.run(
            "INSERT OR REPLACE INTO audit_statement (kind, sequence, token) VALUES (?, ?, ?)",
            [.text(kind.rawValue), .integer(sequence), .text(token)])
    }

    /// The last entry that may be erased because it and all before it are older than `time`; `nil` for none. The last
    /// entry of all stays: the chain goes on from it.
    public func lastAudit(before time: Timestamp) throws(JournalError) -> (sequence: Int64, hash: String)? {
        try database.query(
            """
            SELECT sequence, hash FROM audit
            WHERE sequence < (SELECT coalesce(min(sequence), (SELECT max(sequence) FROM audit)) FROM audit WHERE at >= ?)
            ORDER BY sequence DESC LIMIT 1
            """, [.integer(time.milliseconds)]
        ) { (row) throws(JournalError) in (try row.integer(0), try row.text(1)) }.first
    }

    /// Erases the entries up to `sequence`, for which `checkpoint` stands from now on.
    public func eraseAudit(
        upTo sequence: Int64, checkpoint: String, at now: Timestamp = .now
    ) throws(JournalError) {
        try database.transaction { () throws(JournalError) in
            try keep(.checkpoint, checkpoint, sequence)
            try database.run("DELETE FROM audit WHERE sequence <= ?", [.integer(sequence)])
            try note(AuditEntry(.retention, detail: "audit entries up to \(sequence) erased", at: now))
        }
    }

    /// Erases transactions that ended before `time`, whatever belongs to them included. Those without an end stay, and so
    /// do idempotency keys: a request that comes again must not be a new one.
    ///
    /// - Parameters:
    ///   - refundableBefore: what can still be refunded stays unless it ended before this.
    ///   - now: of the entry that says so, which is older than nothing it erases.
    /// - Returns: how many.
    public func eraseTransactions(
        endedBefore time: Timestamp, refundableBefore: Timestamp? = nil, at now: Timestamp
    ) throws(JournalError) -> Int {
        let time = min(time, now)
        let refundable = min(time, refundableBefore ?? time)
        return try database.transaction { () throws(JournalError) in
            // They name nobody and nothing, and stay as long as what began.
            try database.run("DELETE FROM barred_key WHERE at < ?", [.integer(time.milliseconds)])
            try markErasable(endedBefore: time, refundableBefore: refundable)
            let count = try database.query("SELECT count(*) FROM erasable") { (row) throws(JournalError) in
                Int(try row.integer(0))
            }
            guard let count = count.first, count > 0 else { return 0 }
            // First the entry, then what it tells of: the mark is never later than the newest entry.
            try note(AuditEntry(.retention, detail: Erasure(count: count, before: time).text, at: now))
            try database.run(
                "UPDATE installation SET erased_before = max(erased_before, ?)", [.integer(time.milliseconds)])
            let erased = "SELECT id FROM erasable"
            try keepKeys(of: "id IN (\(erased))", [])
            try database.run(
                "DELETE FROM operation_change WHERE operation IN (SELECT id FROM operation WHERE payment IN (\(erased)))"
            )
            for table in ["operation", "state_change", "pin_attempt", "session"] {
                try database.run("DELETE FROM \(table) WHERE payment IN (\(erased))")
            }
            // What no end of day has seen yet stays for it: ids and sums, and nothing of the card.
            try database.run(
                """
                DELETE FROM ledger WHERE day IS NOT NULL AND at < ?
                    AND (payment IN (\(erased)) OR payment NOT IN (SELECT id FROM payment))
                """, [.integer(time.milliseconds)])
            // They name payments.
            try database.run(
                "UPDATE business_day SET figures = NULL WHERE closed_at < ?", [.integer(time.milliseconds)])
            // A refund before what it names.
            try database.run("DELETE FROM payment WHERE of IS NOT NULL AND id IN (\(erased))")
            try database.run("DELETE FROM payment WHERE id IN (\(erased))")
            return count
        }
    }

    /// Writes down, for the length of a transaction, which payments may be erased. A payment and the refunds that name it
    /// go together; none goes that still holds a sum, or can be refunded.
    private func markErasable(
        endedBefore time: Timestamp, refundableBefore refundable: Timestamp
    ) throws(JournalError) {
        let ended: [TransactionState] = [
            .approved, .declined, .delivered, .cancelled, .failed, .reversed, .completed,
        ]
        try database.run(script: "CREATE TEMP TABLE IF NOT EXISTS erasable (id TEXT PRIMARY KEY) STRICT")
        try database.run("DELETE FROM erasable")
        try database.run(
            """
            INSERT INTO erasable SELECT id FROM payment WHERE updated_at < ? AND state IN (\(
                ended.map { "'\($0.rawValue)'" }.joined(separator: ", ")))
                AND NOT (account IS NOT NULL AND json_valid(account)
                    AND (json_extract(account, '$.remaining') > 0 OR json_extract(account, '$.pendingCapture') > 0
                        OR (json_extract(account, '$.refundable') > 0 AND updated_at >= ?)))
                AND NOT EXISTS (SELECT 1 FROM ledger WHERE payment = payment.id AND at >= ?)
                AND NOT EXISTS (SELECT 1 FROM operation WHERE payment = payment.id
                    AND (attention IS NOT NULL OR state IN ('created', 'sent', 'unknown') OR updated_at >= ?))
            """,
            [
                .integer(time.milliseconds), .integer(refundable.milliseconds), .integer(time.milliseconds),
                .integer(time.milliseconds),
            ])
        try database.run(
            """
            DELETE FROM erasable WHERE id IN (SELECT of FROM payment WHERE of IS NOT NULL AND id NOT IN (SELECT id FROM erasable))
            """)
        try database.run(
            """
            DELETE FROM erasable WHERE id IN
                (SELECT id FROM payment WHERE of IS NOT NULL AND of NOT IN (SELECT id FROM erasable))
            """)
    }

    /// Time of the newest entry, by its place in the chain; `nil` for an empty chain.
    public func newestAuditTime() throws(JournalError) -> Timestamp? {
        try database.query("SELECT at FROM audit ORDER BY sequence DESC LIMIT 1") { (row) throws(JournalError) in
            Timestamp(milliseconds: try row.integer(0))
        }.first
    }

    /// Takes the mark back that an erasure with a wrong clock has left: it never passes the newest entry.
    func correctErasedMark() throws(JournalError) {
        try database.run(
            """
            UPDATE installation SET erased_before = newest
                FROM (SELECT coalesce((SELECT at FROM audit ORDER BY sequence DESC LIMIT 1), 0) AS newest)
                WHERE erased_before > newest
            """)
    }

    /// Several changes in one write to the disk: each of them all or not at all, whatever becomes of the others.
    ///
    /// - Parameter durable: on the disk when this returns.
    public func together(durable: Bool = true, _ body: () -> Void) throws(JournalError) {
        try database.transaction(durable: durable) { () throws(JournalError) in body() }
    }
}
