// SPDX-License-Identifier: Apache-2.0
import PaymentValues

/// The chain in a journal's file, for reading only. A daemon may work with the file: what it writes meanwhile is not seen.
public final class AuditSource {
    /// The installation's name for support.
    public let installation: String
    /// Statements as they were signed.
    public let statements: [String]
    /// Outlives the connection that asks it.
    private let wish: StopRequest?
    private let database: Database

    /// - Parameter stop: ends what is asked of it early, with an error.
    public init(file: String, stop: StopRequest? = nil) throws(JournalError) {
        wish = stop
        database = try Database(path: file, readOnly: true)
        if let stop { database.interrupt(by: stop) }
        // One view of everything that follows.
        try database.run(script: "BEGIN")
        installation =
            try database.query("SELECT support FROM installation") { (row) throws(JournalError) in
                try row.text(0)
            }.first ?? ""
        statements = try database.query("SELECT token FROM audit_statement ORDER BY sequence") {
            (row) throws(JournalError) in try row.text(0)
        }
    }

    /// Number of the last entry; 0 for an empty chain.
    func end() throws(JournalError) -> Int64 {
        try database.query("SELECT coalesce(max(sequence), 0) FROM audit") { (row) throws(JournalError) in
            try row.integer(0)
        }.first ?? 0
    }

    /// Every entry in order, as it stands there; `nil` for a row that is none.
    public func forEachLink(_ body: (AuditLink?) -> Void) throws(JournalError) {
        _ = try forEachLink(after: .min, upTo: .max, limit: -1, body)
    }

    /// The same of the next entries.
    ///
    /// - Parameter limit: so many; -1 for all.
    /// - Returns: number of the last one; `nil` where there was none.
    func forEachLink(
        after first: Int64, upTo end: Int64, limit: Int64, _ body: (AuditLink?) -> Void
    ) throws(JournalError) -> Int64? {
        try database.query(
            """
            SELECT sequence, at, kind, subject, detail, hash FROM audit WHERE sequence > ? AND sequence <= ?
            ORDER BY sequence LIMIT ?
            """, [.integer(first), .integer(end), .integer(limit)]
        ) { (row) throws(JournalError) in
            let sequence = try row.integer(0)
            guard let kind = AuditEntry.Kind(rawValue: try row.text(2)) else {
                body(nil)
                return sequence
            }
            let entry = AuditEntry(
                kind, subject: try row.text(3), detail: try row.text(4),
                at: Timestamp(milliseconds: try row.integer(1)))
            body(AuditLink(sequence: sequence, entry: entry, hash: try row.text(5)))
            return sequence
        }.last
    }

    /// What a chain that holds does not prove, in words: whoever can write the file can write its digests, too.
    public static let uncovered = [
        "order, card, result, account, settlement of a payment, and the ledger: digests in the same file find damage and a careless hand only",
        "operations, totals, days and stored cards as they stand in their tables: compare them with the payment service or an export",
    ]

    /// Transactions of which the tables say something else than the chain: other states, times or amounts, or nothing at all;
    /// and those whose row is not as the daemon wrote it, or not what the ledger says.
    /// What is older than the chain, or was erased because its time was over, cannot be compared with it.
    public func differences() throws(JournalError) -> [String] {
        var differing: [String] = []
        var next: String? = ""
        while let first = next {
            let slice = try differences(after: first)
            differing += slice.differing
            next = slice.last
        }
        return differing
    }

    /// The same among the next transactions, in the order of their ids.
    ///
    /// - Parameters:
    ///   - first: the last one that was looked at; empty to begin.
    ///   - limit: about so many; what is kept in memory at a time.
    /// - Returns: also the last one that was looked at now; `nil` where there are no more.
    func differences(
        after first: String, limit: Int64 = 2_000
    ) throws(JournalError) -> (differing: [String], last: String?) {
        let range = try range(after: first, limit)
        let chain = try states(
            """
            SELECT subject, detail, at, sequence FROM audit WHERE kind = 'state' AND \(range.of("subject")) ORDER BY sequence
            """, range.values)
        // The sentence is that of `Journal.insert`.
        let tables = try states(
            """
            SELECT payment, CASE state_change.state WHEN 'created'
                THEN 'created ' || type || ' ' || value || ' ' || currency || ' uid ' || uid
                    || CASE till WHEN '' THEN '' ELSE ' till ' || till END
                ELSE state_change.state END, at, 0
            FROM state_change JOIN payment ON payment.id = payment WHERE \(range.of("payment")) ORDER BY payment, sequence
            """, range.values)
        let last = try Dictionary(
            database.query("SELECT id, state FROM payment WHERE \(range.of("id"))", range.values) {
                (row) throws(JournalError) in (try row.text(0), try row.text(1))
            }, uniquingKeysWith: { first, _ in first })
        let begin = try begin()
        let erasures = try erasures()
        let altered = try altered(range)
        let known = Set(chain.keys).union(tables.keys).union(last.keys)
        let differing = known.filter { id in
            if altered.contains(id) { return true }
            let told = chain[id]
            guard let kept = tables[id] else { return !(told?.last.map { isErased($0, erasures) } ?? false) }
            // Its beginning was written before the chain began.
            guard let created = kept.first, created.at >= begin else { return false }
            guard let told, told.map(\.text) == kept.map(\.text), told.map(\.at) == kept.map(\.at) else {
                return true
            }
            return last[id] != kept.last?.text.split(separator: " ").first.map(String.init)
        }
        return (differing.sorted(), range.last)
    }

    /// Ids of transactions from one to another.
    private struct IDRange {
        /// Not a part of it, but where it is empty.
        let first: String
        /// A part of it; `nil` for all that follow.
        let last: String?

        /// A condition, in SQL, with places for `values`.
        func of(_ column: String) -> String {
            "\(column) \(first.isEmpty ? ">=" : ">") ?" + (last == nil ? "" : " AND \(column) <= ?")
        }

        var values: [SQLValue] { [.text(first)] + (last.map { [.text($0)] } ?? []) }
    }

    /// With about `limit` transactions, by whichever knows more of them: the table, or the chain with its several entries for each.
    private func range(after first: String, _ limit: Int64) throws(JournalError) -> IDRange {
        let last = try database.query(
            """
            SELECT min(id) FROM (
                SELECT (SELECT id FROM payment WHERE id > ? ORDER BY id LIMIT 1 OFFSET ?) AS id
                UNION ALL SELECT (SELECT subject FROM audit WHERE kind = 'state' AND subject > ?
                    ORDER BY subject LIMIT 1 OFFSET ?))
            """, [.text(first), .integer(limit), .text(first), .integer(limit * 8)]
        ) { (row) throws(JournalError) in row.optionalText(0) }.first
        return IDRange(first: first, last: last ?? nil)
    }

    /// Payments whose row does not have its digest, or whose account is not what the ledger says. A file that no newer daemon has
    /// opened yet has no digests.
    private func altered(_ range: IDRange) throws(JournalError) -> Set<String> {
        let version = try database.query("PRAGMA user_version") { (row) throws(JournalError) in try row.integer(0) }
        guard version == [Int64(Schema.current.version)] else { return [] }
        let digests = try JournalDigests(of: database)
        let found = try database.query(
            """
            SELECT id FROM payment WHERE \(range.of("id"))
                AND (\(digests.ofPayment) IS NOT \(JournalDigests.written)
                    OR (\(Journal.differsFromLedger)))
            """, range.values
        ) { (row) throws(JournalError) in try row.text(0) }
        return Set(found)
    }

    private struct Step {
        let text: String
        let at: Int64
        /// Of the entry in the chain.
        let sequence: Int64
    }

    /// Whether a later entry says that what ended before a later time was erased. The mark in the tables says nothing:
    /// whoever removes rows can move it, too.
    private func isErased(_ last: Step, _ erasures: [(sequence: Int64, before: Int64)]) -> Bool {
        erasures.contains { $0.sequence > last.sequence && $0.before > last.at }
    }

    private func erasures() throws(JournalError) -> [(sequence: Int64, before: Int64)] {
        try database.query("SELECT sequence, detail FROM audit WHERE kind = 'retention'") {
            (row) throws(JournalError) in (try row.integer(0), Erasure(try row.text(1)))
        }.compactMap { entry in entry.1.map { (entry.0, $0.before.milliseconds) } }
    }

    /// Result words behind a state are not in the other table.
    private func states(_ sql: String, _ values: [SQLValue]) throws(JournalError) -> [String: [Step]] {
        var states: [String: [Step]] = [:]
        _ = try database.query(sql, values) { (row) throws(JournalError) in
            let text = try row.text(1)
            let state = text.hasPrefix("created ") ? text : String(text.prefix { $0 != " " })
            states[try row.text(0), default: []].append(
                Step(text: state, at: try row.integer(2), sequence: try row.integer(3)))
        }
        return states
    }

    private func begin() throws(JournalError) -> Int64 {
        try database.query("SELECT at FROM audit ORDER BY sequence LIMIT 1") { (row) throws(JournalError) in
            try row.integer(0)
        }.first ?? .max
    }
}
