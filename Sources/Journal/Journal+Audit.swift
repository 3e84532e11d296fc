// SPDX-License-Identifier: Apache-2.0
public import Wire

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
    /// - Parameter now: of the entry that says so, which is older than nothing it erases.
    /// - Returns: how many.
    public func eraseTransactions(endedBefore time: Timestamp, at now: Timestamp) throws(JournalError) -> Int {
        let time = min(time, now)
        let ended: [TransactionState] = [
            .approved, .declined, .delivered, .cancelled, .failed, .reversed, .completed,
        ]
        let marks = ended.map { _ in "?" }.joined(separator: ", ")
        let old = "updated_at < ? AND state IN (\(marks))"
        let values = [SQLValue.integer(time.milliseconds)] + ended.map { .text($0.rawValue) }
        return try database.transaction { () throws(JournalError) in
            let count =
                try database.query("SELECT count(*) FROM payment WHERE \(old)", values) {
                    (row) throws(JournalError) in Int(try row.integer(0))
                }.first ?? 0
            guard count > 0 else { return 0 }
            // First the entry, then what it tells of: the mark is never later than the newest entry.
            try note(AuditEntry(.retention, detail: Erasure(count: count, before: time).text, at: now))
            try database.run(
                "UPDATE installation SET erased_before = max(erased_before, ?)", [.integer(time.milliseconds)])
            try keepKeys(of: old, values)
            try database.run(
                "DELETE FROM state_change WHERE payment IN (SELECT id FROM payment WHERE \(old))", values)
            try database.run("DELETE FROM payment WHERE \(old)", values)
            return count
        }
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
            UPDATE installation SET erased_before =
                min(erased_before, coalesce((SELECT at FROM audit ORDER BY sequence DESC LIMIT 1), 0))
            """)
    }

    /// Several changes in one write to the disk: each of them all or not at all, whatever becomes of the others.
    public func together(_ body: () -> Void) throws(JournalError) {
        try database.transaction { () throws(JournalError) in body() }
    }
}
