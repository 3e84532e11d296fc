// SPDX-License-Identifier: Apache-2.0
import Envelope
import Foundation
import POSAPI
import PaymentValues
import TestSupport
import Testing
import Transactions

@testable import Journal

@Suite("A bit that flips within a value", .timeLimit(.minutes(5)))
struct RowDigestTests {
    /// What nobody notices, and needs not: the table in docs/operations.md.
    private static let spared: Set<String> = [
        "installation.next_event", "installation.next_number", "installation.next_change", "meta.probe",
        "meta.believed-time", "meta.new-books", "meta.digests", "online_contact.at", "online_contact.boot",
        "online_contact.issuer",
        "spent_key.digest", "state_change.sequence", "audit_statement.kind", "audit_statement.sequence",
    ]

    /// Every table has a row, and every column a value.
    private func filled() throws -> BookedJournal {
        let books = try BookedJournal()
        let sale = try books.payment(20_000, .manual)
        _ = try books.carryOut(sale, .capture(amount: 13_400, tip: 1_400))
        _ = try books.payment(700)
        _ = try books.journal.closeDay(
            NewEndOfDay(
                owner: Principal(uid: 1000), idempotencyKey: "d-1", requestHash: "h", label: "today", at: books.now))
        let stored = try books.payment(300, states: [.armed, .reading, .sealed, .stored])
        try books.journal.noteBelieved(books.now)
        try books.journal.probe(at: books.now)
        try books.journal.bind(key: "thumbprint", telling: [Journal.formerJournal + "there"])
        try books.journal.noteOnline(at: books.now, boot: "boot", serviceName: "psp")
        // With the digests that belong to it, as the journal writes.
        try books.tamper(
            """
            INSERT INTO batch VALUES ('batch', 'reset', 'psp', 1, 'hash', 'signature', 5, 6, 'receipt');
            INSERT INTO queue_record (payment, record, issuer, stored_at, batch, attempts, due)
                VALUES ('\(stored)', 'record', 'psp', 5, 'batch', 3, 6);
            INSERT INTO open_item VALUES ('\(stored)', 'unanswered', 5);
            INSERT INTO pin_attempt VALUES ('pin', '\(stored)', 'pad', 4, 'keys', 'sent', 5, 6);
            INSERT INTO credential VALUES ('card', 'token', 'test', 'psp', '{}', '{}', '2031-01', 'network', '\(sale)',
                'deleting', 5, 6, 3, 7);
            INSERT INTO agreement VALUES ('agreement', 'card', '\(sale)', '{}', 'hash', 5, 1000, 'till', 'key', 'hash', 6,
                'ended');
            INSERT INTO profile (serial, merchant, signed_by, token, applied_at) VALUES (1, 'merchant', 'key', 'token', 5);
            INSERT INTO terms_acceptance (merchant, version, hash, signed_by, accepted_at, accepted_by, uid, source)
                VALUES ('merchant', '1', 'hash', 'key', 5, 'root', 0, 'local');
            INSERT INTO spent_key VALUES ('digest');
            INSERT INTO session VALUES ('\(stored)', 3, 'hold', 'machine-1', 7);
            INSERT INTO barred_key VALUES ('barred', 'cancelled', 5);
            INSERT INTO standing_lane VALUES ('main', 3, 1, 500);
            INSERT INTO ledger (at, payment, operation, entry, currency, mode, scheme, type, lane, cashier)
                VALUES (5, '\(sale)', 'other', 'corrected', 'EUR', 'test', 'visa', 'purchase', 'main', 'anna');
            UPDATE installation SET erased_before = 5;
            UPDATE business_day SET service = 'psp', request = 'request', figures = '{}', elsewhere = 5, resolution = '{}',
                due = 5, idempotency_key = 'd-1', till = 'till' WHERE state <> 'open';
            UPDATE operation SET attention = 'unanswered', attention_since = 5, error = '{}', due = 5, till = 'till';
            """)
        return books
    }

    /// One bit of the last value of a column that is one, in a copy: of a number the twenty-first, so that no
    /// other row has it, of a text the second of its first
    /// character.
    ///
    /// - Returns: the copy; `nil` where no row has a value.
    private func flipped(
        _ table: String, _ column: String, where condition: String, _ books: BookedJournal
    ) throws -> String? {
        let copy = books.path + "-copy"
        try? FileManager.default.removeItem(atPath: copy)
        try FileManager.default.copyItem(atPath: books.path, toPath: copy)
        let database = try Database(path: copy + "/journal.sqlite")
        let triggers = try database.query("SELECT name FROM sqlite_schema WHERE type = 'trigger'") {
            (row) throws(JournalError) in try row.text(0)
        }
        try database.run(
            script: "PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF;"
                + triggers.map { "DROP TRIGGER \($0);" }.joined())
        let other = """
            CASE typeof(\(column)) WHEN 'integer' THEN (\(column) | 1048576) - (\(column) & 1048576)
                ELSE char((unicode(\(column)) | 2) - (unicode(\(column)) & 2)) || substr(\(column), 2) END
            """
        let hit = "\(column) IS NOT NULL AND \(column) <> '' AND \(condition)"
        try database.run(
            """
            UPDATE \(table) SET \(column) = \(other)
            WHERE \(column) = (SELECT max(\(column)) FROM \(table) WHERE \(hit)) AND \(hit)
            """)
        return database.changes > 0 ? copy : nil
    }

    /// Who notices it.
    private func notices(_ path: String, _ key: SigningKey) throws -> Set<String> {
        do throws(JournalError) {
            var found: Set<String> = []
            do {
                let journal = try Journal(directory: path)
                if try !journal.damagedPayments().isEmpty { found.insert("payment") }
                if try !journal.damagedRows().isEmpty { found.insert("row") }
                if try journal.boundKey() != "thumbprint" { found.insert("key") }
            }
            var examination = AuditExamination(file: path + "/journal.sqlite", key: key.verificationKey)
            var faults: [AuditFault]?
            while faults == nil { faults = try examination.step(StopRequest()) }
            if faults?.isEmpty == false { found.insert("audit") }
            return found
        } catch {
            return ["start"]
        }
    }

    @Test("W9: one bit in every column of every table is noticed, or has its reason in docs/operating/operations.md")
    func everyColumn() throws {
        let books = try filled()
        let key = SigningKey()
        let end = try #require(try books.journal.auditEnd())
        let head = try AuditStatement(.head, installation: "x", sequence: end.sequence, hash: end.hash).signed(by: key)
        try books.journal.keep(head: head, sequence: end.sequence)
        try books.journal.scrub()
        #expect(try books.journal.damagedPayments().isEmpty && books.journal.damagedRows().isEmpty)
        let names = try names(books)
        var unnoticed: Set<String> = []
        var missing: Set<String> = []
        var count = 0
        for table in try books.journal.tables() {
            for column in try Journal.columns(of: table, in: books.journal.database) {
                for row in table == "meta" ? names : [""] {
                    let condition = row.isEmpty ? "1" : "name = '\(row)'"
                    let name = row.isEmpty ? "\(table).\(column)" : "meta.\(row)"
                    guard let copy = try flipped(table, column, where: condition, books) else {
                        missing.insert(name)
                        continue
                    }
                    count += 1
                    if try notices(copy, key).isEmpty { unnoticed.insert(name) }
                    try FileManager.default.removeItem(atPath: copy)
                }
            }
        }
        // Without one nothing is noticed.
        let whole = try #require(try flipped("meta", "value", where: "name = 'probe'", books))
        #expect(try notices(whole, key).isEmpty)
        try FileManager.default.removeItem(atPath: whole)
        #expect(unnoticed == Self.spared, "of \(count)")
        // Of payments the digest is over whatever columns there are.
        #expect(missing.filter { !$0.hasPrefix("payment.") }.isEmpty, "no value to flip")
        let page = try Checkout.text("docs/operating/operations.md")
        for name in Self.spared { #expect(page.contains("`\(name)`"), "\(name)") }
    }

    /// Rows of `meta`, and of those that are digests one.
    private func names(_ books: BookedJournal) throws -> [String] {
        try books.sqlite(
            """
            SELECT name FROM meta WHERE name NOT LIKE 'payment:%'
                OR name = (SELECT max(name) FROM meta WHERE name LIKE 'payment:%')
            """
        ).split(separator: "\n").map(String.init)
    }

    @Test(
        "W9: a row that is not as it was written costs what it belongs to, and no write takes it for right afterwards")
    func cost() throws {
        let books = try BookedJournal()
        let hit = try books.payment(1_000)
        let whole = try books.payment(500)
        _ = try books.journal.scrub()
        let drops = try books.sqlite("SELECT name FROM sqlite_schema WHERE type = 'trigger'").split(separator: "\n")
            .map { "DROP TRIGGER \($0);" }.joined()
        _ = try books.sqlite(drops + "UPDATE ledger SET lane = 'main2' WHERE payment = '\(hit)'")
        // A day end writes into the rows of all payments, before anybody has looked.
        _ = try books.journal.closeDay(
            NewEndOfDay(owner: Principal(uid: 1000), idempotencyKey: "d", requestHash: "h", label: "", at: books.now))
        #expect(try books.journal.damagedPayments().map(\.id) == [hit])
        #expect(try books.journal.record(whole)?.transaction.state == .approved)
        try books.tamper("UPDATE payment SET cashier = 'new' WHERE id = '\(hit)'")
        try books.reopen()
        #expect(try books.journal.damagedPayments().map(\.id) == [hit])
        // The day that holds it is whole; one whose own row is not gives no report.
        let day = try #require(try books.journal.day("1"))
        #expect(try books.journal.report(of: day) != nil && books.journal.damagedRows().isEmpty)
        _ = try books.sqlite("UPDATE business_day SET closed_at = closed_at + 4 WHERE number = 1")
        #expect(throws: JournalError.damaged) { try books.journal.report(of: day) }
        #expect(try books.journal.damagedRows() == [DamagedRow(table: "business_day", key: day.id)])
        try books.tamper("UPDATE business_day SET attempts = 1 WHERE number = 1")
        #expect(try books.journal.damagedRows().count == 1)
        // The shop goes on selling.
        _ = try books.payment(700)
    }
}
