// SPDX-License-Identifier: Apache-2.0
public import PaymentValues

/// What the journal notes about itself.
extension Journal {
    /// Thumbprint of the installation key that this journal belongs with; `nil` until it was bound to one.
    public func boundKey() throws(JournalError) -> String? { try Journal.meta("installation-key", in: database) }

    /// Binds the journal to the key with this thumbprint.
    ///
    /// - Parameter story: what the audit chain of new books begins with.
    public func bind(key thumbprint: String, telling story: [String] = []) throws(JournalError) {
        try database.transaction { () throws(JournalError) in
            try Journal.setMeta("installation-key", thumbprint, in: database)
            try tell(story)
        }
    }

    /// Tells of new books that were wished and, since these are bound already, not begun, unless these are the new ones.
    public func tellUnlessTold(_ story: [String]) throws(JournalError) {
        try database.transaction { () throws(JournalError) in
            guard try Journal.meta("new-books", in: database) != Journal.mark(of: story) else { return }
            try note(AuditEntry(.administration, detail: "new books were wished and not begun; these go on"))
            try tell(story)
        }
    }

    private func tell(_ story: [String]) throws(JournalError) {
        guard !story.isEmpty else { return }
        for line in story { try note(AuditEntry(.administration, detail: line)) }
        try Journal.setMeta("new-books", Journal.mark(of: story), in: database)
    }

    /// The latest of the folders that it names.
    private static func mark(of story: [String]) -> String {
        story.last { $0.hasPrefix(formerJournal) } ?? ""
    }

    /// What a line begins with that names the folder of former books.
    public static let formerJournal = "former books are in "

    /// Number of the newest transaction; 0 where there is none.
    public func newestNumber() throws(JournalError) -> Int64 {
        try database.query("SELECT max(number) FROM payment") { (row) throws(JournalError) in
            row.optionalInteger(0) ?? 0
        }.first ?? 0
    }

    /// Names of write-ahead logs that were damaged and kept in a journal's folder, until somebody removes them.
    public static func damagedLogs(in directory: String) -> [String] {
        WriteAheadLog.kept(beside: directory + "/" + fileName)
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

    /// Writes what a daemon at rest has to keep, in one commit.
    ///
    /// - Parameters:
    ///   - believed: the last time of the wall clock that was believed.
    ///   - contact: when the payment service was last reached, in which boot of the machine, and which one that was.
    ///   - sign: signs the end of the audit chain, where the last signed head does not cover it.
    /// - Returns: the end that was signed; `nil` for none.
    public func keep(
        believed: Timestamp?, contact: (at: Timestamp, boot: String, serviceName: String)?,
        signing sign: (_ sequence: Int64, _ hash: String) -> String?
    ) throws(JournalError) -> (sequence: Int64, hash: String)? {
        try database.transaction { () throws(JournalError) in
            if let believed { try noteBelieved(believed) }
            if let contact { try noteOnline(at: contact.at, boot: contact.boot, serviceName: contact.serviceName) }
            guard let end = try auditEnd(), try end.sequence > auditSignedUpTo(),
                let token = sign(end.sequence, end.hash)
            else { return nil }
            try keep(head: token, sequence: end.sequence)
            return end
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
