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
    public func eraseAudit(upTo sequence: Int64, checkpoint: String) throws(JournalError) {
        try database.transaction { () throws(JournalError) in
            try keep(.checkpoint, checkpoint, sequence)
            try database.run("DELETE FROM audit WHERE sequence <= ?", [.integer(sequence)])
            try note(AuditEntry(.retention, detail: "audit entries up to \(sequence) erased"))
        }
    }

    /// Erases transactions that ended before `time`, whatever belongs to them included. Those without an end stay.
    ///
    /// - Returns: how many.
    public func eraseTransactions(endedBefore time: Timestamp) throws(JournalError) -> Int {
        let ended: [TransactionState] = [
            .approved, .declined, .delivered, .cancelled, .failed, .reversed, .completed,
        ]
        let marks = ended.map { _ in "?" }.joined(separator: ", ")
        let values = [SQLValue.integer(time.milliseconds)] + ended.map { .text($0.rawValue) }
        return try database.transaction { () throws(JournalError) in
            try database.run(
                "UPDATE installation SET erased_before = max(erased_before, ?)", [.integer(time.milliseconds)])
            try database.run(
                """
                DELETE FROM state_change WHERE payment IN
                    (SELECT id FROM payment WHERE updated_at < ? AND state IN (\(marks)))
                """, values)
            try database.run("DELETE FROM payment WHERE updated_at < ? AND state IN (\(marks))", values)
            let count = database.changes
            if count > 0 {
                try note(AuditEntry(.retention, detail: "\(count) transactions that ended before \(time) erased"))
            }
            return count
        }
    }

    /// Several changes in one write to the disk: each of them all or not at all, whatever becomes of the others.
    public func together(_ body: () -> Void) throws(JournalError) {
        try database.transaction { () throws(JournalError) in body() }
    }
}
