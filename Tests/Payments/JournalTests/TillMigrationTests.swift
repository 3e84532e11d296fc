// SPDX-License-Identifier: Apache-2.0
import Envelope
import Foundation
import Ledger
import POSAPI
import PaymentValues
import TestSupport
import Testing
import Transactions

@testable import Journal

/// A journal that the program has written before there were tills: Tests/Vectors/journal/README.md.
@Suite("The journal of schema 9, without tills")
struct TillMigrationTests {
    private func withCopy(_ body: (String) throws -> Void) throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "schema-9-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: path) }
        try FileManager.default.copyItem(
            at: Checkout.file("Tests/Vectors/journal/schema-9.sqlite"), to: URL(filePath: path + "/" + Journal.fileName)
        )
        try body(path)
    }

    private func sqlite(_ path: String, _ sql: String) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/sqlite3")
        process.arguments = [path + "/" + Journal.fileName, sql]
        let pipe = Pipe()
        (process.standardOutput, process.standardError) = (pipe, pipe)
        try process.run()
        let text = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: text, as: UTF8.self).trimmingCharacters(in: .newlines)
    }

    private func faults(_ path: String) throws -> [AuditFault] {
        let key = try VerificationKey(
            jwk: Array(Data(contentsOf: Checkout.file("Tests/Vectors/journal/schema-9-installation.jwk"))))
        let source = try AuditSource(file: path + "/" + Journal.fileName)
        var verifier = AuditVerifier(key: key)
        for statement in source.statements { verifier.take(statement: statement) }
        var count = 0
        try source.forEachLink { link in
            count += 1
            if let link { verifier.take(link) } else { verifier.takeUnreadable(number: count) }
        }
        for id in try source.differences() { verifier.takeDifference(transaction: id) }
        #expect(count == 41)
        return verifier.finish()
    }

    @Test("It opens, twice, with every row, rule and reference that it had, and its chain verifies before and after")
    func opens() throws {
        try withCopy { path in
            #expect(try sqlite(path, "PRAGMA user_version") == "9")
            let rows = """
                SELECT id, uid, idempotency_key, request_hash, type, mode, lane, value, currency, order_reference, state, card,
                    result, error, details, chip, service, number, change, of, capture, account, card_token FROM payment
                    ORDER BY rowid;
                SELECT id, payment, kind, uid, idempotency_key, value, state, request, result FROM operation ORDER BY rowid;
                SELECT number, id, label, state, uid, idempotency_key, report FROM business_day ORDER BY number;
                SELECT * FROM state_change; SELECT * FROM operation_change; SELECT * FROM ledger;
                """
            let rules = """
                SELECT type, name, tbl_name FROM sqlite_schema WHERE type IN ('index', 'trigger')
                    AND name NOT IN ('payment_by_till', 'day_to_be_asked_about', 'figures_are_given_once', 'a_day_is_settled_once',
                        'one_retry_at_a_time')
                    AND name NOT LIKE 'an_entry_of_a_pin_%' AND tbl_name NOT IN ('credential', 'agreement', 'pin_attempt', 'session', 'standing_lane', 'barred_key')
                    AND name NOT LIKE 'a_session_%' ORDER BY name
                """
            let before = (try sqlite(path, rows), try sqlite(path, rules))
            #expect(try faults(path).isEmpty)
            for _ in 1...2 {
                let journal = try Journal(directory: path)
                #expect(try journal.damagedPayments().isEmpty)
                #expect(try journal.list(TransactionFilter(), limit: 100)?.transactions.count == 7)
            }
            #expect(try sqlite(path, "PRAGMA user_version") == "17")
            #expect(try sqlite(path, rows) == before.0)
            #expect(try sqlite(path, rules) == before.1)
            #expect(try sqlite(path, "PRAGMA foreign_key_check; PRAGMA integrity_check") == "ok")
            #expect(
                try sqlite(path, "PRAGMA foreign_key_list(state_change)").contains("payment|payment|id"))
            #expect(try sqlite(path, "SELECT DISTINCT till FROM payment") == "")
            #expect(try faults(path).isEmpty)
        }
    }

    @Test("It goes on: old keys are known, a till may use them again, and references are kept")
    func goesOn() throws {
        try withCopy { path in
            let journal = try Journal(directory: path)
            guard case .recorded(let known) = try journal.request(owner: Principal(uid: 0), idempotencyKey: "key-1")
            else { throw BookedJournal.Refused() }
            #expect(known.order == "A-1" && known.till == nil)
            let till = Principal(uid: 0, till: TillName("bar-1"))
            #expect(try journal.request(owner: till, idempotencyKey: "key-1") == nil)
            for (key, owner) in [("key-1", till), ("key-1", Principal(uid: 0))] {
                let new = NewTransaction(
                    id: TransactionID(), owner: owner, idempotencyKey: key, requestHash: "h", type: .purchase,
                    mode: .test, lane: "main", amount: Money(value: 1, currency: known.amount.currency), order: nil,
                    at: .now)
                let creation = try journal.create(new)
                #expect(creation == (owner.till == nil ? .keyReused(known.id) : .created(number: 8)))
            }
            // Foreign keys hold again once the steps have run.
            #expect(throws: JournalError.self) { try journal.database.run(script: "DELETE FROM payment") }
            #expect(throws: JournalError.self) {
                try journal.database.run(script: "UPDATE operation SET state = 'sent'")
            }
        }
    }

    @Test("What was damaged before it was made anew stays damaged: nobody believes it for that")
    func damage() throws {
        try withCopy { path in
            _ = try sqlite(path, "UPDATE payment SET value = 999900 WHERE order_reference = 'A-1'")
            let journal = try Journal(directory: path)
            #expect(try journal.damagedPayments().map(\.order) == ["A-1"])
        }
    }

    @Test("A process that is killed in the middle of it leaves the file as it was")
    func killed() throws {
        try withCopy { path in
            let script = """
                PRAGMA journal_mode = WAL; PRAGMA cache_size = 1; BEGIN IMMEDIATE;
                \(Schema.steps[9])
                PRAGMA user_version = 10;
                """
            let process = Process()
            process.executableURL = URL(filePath: "/usr/bin/sqlite3")
            process.arguments = [path + "/" + Journal.fileName]
            let input = Pipe()
            (process.standardInput, process.standardOutput) = (input, Pipe())
            try process.run()
            try input.fileHandleForWriting.write(contentsOf: Data((script + "\n.shell kill -9 $PPID\nCOMMIT;\n").utf8))
            try input.fileHandleForWriting.close()
            process.waitUntilExit()
            #expect(process.terminationReason == .uncaughtSignal)
            #expect(try sqlite(path, "PRAGMA user_version") == "9")
            #expect(try Journal(directory: path).list(TransactionFilter(), limit: 100)?.transactions.count == 7)
        }
    }
}
