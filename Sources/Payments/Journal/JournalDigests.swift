// SPDX-License-Identifier: Apache-2.0
import Crypto
import PaymentValues

/// What tells a damaged payment from a sound one: a digest over its row, its states and all that the books have of it,
/// renewed with each write in the same transaction. SQLite finds pages that hang together wrongly; a byte that is another one within a
/// value it does not find. Of what belongs to no payment each row has a digest of its own.
///
/// It is no protection against people: whoever can write the file can write the digest. That is what the audit chain is for.
struct JournalDigests {
    static let function = "row_digest"
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

    init(of database: Database) throws(JournalError) {
        var columns: [String: [String]] = [:]
        for table in ["payment", "operation_change"] + JournalDigests.ofPayment.map(\.table)
            + JournalDigests.others.map(\.table)
        {
            columns[table] = try Journal.columns(of: table, in: database)
        }
        self.columns = columns
    }

    /// Over one row as it stands, in SQL.
    private func digest(of row: String, in table: String) -> String {
        let columns = (columns[table] ?? []).filter { table != "installation" || !JournalDigests.counters.contains($0) }
        return "\(JournalDigests.function)(\(columns.map { "\(row).\($0)" }.joined(separator: ", ")))"
    }

    // MARK: - Payments

    /// As the version before this one has it: a payment with its states.
    static func former(columns: [String]) -> String {
        let states = """
            (SELECT group_concat(state || '@' || at) FROM
                (SELECT state, at FROM state_change WHERE payment = payment.id ORDER BY sequence))
            """
        return "\(function)(\(columns.map { "payment.\($0)" }.joined(separator: ", ")), \(states))"
    }

    /// The digest of a payment as it stands, in SQL; `payment` is the row.
    var ofPayment: String {
        func list(_ table: String, from source: String, by order: String) -> String {
            """
            (SELECT group_concat(digest) FROM (SELECT \(digest(of: table, in: table)) AS digest
                FROM \(source).payment = payment.id ORDER BY \(order)))
            """
        }
        // A join, in the order of the payment's operations: SQLite fills a table of its own for `IN (SELECT …)`.
        let steps = "operation CROSS JOIN operation_change ON operation_change.operation = operation.id WHERE operation"
        let books =
            JournalDigests.ofPayment.map { list($0.table, from: "\($0.table) WHERE \($0.table)", by: $0.order) }
            + [list("operation_change", from: steps, by: "operation_change.sequence")]
        let former = JournalDigests.former(columns: columns["payment"] ?? [])
        return "\(former.dropLast()), \(books.joined(separator: ", ")))"
    }

    /// The digest that was written, in SQL.
    static let written = "(SELECT value FROM meta WHERE name = '\(prefix)' || payment.id)"

    /// Renews the digests with whatever this connection writes. Nothing of it is in the file.
    ///
    /// What computes a digest is in the triggers of two views, so that SQLite reads its text once, and not with each trigger that asks
    /// for it: a start compiles all of them.
    var triggers: String {
        let payments = JournalDigests.ofPayment.map { table, _ in
            """
            CREATE TEMP TRIGGER digest_of_new_\(table) AFTER INSERT ON \(table) BEGIN \(renewal(of: "NEW.payment")) END;
            CREATE TEMP TRIGGER digest_of_changed_\(table) AFTER UPDATE ON \(table)
                BEGIN \(renewal(of: "NEW.payment", sparing: JournalDigests.differs)) END;
            CREATE TEMP TRIGGER digest_of_removed_\(table) AFTER DELETE ON \(table)
                BEGIN \(renewal(of: "OLD.payment")) END;
            """
        }
        // An upsert, not `INSERT OR REPLACE`: the conflict clause of the statement that fires a trigger takes the place of the trigger's
        // own (SQLite, CREATE TRIGGER), and an upsert has none.
        return """
            CREATE TEMP VIEW digest_renewal (payment, spared) AS SELECT NULL, NULL;
            CREATE TEMP TRIGGER digest_renewal_of INSTEAD OF INSERT ON digest_renewal BEGIN
                INSERT INTO meta (name, value)
                    SELECT '\(JournalDigests.prefix)' || id, \(ofPayment) FROM payment WHERE id = NEW.payment
                    ON CONFLICT DO UPDATE SET value = excluded.value
                        WHERE value NOT IN ('\(JournalDigests.damaged)', NEW.spared);
                END;
            CREATE TEMP VIEW digest_comparison (payment) AS SELECT NULL;
            CREATE TEMP TRIGGER digest_comparison_of INSTEAD OF INSERT ON digest_comparison BEGIN
                UPDATE meta SET value = '\(JournalDigests.damaged)' WHERE name = '\(JournalDigests.prefix)' || NEW.payment
                    AND value NOT IN ('\(JournalDigests.damaged)', '\(JournalDigests.differs)')
                    AND value IS NOT (SELECT \(ofPayment) FROM payment WHERE id = NEW.payment);
                END;
            CREATE TEMP TRIGGER digest_of_new AFTER INSERT ON payment BEGIN \(renewal(of: "NEW.id")) END;
            CREATE TEMP TRIGGER digest_of_changed AFTER UPDATE ON payment BEGIN \(renewal(of: "NEW.id")) END;
            CREATE TEMP TRIGGER digest_of_state AFTER INSERT ON state_change BEGIN \(renewal(of: "NEW.payment")) END;
            CREATE TEMP TRIGGER digest_of_erased AFTER DELETE ON payment
                BEGIN DELETE FROM meta WHERE name = '\(JournalDigests.prefix)' || OLD.id; END;
            CREATE TEMP TRIGGER digest_of_operation AFTER INSERT ON operation_change
                BEGIN \(renewal(of: "(SELECT payment FROM operation WHERE id = NEW.operation)")) END;
            CREATE TEMP TRIGGER digest_before_day BEFORE UPDATE OF day ON ledger
                BEGIN INSERT INTO digest_comparison VALUES (OLD.payment); END;
            """ + (payments + JournalDigests.others.map { trigger($0.table, $0.key) }).joined(separator: "\n")
    }

    /// - Parameter mark: what stands in the place of a digest and stays, besides `damaged`.
    private func renewal(of payment: String, sparing mark: String = JournalDigests.damaged) -> String {
        "INSERT INTO digest_renewal VALUES (\(payment), '\(mark)');"
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

    /// Over values with their kinds and lengths, so that no two rows look the same.
    static func digest(_ values: [SQLValue]) -> String {
        var hash = SHA256()
        for value in values {
            switch value {
            case .null: hash.update(data: [0])
            case .integer(let number): hash.update(data: [1] + bytes(of: UInt64(bitPattern: number)))
            case .text(let text):
                hash.update(data: [2] + bytes(of: UInt64(text.utf8.count)))
                hash.update(data: Array(text.utf8))
            }
        }
        return LowerHex.text(hash.finalize().prefix(16))
    }

    private static func bytes(of number: UInt64) -> [UInt8] {
        stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> UInt64($0)) }
    }
}
