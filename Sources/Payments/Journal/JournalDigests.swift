// SPDX-License-Identifier: Apache-2.0
import Crypto
import PaymentValues

/// What tells a damaged payment from a sound one: a digest over its row, its states and all that the books have of it,
/// renewed at the end of each transaction that writes any of it, as a part of that. SQLite finds pages that hang together wrongly; a byte that is another one within a
/// value it does not find. Of what belongs to no payment each row has a digest of its own.
///
/// It is no protection against people: whoever can write the file can write the digest. That is what the audit chain is for.
struct JournalDigests {
    static let function = "row_digest"
    /// Tells `DueDigests` of a write, and asks it: functions of SQL, too.
    static let noting = "note_due_digest"
    static let sparing = "spared_of_due_digest"
    /// Names of the rows of `meta` that hold them begin so.
    static let prefix = "payment:"

    /// Stands in the place of the digest of a payment whose ledger says something else.
    static let differs = "ledger differs"
    /// Stands in the place of a digest that was found wrong: no write takes what is there for right afterwards.
    static let damaged = "damaged"

    /// What belongs to a payment, by the column that says to which, in the order in which it is taken. A row of it that is
    /// not as it was written costs that payment.
    static let ofPayment: [(table: String, order: String)] = [
        ("ledger", "sequence"), ("operation", "id"), ("queue_record", "sequence"), ("open_item", "payment"),
        ("pin_attempt", "id"), ("session", "payment"),
    ]
    /// What belongs to no payment, with what its rows are known by. Rows that are written anew each minute have none, nor
    /// have counters that every sale counts: docs/operating/operations.md.
    static let others: [(table: String, key: String)] = [
        ("business_day", "id"), ("batch", "id"), ("credential", "id"), ("agreement", "id"),
        ("profile", "sequence"), ("terms_acceptance", "sequence"), ("installation", "only_row"),
        ("standing_lane", "lane"), ("barred_key", "digest"),
    ]
    /// Counters of the only row of `installation`.
    private static let counters: Set<String> = ["next_event", "next_number", "next_change"]

    /// Columns of the tables, in their order.
    private let columns: [String: [String]]
    /// The digest of a payment as it stands, in SQL; `payment` is the row.
    let ofPayment: String

    init(of database: Database) throws(JournalError) {
        var columns: [String: [String]] = [:]
        for table in ["payment", "operation_change"] + JournalDigests.ofPayment.map(\.table)
            + JournalDigests.others.map(\.table)
        {
            columns[table] = try Journal.columns(of: table, in: database)
        }
        self.columns = columns
        ofPayment = JournalDigests.ofPayment(columns)
    }

    private func digest(of row: String, in table: String) -> String {
        JournalDigests.digest(of: row, in: table, columns)
    }

    /// Over one row as it stands, in SQL.
    private static func digest(of row: String, in table: String, _ columns: [String: [String]]) -> String {
        let columns = (columns[table] ?? []).filter { table != "installation" || !counters.contains($0) }
        return "\(function)(\(columns.map { "\(row).\($0)" }.joined(separator: ", ")))"
    }

    // MARK: - Payments

    private static func ofPayment(_ columns: [String: [String]]) -> String {
        func list(_ table: String, from source: String, by order: String) -> String {
            """
            (SELECT group_concat(digest) FROM (SELECT \(digest(of: table, in: table, columns)) AS digest
                FROM \(source).payment = payment.id ORDER BY \(order)))
            """
        }
        // A join, in the order of the payment's operations: SQLite fills a table of its own for `IN (SELECT …)`.
        let steps = "operation CROSS JOIN operation_change ON operation_change.operation = operation.id WHERE operation"
        let books =
            ofPayment.map { list($0.table, from: "\($0.table) WHERE \($0.table)", by: $0.order) }
            + [list("operation_change", from: steps, by: "operation_change.sequence")]
        let states = """
            (SELECT group_concat(state || '@' || at) FROM
                (SELECT state, at FROM state_change WHERE payment = payment.id ORDER BY sequence))
            """
        let row = (columns["payment"] ?? []).map { "payment.\($0)" }
        return "\(function)(\((row + [states] + books).joined(separator: ", ")))"
    }

    /// The digest that was written, in SQL.
    static let written = "(SELECT value FROM meta WHERE name = '\(prefix)' || payment.id)"

    /// Whether a payment is as it was written, in SQL; `payment` is the row. What the open transaction has written is, unless
    /// something was found wrong before.
    var isSoundPayment: String {
        """
        CASE WHEN \(JournalDigests.sparing)(payment.id) IS NULL THEN \(ofPayment) IS \(JournalDigests.written)
            ELSE ifnull(\(JournalDigests.written), '') NOT IN ('\(JournalDigests.damaged)', \(JournalDigests.sparing)(payment.id))
            END
        """
    }

    /// Renews the digest of the payment that the first parameter names, unless the second stands in its place, or `damaged`.
    ///
    /// An upsert, not `INSERT OR REPLACE`, which would write over both.
    var renewalOfPayment: String {
        """
        INSERT INTO meta (name, value) SELECT '\(JournalDigests.prefix)' || id, \(ofPayment) FROM payment WHERE id = ?1
            ON CONFLICT DO UPDATE SET value = excluded.value WHERE value NOT IN ('\(JournalDigests.damaged)', ?2)
        """
    }

    /// Notes payments whose digests are due, and renews the others, with whatever this connection writes. Nothing of it is in
    /// the file.
    ///
    /// A day end writes into rows of many payments, which it compares before: what this transaction has written already is
    /// compared no more.
    var triggers: String {
        let payments = JournalDigests.ofPayment.map { table, _ in
            """
            CREATE TEMP TRIGGER digest_of_new_\(table) AFTER INSERT ON \(table) BEGIN \(note("NEW.payment")) END;
            CREATE TEMP TRIGGER digest_of_changed_\(table) AFTER UPDATE ON \(table)
                BEGIN \(note("NEW.payment", keepsDifference: true)) END;
            CREATE TEMP TRIGGER digest_of_removed_\(table) AFTER DELETE ON \(table) BEGIN \(note("OLD.payment")) END;
            """
        }
        return """
            CREATE TEMP TRIGGER digest_of_new AFTER INSERT ON payment BEGIN \(note("NEW.id")) END;
            CREATE TEMP TRIGGER digest_of_changed AFTER UPDATE ON payment BEGIN \(note("NEW.id")) END;
            CREATE TEMP TRIGGER digest_of_state AFTER INSERT ON state_change BEGIN \(note("NEW.payment")) END;
            CREATE TEMP TRIGGER digest_of_erased AFTER DELETE ON payment
                BEGIN DELETE FROM meta WHERE name = '\(JournalDigests.prefix)' || OLD.id; END;
            CREATE TEMP TRIGGER digest_of_operation AFTER INSERT ON operation_change
                BEGIN \(note("(SELECT payment FROM operation WHERE id = NEW.operation)")) END;
            CREATE TEMP TRIGGER digest_before_day BEFORE UPDATE OF day ON ledger
                WHEN \(JournalDigests.sparing)(OLD.payment) IS NULL BEGIN
                UPDATE meta SET value = '\(JournalDigests.damaged)' WHERE name = '\(JournalDigests.prefix)' || OLD.payment
                    AND value NOT IN ('\(JournalDigests.damaged)', '\(JournalDigests.differs)')
                    AND value IS NOT (SELECT \(ofPayment) FROM payment WHERE id = OLD.payment);
                END;
            """ + (payments + JournalDigests.others.map { trigger($0.table, $0.key) }).joined(separator: "\n")
    }

    /// - Parameter keepsDifference: whether `differs` stays where it stands in the place of the digest.
    private func note(_ payment: String, keepsDifference: Bool = false) -> String {
        "SELECT \(JournalDigests.noting)(\(payment), \(keepsDifference ? 1 : 0));"
    }

    /// Writes the digest of every row, believing what is there.
    var renewal: String {
        let payments = """
            DELETE FROM meta WHERE name >= '\(JournalDigests.prefix)' AND name < '\(JournalDigests.prefix)~';
            INSERT INTO meta (name, value) SELECT '\(JournalDigests.prefix)' || id, \(ofPayment) FROM payment;
            DELETE FROM digest;
            """
        let others = JournalDigests.others.map { table, key in
            """
            INSERT INTO digest (owner, row, value)
                SELECT '\(table)', \(key), \(digest(of: table, in: table)) FROM \(table);
            """
        }
        return ([payments] + others).joined(separator: "\n")
    }

    // MARK: - What belongs to no payment

    /// What was found wrong stays so until the row is gone.
    private func trigger(_ table: String, _ key: String) -> String {
        func renewal(_ row: String) -> String {
            """
            INSERT INTO digest (owner, row, value) SELECT '\(table)', \(row).\(key), \(digest(of: row, in: table)) WHERE true
                ON CONFLICT DO UPDATE SET value = excluded.value WHERE value <> '\(JournalDigests.damaged)';
            """
        }
        // Counters are counted by every sale.
        let changed = (columns[table] ?? []).filter { table != "installation" || !JournalDigests.counters.contains($0) }
        let columns = changed.joined(separator: ", ")
        return """
            CREATE TEMP TRIGGER digest_of_new_\(table) AFTER INSERT ON \(table) BEGIN \(renewal("NEW")) END;
            CREATE TEMP TRIGGER digest_before_\(table) BEFORE UPDATE OF \(columns) ON \(table) BEGIN
                UPDATE digest SET value = '\(JournalDigests.damaged)' WHERE owner = '\(table)' AND row = OLD.\(key)
                    AND value IS NOT \(digest(of: "OLD", in: table));
                END;
            CREATE TEMP TRIGGER digest_of_changed_\(table) AFTER UPDATE OF \(columns) ON \(table)
                BEGIN \(renewal("NEW")) END;
            CREATE TEMP TRIGGER digest_of_removed_\(table) AFTER DELETE ON \(table)
                BEGIN DELETE FROM digest WHERE owner = '\(table)' AND row = OLD.\(key); END;
            """
    }

    /// Whether a row of such a table is as it was written, in SQL; `table` is the row.
    func isSound(_ table: String, by key: String) -> String {
        """
        (SELECT value FROM digest WHERE owner = '\(table)' AND row = \(table).\(key)) IS \(digest(of: table, in: table))
        """
    }
}

/// A digest over values with their kinds and lengths, so that no two rows look the same.
struct RowDigest {
    private var bytes: [UInt8] = []

    /// - Parameter room: bytes of the texts that are to come, and numbers of values.
    init(count: Int, textBytes: Int) { bytes.reserveCapacity(9 * count + textBytes) }

    mutating func addNull() { bytes.append(0) }

    mutating func add(_ number: Int64) { add(1, UInt64(bitPattern: number)) }

    mutating func add(text: UnsafeBufferPointer<UInt8>) {
        add(2, UInt64(text.count))
        unsafe bytes.append(contentsOf: text)
    }

    /// Lower-case hexadecimal digits.
    var text: String { LowerHex.text(SHA256.hash(data: bytes).prefix(16)) }

    /// The most significant byte first.
    private mutating func add(_ kind: UInt8, _ number: UInt64) {
        bytes.append(kind)
        for shift: UInt64 in [56, 48, 40, 32, 24, 16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
    }
}
