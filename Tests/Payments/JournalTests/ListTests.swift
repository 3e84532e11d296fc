// SPDX-License-Identifier: Apache-2.0
import Journal
import POSAPI
import PaymentValues
import TestSupport
import Testing
import Transactions

@Suite("Lists of the journal")
struct ListTests {
    private func ids(_ page: TransactionPage?) throws -> [TransactionID] {
        try #require(page).transactions.map(\.id)
    }

    @Test("Pages follow each other without a gap or a repetition, newest first")
    func pages() throws {
        let books = try BookedJournal()
        let all = try (1...7).map { try books.payment($0) }
        var found: [TransactionID] = []
        var next: String?
        repeat {
            let page = try #require(try books.journal.list(TransactionFilter(), limit: 3, after: next))
            found += page.transactions.map(\.id)
            next = page.next
        } while next != nil
        #expect(found == all.reversed())
    }

    @Test(
        "What exists throughout is seen exactly once, whatever is written and erased between the pages",
        arguments: 1...5)
    func movingPages(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let books = try BookedJournal()
        let declined: [TransactionState] = [.armed, .reading, .sealed, .sent, .declined]
        var lasting: Set<TransactionID> = []
        for _ in 0..<30 {
            if Bool.random(using: &generator) {
                lasting.insert(try books.payment(5, .manual))
            } else {
                _ = try books.payment(5, states: declined)
            }
        }
        var seen: [TransactionID] = []
        var next: String?
        repeat {
            let page = try #require(
                try books.journal.list(
                    TransactionFilter(), limit: Int.random(in: 1...6, using: &generator), after: next))
            seen += page.transactions.map(\.id)
            next = page.next
            for _ in 0..<Int.random(in: 0...3, using: &generator) { _ = try books.payment(9, .manual) }
            if Bool.random(using: &generator) {
                // What holds a sum stays; what was declined goes.
                _ = try books.journal.eraseTransactions(endedBefore: books.now, at: books.now)
            }
        } while next != nil
        #expect(Set(seen).count == seen.count)
        #expect(lasting.isSubset(of: seen))
    }

    @Test("A cursor belongs to its filter")
    func cursor() throws {
        let books = try BookedJournal()
        for value in 1...3 { _ = try books.payment(Int64(value)) }
        let next = try #require(try books.journal.list(TransactionFilter(), limit: 1)?.next)
        var other = TransactionFilter()
        other.lane = "main"
        #expect(try books.journal.list(other, limit: 1, after: next) == nil)
        #expect(try books.journal.list(TransactionFilter(), limit: 1, after: "3") == nil)
        #expect(try books.journal.list(TransactionFilter(), limit: 1, after: "") == nil)
    }

    @Test("Each part of a filter leaves what it names")
    func filters() throws {
        let books = try BookedJournal()
        let declined = try books.payment(100, states: [.armed, .reading, .sealed, .sent, .declined])
        let held = try books.payment(200, .manual)
        let yard = try books.payment(300, lane: "yard")
        let refund = try books.payment(400, type: .refund)
        let dinar = try books.payment(500, currency: "KWD")
        func found(_ change: (inout TransactionFilter) -> Void) throws -> [TransactionID] {
            var filter = TransactionFilter()
            change(&filter)
            return try ids(try books.journal.list(filter, limit: 100))
        }
        #expect(try found { $0.states = [.declined, .failed] } == [declined])
        #expect(try found { $0.isOpen = true } == [held])
        #expect(try found { $0.lane = "yard" } == [yard])
        #expect(try found { $0.type = .refund } == [refund])
        #expect(try found { $0.currency = Currency("KWD") } == [dinar])
        #expect(
            try found { filter in
                (filter.minimumAmount, filter.maximumAmount) = (200, 300)
                filter.currency = Currency("EUR")
            } == [yard, held])
        let begin = try #require(try books.journal.record(yard)).transaction.createdAt
        #expect(try found { $0.to = begin } == [held, declined])
        #expect(try found { $0.from = begin } == [dinar, refund, yard])
        #expect(try found { $0.day = 0 } == [dinar, refund, yard, held])
        #expect(try found { $0.of = held }.isEmpty)
    }

    @Test("A run gives each change a greater number without writing down which, and so does the next after a cut")
    func numbersOfChanges() throws {
        let books = try BookedJournal()
        func newest() throws -> Int64 { try #require(try books.journal.list(TransactionFilter(), limit: 1)).changes }
        func written() throws -> String { try books.sqlite("SELECT next_change FROM installation") }
        // Whoever takes no numbers counts in the file.
        let counted = try written()
        _ = try books.payment(1_000)
        #expect(try written() != counted)
        var last = try newest()
        for _ in 0..<3 {
            _ = try books.journal.reserveEvents(1)
            let reserved = try written()
            for _ in 0..<2 {
                let payment = try books.payment(1_000)
                let change = try books.sqlite("SELECT change FROM payment WHERE id = '\(payment)'")
                #expect(try #require(Int64(change)) > last)
                #expect(
                    try books.journal.changes(after: last, TransactionFilter(), limit: 10).transactions.map(\.id) == [
                        payment
                    ])
                last = try newest()
                #expect("\(last)" == change)
            }
            #expect(try written() == reserved)
            #expect(try #require(Int64(reserved)) > last, "the next start begins behind them")
            try books.reopen()
        }
    }

    @Test("Whoever copies all asks for what changed, and misses nothing")
    func changes() throws {
        let books = try BookedJournal()
        let first = try books.payment(1_000, .manual)
        let second = try books.payment(2)
        let page = try books.journal.changes(after: 0, TransactionFilter(), limit: 1)
        #expect(page.transactions.map(\.id) == [first])
        let rest = try books.journal.changes(after: page.changes, TransactionFilter(), limit: 10)
        #expect(rest.transactions.map(\.id) == [second])
        #expect(try books.journal.changes(after: rest.changes, TransactionFilter(), limit: 10).transactions.isEmpty)
        _ = try books.carryOut(first, .capture())
        let after = try books.journal.changes(after: rest.changes, TransactionFilter(), limit: 10)
        #expect(after.transactions.map(\.id) == [first])
        #expect(after.transactions.first?.account?.captured == 1_000)
    }

    @Test("The last transaction of a lane is the newest by number, the one that runs included")
    func last() throws {
        let books = try BookedJournal()
        let paid = try books.payment(1)
        let refund = try books.payment(2, type: .refund)
        let running = try books.payment(3, states: [.armed])
        _ = try books.payment(4, lane: "yard")
        #expect(try books.journal.last(of: "main")?.id == running)
        #expect(try books.journal.last(of: "main", isSettled: true)?.id == refund)
        #expect(try books.journal.last(of: "main", type: .purchase, isSettled: true)?.id == paid)
        #expect(try books.journal.last(of: "main", by: Principal(uid: 7)) == nil)
        #expect(try books.journal.last(of: "garden") == nil)
    }
}
