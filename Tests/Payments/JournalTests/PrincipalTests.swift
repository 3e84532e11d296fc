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

@Suite("Whose a row of the journal is")
struct PrincipalTests {
    /// A program, two tills of the same user, and a till of that name of another.
    static var everybody: [Principal] {
        [
            Principal(uid: 993), Principal(uid: 993, till: TillName("bar-1")),
            Principal(uid: 993, till: TillName("bar-2")), Principal(uid: 994, till: TillName("bar-1")),
        ]
    }

    private func sale(_ books: BookedJournal, _ owner: Principal, _ value: Int64) throws -> NewTransaction {
        var new = try books.new(.purchase, value, .manual)
        (new.owner, new.idempotencyKey) = (owner, "K")
        return new
    }

    @Test("A name of a till has 1 to 32 of a-z, 0-9 and -, a letter first")
    func names() {
        for name in ["b", "bar-1", "b-", "z9", String(repeating: "b", count: 32)] {
            #expect(TillName(name)?.text == name)
        }
        for name in ["", "1", "-b", "B", "b_", "b ", "b\n", "b\u{0}", "bär", String(repeating: "b", count: 33)] {
            #expect(TillName(name) == nil, "\(name)")
        }
        #expect(Principal(uid: 993, till: TillName("bar-1")).description == "uid 993 till bar-1")
        #expect(Principal(uid: 993).description == "uid 993")
    }

    @Test("The same key is each principal's own: of payments, operations, refunds and day ends, and after erasure")
    func keys() throws {
        let books = try BookedJournal()
        var sales: [NewTransaction] = []
        for (index, owner) in Self.everybody.enumerated() {
            let new = try sale(books, owner, 1_000 + Int64(index))
            #expect(try books.journal.create(new) == .created(number: Int64(index) + 1))
            try books.go(new.id, [.armed, .reading, .sealed, .sent, .approved])
            sales.append(new)
        }
        for (owner, new) in zip(Self.everybody, sales) {
            #expect(try books.journal.create(new) == .repeated(new.id))
            #expect(
                try books.journal.earlier(owner: owner, idempotencyKey: "K", requestHash: "x") == .keyReused(new.id))
            guard case .recorded(let found) = try books.journal.request(owner: owner, idempotencyKey: "K") else {
                throw BookedJournal.Refused()
            }
            #expect(found.id == new.id && found.till == owner.till)
            #expect(try books.journal.record(new.id)?.owner == owner)
            let operation = NewOperation(
                id: OperationID(), payment: new.id, owner: owner, idempotencyKey: "K", requestHash: "h",
                wish: .capture(), at: books.now)
            guard case .created(let record) = try books.journal.createOperation(operation, request: { _, _ in "{}" })
            else { throw BookedJournal.Refused() }
            #expect(record.owner == owner)
            #expect(
                try books.journal.earlierOperation(owner: owner, idempotencyKey: "K", requestHash: "h")
                    == .repeated(record))
            _ = try books.journal.moveOperation(record.id, to: .sent, due: nil, at: books.now)
            _ = try books.journal.endOperation(record.id, .done(), result: "{}", at: books.now)
            var refund = try books.new(.refund, 0)
            (refund.owner, refund.idempotencyKey) = (owner, "R")
            guard case .created = try books.journal.createRefund(refund, of: new.id, amount: 10) else {
                throw BookedJournal.Refused()
            }
            try books.go(refund.id, [.sent, .approved])
            #expect(
                try books.journal.createRefund(refund, of: new.id, amount: 10) == .known(.repeated(refund.id)))
            let day = NewEndOfDay(owner: owner, idempotencyKey: "K", requestHash: "h", label: "x", at: books.now)
            guard case .closed(let end) = try books.journal.closeDay(day),
                case .repeated(let again) = try books.journal.closeDay(day)
            else { throw BookedJournal.Refused() }
            #expect(end.day.closedBy == owner && again.day.number == end.day.number)
            let mine = try books.journal.days(limit: 9, closedBy: owner)
            #expect(mine.map(\.number) == [end.day.number + 1, end.day.number])
        }
        #expect(try books.sqlite("PRAGMA integrity_check; PRAGMA foreign_key_check;") == "ok")
        // What is left of a key when its payment is gone is the principal's too.
        try books.tamper("UPDATE payment SET account = NULL")
        #expect(try books.journal.eraseTransactions(endedBefore: .now, at: .now) == 8)
        for owner in Self.everybody {
            #expect(try books.journal.earlier(owner: owner, idempotencyKey: "K", requestHash: "h") == .erased)
            #expect(
                try books.journal.earlierOperation(owner: owner, idempotencyKey: "K", requestHash: "h") == .erased)
        }
        let other = Principal(uid: 994)
        #expect(try books.journal.earlier(owner: other, idempotencyKey: "K", requestHash: "h") == nil)
        #expect(try books.journal.earlierOperation(owner: other, idempotencyKey: "K", requestHash: "h") == nil)
    }

    @Test("The database itself takes a key once for each till, and not twice")
    func unique() throws {
        let books = try BookedJournal()
        let new = try sale(books, Principal(uid: 993, till: TillName("bar-1")), 500)
        _ = try books.journal.create(new)
        func copy(_ till: String) throws -> String {
            try books.sqlite(
                """
                INSERT INTO payment (id, uid, till, idempotency_key, request_hash, type, mode, lane, value, currency, state,
                    created_at, updated_at, change)
                SELECT 'x-\(till)', uid, '\(till)', idempotency_key, request_hash, type, mode, lane, value, currency, state,
                    created_at, updated_at, change FROM payment
                """)
        }
        #expect(
            try copy("bar-1").contains("UNIQUE constraint failed: payment.uid, payment.till, payment.idempotency_key"))
        #expect(try copy("bar-2").isEmpty)
    }

    @Test("Lists, sums and what is open of one principal leave out everybody else's")
    func sight() throws {
        let books = try BookedJournal()
        var ids: [TransactionID] = []
        for (index, owner) in Self.everybody.enumerated() {
            let new = try sale(books, owner, 1_000 + Int64(index))
            _ = try books.journal.create(new)
            try books.go(new.id, [.armed, .reading, .sealed, .sent, .approved])
            ids.append(new.id)
        }
        for (owner, id) in zip(Self.everybody, ids) {
            let page = try books.journal.list(TransactionFilter(), limit: 9, of: owner)
            #expect(page?.transactions.map(\.id) == [id])
            #expect(
                try books.journal.changes(after: 0, TransactionFilter(), limit: 9, of: owner).transactions.count == 1)
            #expect(try books.journal.last(of: "main", by: owner)?.id == id)
            #expect(try books.journal.openEntries(of: owner).entries.map(\.transaction) == [id])
            let totals = try books.journal.totals(of: try books.journal.openDay(), by: [], for: owner)
            #expect(totals.lines.map(\.held.count) == [1] && totals.openCount == 1)
        }
        var filter = TransactionFilter()
        filter.till = TillName("bar-1")
        #expect(try books.journal.list(filter, limit: 9)?.transactions.map(\.id) == [ids[3], ids[1]])
        #expect(try books.journal.totals(of: try books.journal.openDay(), by: []).lines.map(\.held.count) == [4])
    }

    @Test("The chain names the till, a program has the old sentence, and the tables say the same; altered, they do not")
    func sentence() throws {
        let books = try BookedJournal()
        let file = books.path + "/" + Journal.fileName
        for owner in Self.everybody { _ = try books.journal.create(try sale(books, owner, 1_250)) }
        var said: [String] = []
        try AuditSource(file: file).forEachLink { said.append($0?.entry.detail ?? "?") }
        #expect(
            said == [
                "created purchase 1250 EUR uid 993", "created purchase 1250 EUR uid 993 till bar-1",
                "created purchase 1250 EUR uid 993 till bar-2", "created purchase 1250 EUR uid 994 till bar-1",
            ])
        #expect(try AuditSource(file: file).differences().isEmpty)
        try books.tamper("UPDATE payment SET till = 'bar-9' WHERE till = 'bar-2'")
        #expect(try AuditSource(file: file).differences().count == 1)
    }

    @Test("A name that no till can have is damage, and not somebody's")
    func damage() throws {
        let books = try BookedJournal()
        let new = try sale(books, Principal(uid: 993, till: TillName("bar-1")), 500)
        _ = try books.journal.create(new)
        try books.tamper("UPDATE payment SET till = 'Bar 1'")
        #expect(throws: JournalError.damagedPayment) { try books.journal.record(new.id) }
    }
}
