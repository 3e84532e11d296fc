// SPDX-License-Identifier: Apache-2.0
import POSAPI
import PaymentValues
import Testing
import Transactions

@testable import Journal

@Suite("Keys that can begin nothing")
struct KeyBarTests {
    private func outcome(_ books: BookedJournal, _ new: NewTransaction, _ reason: KeyBar = .cancelled) throws
        -> BarOutcome
    {
        try books.journal.bar(owner: new.owner, idempotencyKey: new.idempotencyKey, as: reason, at: books.now)
    }

    @Test("N3: a key that is cancelled before its request comes begins nothing, over restarts, whatever the request is")
    func before() throws {
        let books = try BookedJournal()
        for reason in KeyBar.allCases {
            let new = try books.new(.purchase, 1_000)
            #expect(try outcome(books, new, reason) == .barred)
            #expect(try outcome(books, new) == .barred, "asking again changes nothing")
            try books.reopen()
            #expect(try books.journal.create(new) == .barred(reason))
            var other = new
            other.requestHash = "other"
            #expect(try books.journal.createRefund(other, of: other.id, amount: nil) == .known(.barred(reason)))
            let known = try books.journal.request(owner: new.owner, idempotencyKey: new.idempotencyKey)
            #expect(known == .barred(reason))
        }
        #expect(try books.sqlite("SELECT count(*) FROM payment") == "0")
        #expect(try books.journal.damagedRows().isEmpty)
    }

    @Test("N3: a key that has begun something keeps it, and a key of another is another key")
    func after() throws {
        let books = try BookedJournal()
        let new = try books.new(.purchase, 1_000)
        guard case .created = try books.journal.create(new) else { throw BookedJournal.Refused() }
        #expect(try outcome(books, new) == .recorded(new.id))
        #expect(try books.journal.create(new) == .repeated(new.id))
        var other = try books.new(.purchase, 1_000)
        other.idempotencyKey = new.idempotencyKey
        for owner in PrincipalTests.everybody {
            other.owner = owner
            #expect(try outcome(books, other) == .barred)
        }
        #expect(try books.journal.create(new) == .repeated(new.id))
    }

    @Test("N3: it is kept as long as transactions are, also where a clock years behind wrote it")
    func kept() throws {
        let books = try BookedJournal()
        let (old, new) = (try books.new(.purchase, 1_000), try books.new(.purchase, 1_000))
        #expect(try outcome(books, old) == .barred)
        _ = try books.payment(700)
        let wrong = Timestamp(milliseconds: 5)
        #expect(
            try books.journal.bar(owner: new.owner, idempotencyKey: new.idempotencyKey, as: .late, at: wrong) == .barred
        )
        let day = books.now
        let end = Timestamp(milliseconds: day.milliseconds - 3_000)
        _ = try books.journal.eraseTransactions(endedBefore: end, at: day)
        #expect(try books.journal.create(new) == .barred(.late))
        #expect(try books.journal.create(old) == .created(number: 2))
    }
}
