// SPDX-License-Identifier: Apache-2.0
import Foundation
import POSAPI
import PaymentValues
import TestSupport
import Testing
import Transactions

@testable import Journal

@Suite("A payment's digest is renewed at the end of a transaction", .timeLimit(.minutes(5)))
struct DueDigestTests {
    /// Another hand writes into the rows, past the daemon's triggers.
    private func damage(_ books: BookedJournal, _ payment: TransactionID, _ value: String) throws {
        let other = try Database(path: books.path + "/journal.sqlite")
        try other.transaction(durable: false) { () throws(JournalError) in
            try other.run("UPDATE payment SET cashier = ? WHERE id = ?", [.text(value), .text(payment.text)])
        }
    }

    /// Writes of digests, of whichever payments.
    private func renewals(_ books: BookedJournal) throws -> String {
        try books.sqlite("SELECT group_concat(what, ' ') FROM (SELECT what FROM renewed ORDER BY what)")
    }

    @Test("W9: a transaction renews a payment's digest once, however many of its rows it writes")
    func once() throws {
        let books = try BookedJournal()
        let database = try books.journal.database
        try database.run(
            script: """
                CREATE TABLE renewed (what TEXT NOT NULL) STRICT;
                CREATE TEMP TRIGGER renewed_new AFTER INSERT ON meta WHEN NEW.name LIKE 'payment:%'
                    BEGIN INSERT INTO renewed VALUES ('new'); END;
                CREATE TEMP TRIGGER renewed_again AFTER UPDATE ON meta WHEN NEW.name LIKE 'payment:%'
                    BEGIN INSERT INTO renewed VALUES ('again'); END;
                """)
        let new = try books.new(.purchase, 1_000)
        _ = try books.journal.create(new)
        #expect(try renewals(books) == "new")
        // A row, a state, an entry in the ledger, an account: six writes for the last state alone.
        try books.go(new.id, [.armed, .reading, .sealed, .sent, .approved])
        #expect(try renewals(books) == "again again again again again new")
        let sale = try books.payment(20_000, .manual)
        try database.run("DELETE FROM renewed")
        _ = try books.begin(sale, .capture(amount: 13_400, tip: 1_400))
        #expect(try renewals(books) == "again")
        // A day end writes into the rows of both.
        try database.run("DELETE FROM renewed")
        _ = try books.journal.closeDay(
            NewEndOfDay(owner: Principal(uid: 1000), idempotencyKey: "d", requestHash: "h", label: "", at: books.now))
        #expect(try renewals(books) == "again again")
        #expect(try books.journal.damagedPayments().isEmpty)
    }

    @Test("W9: no commit leaves a digest behind what it writes")
    func refused() throws {
        let books = try BookedJournal()
        let payment = try books.payment(1_000)
        let database = try books.journal.database
        #expect(throws: JournalError.self) { try database.run("UPDATE payment SET cashier = 'anna'") }
        #expect(try books.sqlite("SELECT count(*) FROM payment WHERE cashier = 'anna'") == "0")
        try database.transaction { () throws(JournalError) in try database.run("UPDATE payment SET cashier = 'anna'") }
        #expect(try books.journal.record(payment)?.transaction.cashier == "anna")
        #expect(try books.journal.damagedPayments().isEmpty)
    }

    @Test("W9: a part that is rolled back, and a statement that fails, take no damage for right")
    func rolledBack() throws {
        let books = try BookedJournal()
        let hit = try books.payment(1_000, states: [.armed, .reading])
        let whole = try books.payment(500, states: [.armed, .reading])
        try damage(books, hit, "anna")
        let journal = try books.journal
        let now = books.now
        try journal.together {
            // The first state is written, the second is none that follows.
            #expect(throws: JournalError.self) {
                try journal.append([StateChange(.sealed, at: now), StateChange(.created, at: now)], to: hit)
            }
            #expect(throws: Never.self) { try journal.append([StateChange(.sealed, at: now)], to: whole) }
            // Its first row is written, its second is against a rule of the table.
            #expect(throws: JournalError.self) {
                try journal.database.run(
                    "UPDATE payment SET capture = CASE id WHEN ? THEN capture ELSE 'never' END", [.text(hit.text)])
            }
        }
        #expect(try journal.record(whole)?.transaction.state == .sealed)
        #expect(try journal.damagedPayments().map(\.id) == [hit])
    }

    @Test("W9: a transaction reads what it has written, and what was found wrong stays wrong for it")
    func read() throws {
        let books = try BookedJournal()
        let hit = try books.payment(1_000, states: [.armed, .reading])
        let whole = try books.payment(500, states: [.armed, .reading])
        try damage(books, hit, "anna")
        let journal = try books.journal
        #expect(try journal.damagedPayments().map(\.id) == [hit])
        let now = books.now
        try journal.together {
            for payment in [hit, whole] {
                #expect(throws: Never.self) { try journal.append([StateChange(.sealed, at: now)], to: payment) }
            }
            #expect(throws: JournalError.damagedPayment) { try journal.record(hit) }
            let read = try? journal.record(whole)
            #expect(read?.transaction.state == .sealed)
        }
        #expect(throws: JournalError.damagedPayment) { try journal.record(hit) }
        #expect(try journal.damagedPayments().map(\.id) == [hit])
    }

    @Test("W9: a day end takes no payment for damaged that its own transaction has written")
    func dayEnd() throws {
        let books = try BookedJournal()
        let paid = try books.payment(1_000, .manual)
        let journal = try books.journal
        let wish = NewEndOfDay(
            owner: Principal(uid: 1000), idempotencyKey: "d", requestHash: "h", label: "", at: books.now)
        try journal.together {
            #expect(throws: Never.self) { try books.carryOut(paid, .capture(amount: 1_000)) }
            #expect(throws: Never.self) { try journal.closeDay(wish) }
        }
        #expect(try journal.damagedPayments().isEmpty)
        #expect(try books.sqlite("SELECT count(*) FROM ledger WHERE day = 1") == "2")
    }

    /// What is written, damaged and rolled back in any order: a payment is found damaged where another hand was the last to write into
    /// it, or it was found so before.
    @Test("W9: whatever is written in one transaction, what another hand has changed is found", arguments: 0..<3)
    func random(seed: UInt64) throws {
        var generator = SeededGenerator(seed: 44 + seed)
        let books = try BookedJournal()
        let journal = try books.journal
        var payments: [TransactionID] = []
        for _ in 0..<6 { payments.append(try books.payment(1_000, states: [.armed])) }
        var damaged: Set<TransactionID> = []
        var found: Set<TransactionID> = []
        for round in 0..<30 {
            switch Int.random(in: 0..<4, using: &generator) {
            case 0:
                let hit = try #require(payments.randomElement(using: &generator))
                try damage(books, hit, "by hand \(round)")
                damaged.insert(hit)
            case 1:
                found.formUnion(damaged)
                let seen = Set(try journal.damagedPayments().compactMap(\.id))
                #expect(seen == found, "round \(round), seed \(seed)")
            default:
                let parts = (0..<Int.random(in: 1...5, using: &generator)).map { _ in
                    (payments.randomElement(using: &generator), Bool.random(using: &generator))
                }
                let isKept = Bool.random(using: &generator)
                try? journal.database.transaction(durable: false) { () throws(JournalError) in
                    for case (let payment?, let fails) in parts {
                        try? journal.database.transaction { () throws(JournalError) in
                            try journal.touch(payment, at: books.now)
                            try journal.database.run(
                                "UPDATE payment SET order_reference = 'round \(round)' WHERE id = ?",
                                [.text(payment.text)])
                            guard !fails else { throw .damaged }
                        }
                    }
                    guard isKept else { throw .damaged }
                }
                // As ever, a write believes what nobody has looked at.
                if isKept { damaged.subtract(parts.filter { !$0.1 }.compactMap(\.0)) }
            }
        }
        #expect(Set(try journal.damagedPayments().compactMap(\.id)) == found.union(damaged))
    }
}
