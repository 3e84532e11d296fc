// SPDX-License-Identifier: Apache-2.0
public import Wire

/// What the journal notes about itself.
extension Journal {
    /// Thumbprint of the installation key that this journal belongs with; `nil` until it was bound to one.
    public func boundKey() throws(JournalError) -> String? { try Journal.meta("installation-key", in: database) }

    /// Binds the journal to the key with this thumbprint.
    public func bind(key thumbprint: String) throws(JournalError) {
        try database.transaction { () throws(JournalError) in
            try Journal.setMeta("installation-key", thumbprint, in: database)
        }
    }

    /// Whether anything in it is signed by an installation key, which nobody can replace then.
    public func needsItsKey() throws(JournalError) -> Bool {
        try database.query(
            """
            SELECT EXISTS (SELECT 1 FROM audit_statement) OR EXISTS (SELECT 1 FROM queue_record)
                OR EXISTS (SELECT 1 FROM batch)
            """
        ) { (row) throws(JournalError) in try row.integer(0) != 0 }.first ?? true
    }

    /// Writes a row, as a sale would: on the disk when it returns.
    public func probe(at time: Timestamp) throws(JournalError) {
        try database.transaction { () throws(JournalError) in
            try Journal.setMeta("probe", "\(time)", in: database)
        }
    }

    /// The last time of the wall clock that the daemon believed; `nil` where nobody has noted one.
    public func lastBelievedTime() throws(JournalError) -> Timestamp? {
        guard let text = try Journal.meta("believed-time", in: database) else { return nil }
        guard let milliseconds = Int64(text) else { throw .damaged }
        return Timestamp(milliseconds: milliseconds)
    }

    public func noteBelieved(_ time: Timestamp) throws(JournalError) {
        try database.transaction { () throws(JournalError) in
            try Journal.setMeta("believed-time", "\(time.milliseconds)", in: database)
        }
    }

    /// Whether somebody has begun the journal, of this or another version.
    static func isBegun(_ database: Database) throws(JournalError) -> Bool {
        let version = try database.query("PRAGMA user_version") { (row) throws(JournalError) in try row.integer(0) }
        guard version.first ?? 0 > 0 else { return false }
        let rows = try database.query("SELECT count(*) FROM installation") { (row) throws(JournalError) in
            try row.integer(0)
        }
        return rows.first ?? 0 > 0
    }

    static func meta(_ name: String, in database: Database) throws(JournalError) -> String? {
        try database.query("SELECT value FROM meta WHERE name = ?", [.text(name)]) { (row) throws(JournalError) in
            try row.text(0)
        }.first
    }

    static func setMeta(_ name: String, _ value: String, in database: Database) throws(JournalError) {
        try database.run("INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)", [.text(name), .text(value)])
    }

    static func columns(of table: String, in database: Database) throws(JournalError) -> [String] {
        try database.query("SELECT name FROM pragma_table_info('\(table)') ORDER BY cid") {
            (row) throws(JournalError) in try row.text(0)
        }
    }
}
