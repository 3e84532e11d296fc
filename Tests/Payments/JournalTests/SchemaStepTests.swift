// SPDX-License-Identifier: Apache-2.0
import Foundation
import POSAPI
import PaymentValues
import TestSupport
import Testing
import Transactions

@testable import Journal

/// No version is older than the first, so the step is made up here: it makes a table anew, and one column more of another.
@Suite("A journal of an older version becomes one of this", .timeLimit(.minutes(5)))
struct SchemaStepTests {
    private static let first = Schema.current.steps
    private static let step = """
        DROP TRIGGER what_goes_on_is_no_open_item;
        CREATE TABLE newer_item (
            payment TEXT PRIMARY KEY REFERENCES payment (id),
            reason TEXT NOT NULL,
            since INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        INSERT INTO newer_item SELECT payment, reason, since FROM open_item;
        DROP TABLE open_item;
        ALTER TABLE newer_item RENAME TO open_item;
        CREATE TRIGGER what_goes_on_is_no_open_item AFTER UPDATE OF state ON payment
            WHEN NEW.state IS NOT OLD.state
            BEGIN DELETE FROM open_item WHERE payment = NEW.id; END;
        ALTER TABLE payment ADD COLUMN colour TEXT;
        UPDATE payment SET colour = 'blue';
        """
    private static let later = Schema(steps: first + [step])

    /// Six payments, a captured hold and a refund in them, as the first version leaves them.
    private func books() throws -> (BookedJournal, [TransactionID]) {
        let books = try BookedJournal()
        var ids = try (1...4).map { try books.payment(Int64($0) * 1_000) }
        let sale = try books.payment(20_000, .manual)
        _ = try books.carryOut(sale, .capture(amount: 13_400, tip: 1_400))
        ids += [sale, try books.payment(700, states: [.armed, .reading, .sealed, .sent, .reversing])]
        try books.journal.keepOpen(.unacknowledged, for: ids[5])
        books.close()
        return (books, ids)
    }

    private func states(_ journal: Journal, _ ids: [TransactionID]) throws -> [TransactionState?] {
        try ids.map { try journal.record($0)?.transaction.state }
    }

    @Test("It opens, twice, with all that it had, and what the old tables held is scrubbed once")
    func opens() throws {
        let (books, ids) = try books()
        let rules = """
            SELECT type, name, tbl_name FROM sqlite_schema WHERE type IN ('index', 'trigger') AND name NOT LIKE 'sqlite_%'
                ORDER BY name
            """
        let before = try books.sqlite(rules)
        for isFirst in [true, false] {
            let journal = try Journal(directory: books.path, schema: Self.later)
            #expect(journal.needsScrub == isFirst)
            #expect(try journal.damagedPayments().isEmpty && journal.damagedRows().isEmpty)
            #expect(try states(journal, ids) == Array(repeating: .approved, count: 5) + [.reversing])
            #expect(try journal.openItems().count == 1)
            // Foreign keys hold again once the steps have run.
            #expect(throws: JournalError.self) { try journal.database.run(script: "DELETE FROM payment") }
            try journal.scrub()
        }
        #expect(try books.sqlite("PRAGMA user_version; SELECT DISTINCT colour FROM payment") == "2\nblue")
        #expect(try books.sqlite("PRAGMA foreign_key_check; PRAGMA integrity_check") == "ok")
        #expect(try books.sqlite(rules) == before)
    }

    @Test("The version before refuses it, and changes nothing")
    func refused() throws {
        let (books, _) = try books()
        do { try Journal(directory: books.path, schema: Self.later).scrub() }
        let before = try Data(contentsOf: URL(filePath: books.path + "/journal.sqlite"))
        #expect(throws: JournalError.newerSchema(found: 2)) { _ = try Journal(directory: books.path) }
        #expect(try Data(contentsOf: URL(filePath: books.path + "/journal.sqlite")) == before)
    }

    @Test("What was damaged before stays damaged: nobody believes it for a step")
    func damage() throws {
        let (books, ids) = try books()
        _ = try books.sqlite("UPDATE payment SET value = 999900 WHERE id = '\(ids[1])'")
        for _ in 1...2 {
            let journal = try Journal(directory: books.path, schema: Self.later)
            #expect(try journal.damagedPayments().map(\.id) == [ids[1]])
            #expect(try journal.record(ids[0])?.transaction.state == .approved)
        }
    }

    @Test(
        "A step that fails, or that takes what others refer to, leaves the file as it was",
        arguments: ["INSERT INTO nowhere VALUES (1)", "DELETE FROM payment"])
    func failing(last: String) throws {
        let (books, ids) = try books()
        let schema = Schema(steps: Self.first + [Self.step + last + ";"])
        #expect(throws: JournalError.self) { _ = try Journal(directory: books.path, schema: schema) }
        #expect(try books.sqlite("PRAGMA user_version") == "1")
        let journal = try Journal(directory: books.path)
        #expect(try states(journal, ids).count { $0 == .approved } == 5)
        #expect(try journal.damagedPayments().isEmpty)
    }

    @Test("A process that is killed in the middle of a step leaves the file as it was")
    func killed() throws {
        let (books, ids) = try books()
        // Pages are written before the end, as they are where a journal is larger than the memory for it.
        let script = """
            PRAGMA cache_size = 1; BEGIN IMMEDIATE;
            \(Self.step)
            PRAGMA user_version = 2;
            .shell kill -9 $PPID
            COMMIT;

            """
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/sqlite3")
        process.arguments = [books.path + "/journal.sqlite"]
        let input = Pipe()
        (process.standardInput, process.standardOutput) = (input, Pipe())
        try process.run()
        try input.fileHandleForWriting.write(contentsOf: Data(script.utf8))
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
        #expect(process.terminationReason == .uncaughtSignal)
        #expect(try books.sqlite("PRAGMA user_version") == "1")
        let journal = try Journal(directory: books.path, schema: Self.later)
        #expect(try states(journal, ids).count { $0 == .approved } == 5)
        #expect(try journal.damagedPayments().isEmpty)
    }
}
