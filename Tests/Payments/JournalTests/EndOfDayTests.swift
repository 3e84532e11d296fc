// SPDX-License-Identifier: Apache-2.0
import Journal
import Ledger
import POSAPI
import PaymentValues
import TestSupport
import Testing
import Transactions

@Suite("Day ends in the journal")
struct EndOfDayTests {
    private func close(
        _ books: BookedJournal, key: String = "d-1", hash: String = "h", blockOn: Set<OpenEntry.Kind> = []
    ) throws -> DayClosing {
        try books.journal.closeDay(
            NewEndOfDay(
                owner: Principal(uid: 1000), idempotencyKey: key, requestHash: hash, label: "2026-11-22",
                blockOn: blockOn, at: books.now)
        )
    }

    private func closed(_ closing: DayClosing) throws -> EndOfDay {
        guard case .closed(let end) = closing else { throw BookedJournal.Refused() }
        return end
    }

    @Test("A day end sums what was booked, and whatever comes after it is of the next day")
    func twoDays() throws {
        let books = try BookedJournal()
        let sale = try books.payment(1_000)
        let first = try closed(close(books))
        #expect(first.totals.net.map(\.value) == [1_000])
        #expect(first.totals.lines.first?.captured == Figure(count: 1, value: 1_000))
        _ = try books.refund(sale, nil, [.armed, .reading, .sealed, .sent, .approved])
        let second = try closed(close(books, key: "d-2"))
        #expect(second.totals.net.map(\.value) == [-1_000])
        #expect(second.day.number == first.day.number + 1)
        let again = try #require(try books.journal.day("\(first.day.number)"))
        #expect(try books.journal.report(of: again)?.totals == first.totals)
        #expect(try books.sqlite("SELECT count(*) FROM ledger WHERE day IS NULL") == "0")
        #expect(try closed(close(books, key: "d-3")).totals.lines.isEmpty)
    }

    @Test("The same key closes one day, and another request with it none")
    func repetition() throws {
        let books = try BookedJournal()
        _ = try books.payment(1_000)
        let end = try closed(close(books))
        #expect(try close(books) == .repeated(end))
        #expect(try close(books, hash: "other") == .keyReused)
        #expect(try books.journal.days(limit: 10).map(\.state) == [.open, .closed])
    }

    @Test("Every kind of figure is in its place, by currency and its decimals")
    func figures() throws {
        let books = try BookedJournal()
        let dining = try books.payment(4_000, .manual, terms: ServiceTerms(maximumCapture: 9_000))
        _ = try books.carryOut(dining, .capture(amount: 4_600, tip: 600))
        let room = try books.payment(20_000, .manual)
        _ = try books.carryOut(room, .capture(amount: 13_400))
        _ = try books.payment(700, currency: "JPY")
        _ = try books.payment(1_500, currency: "KWD")
        let taken = try books.payment(900)
        try books.go(taken, [.reversing, .reversed])
        let refund = try books.payment(50, type: .refund)
        try books.go(refund, [.reversing, .reversed])
        _ = try books.payment(60, states: [.armed, .reading, .sealed, .stored, .delivered])
        _ = try books.payment(70, .manual)
        let end = try closed(close(books))
        let euro = try #require(end.totals.lines.first { $0.currency.code == "EUR" })
        #expect(euro.captured == Figure(count: 3, value: 18_900))
        #expect(euro.tips == Figure(count: 1, value: 600))
        #expect(euro.reversed == Figure(count: 1, value: -900))
        #expect(euro.refunded == Figure(count: 1, value: -50))
        #expect(euro.corrected == Figure(count: 1, value: 50))
        #expect(euro.held == Figure(count: 3, value: 24_070))
        #expect(euro.released == Figure(count: 1, value: -6_600))
        #expect(euro.net == 18_000)
        #expect(euro.handedOver == Figure(count: 1, value: 60))
        #expect(Set(end.totals.net.map { "\($0.currency) \($0.value)" }) == ["EUR 18000", "JPY 700", "KWD 1500"])
        #expect(Set(end.totals.open.map(\.kind)) == [.uncaptured, .handedOver])
    }

    @Test("What is open is told with a sale in each state, and can keep the day open")
    func open() throws {
        let books = try BookedJournal()
        let read: [TransactionState] = [.armed, .reading, .sealed]
        _ = try books.payment(1, states: [])
        _ = try books.payment(2, states: [.armed])
        _ = try books.payment(3, states: read)
        let sent = try books.payment(4, states: read + [.sent])
        let unknown = try books.payment(5, states: read + [.sent, .unknown])
        let reversing = try books.payment(6, states: read + [.sent, .approved, .reversing])
        let stored = try books.payment(7, states: read + [.stored])
        _ = try books.payment(8, states: read + [.sent, .declined])
        _ = try books.payment(9, states: [.armed, .cancelled])
        let held = try books.payment(10, .manual)
        let unconfirmed = try books.payment(11, confirmBy: Timestamp(milliseconds: 1_900_000_000_000))
        let capturing = try books.payment(12, .manual)
        let capture = try books.carryOut(capturing, .capture(), nil)
        let sale = try books.payment(13)
        _ = try books.refund(sale, 1, read + [.sent, .unknown])
        let found = try books.journal.openEntries().entries
        let kinds = Dictionary(grouping: found, by: \.kind).mapValues { $0.map(\.transaction) }
        #expect(kinds[.sent] == [sent] && kinds[.unknown] == [unknown] && kinds[.reversing] == [reversing])
        #expect(kinds[.stored] == [stored] && kinds[.unconfirmed] == [unconfirmed])
        #expect(kinds[.uncaptured] == [held, capturing] && kinds[.unknownOperation] == [capturing])
        #expect(kinds[.unknownRefund]?.count == 1 && found.count == 9)
        try books.journal.attend(to: capture.id, .stuck, at: books.now)
        #expect(try books.journal.openEntries().entries.contains { $0.kind == .stuck && $0.operation == capture.id })
        guard case .blocked(let blocking) = try close(books, blockOn: [.unknown]) else { throw BookedJournal.Refused() }
        #expect(blocking.map(\.transaction) == [unknown])
        #expect(try books.journal.days(limit: 10).count == 1)
        #expect(try closed(close(books)).totals.openCount == 9)
    }

    @Test("The report of a closed day cannot be altered, and no second day is open")
    func guarded() throws {
        let books = try BookedJournal()
        _ = try books.payment(1)
        _ = try close(books)
        #expect(try books.sqlite("UPDATE business_day SET report = '{}' WHERE state = 'closed'").contains("closed"))
        #expect(try books.sqlite("UPDATE business_day SET state = 'open'").contains("closed"))
        #expect(
            try books.sqlite("INSERT INTO business_day (id, label, state, opened_at) VALUES ('x', '', 'open', 0)")
                .contains("UNIQUE"))
        #expect(try books.sqlite("UPDATE ledger SET day = 2").contains("append only"))
    }

    @Test("P4: a refund that reads no card stands under the scheme of its sale")
    func schemeOfRefund() throws {
        let books = try BookedJournal()
        let sale = try books.payment(1_000, scheme: "Visa")
        _ = try books.payment(500, scheme: "Mastercard")
        _ = try books.refund(sale, 300, [.armed, .reading, .sealed, .sent, .approved])
        let lines = try books.journal.totals(of: try books.journal.openDay(), by: [.scheme]).lines
        #expect(Set(lines.map(\.scheme)) == ["Visa", "Mastercard"])
        let visa = try #require(lines.first { $0.scheme == "Visa" })
        #expect(visa.refunded == Figure(count: 1, value: -300) && visa.net == 700)
    }

    @Test("Totals by scheme, type and lane add up to the same")
    func groups() throws {
        let books = try BookedJournal()
        _ = try books.payment(100)
        _ = try books.payment(200, lane: "yard", scheme: "Mastercard")
        _ = try books.payment(30, type: .refund)
        let day = try books.journal.openDay()
        for groups in [[], [.scheme], [.type], [.lane, .scheme, .type, .cashier]] as [Set<TotalsGroup>] {
            let totals = try books.journal.totals(of: day, by: groups)
            #expect(totals.net.map(\.value) == [270])
        }
        let lines = try books.journal.totals(of: day, by: [.lane]).lines
        #expect(lines.map(\.lane) == ["main", "yard"] && lines.map(\.net) == [70, 200])
    }

    /// Decision 20: damage costs the payment that it hits, and is named.
    @Test("A9: an account that is not the sum of its rows sets its payment apart, and no other")
    func difference() throws {
        let books = try BookedJournal()
        let hit = try books.payment(1_000)
        let whole = try books.payment(500)
        try books.reopen()
        #expect(try books.journal.damagedPayments().isEmpty)
        // As a wrong program would write it: with the digest that belongs to it.
        try books.tamper("UPDATE payment SET account = json_set(account, '$.captured', 999) WHERE id = '\(hit)'")
        for _ in 0..<2 {
            try books.reopen()
            let damaged = try books.journal.damagedPayments()
            #expect(damaged.map(\.id) == [hit])
            #expect(damaged.first?.description.contains("account and ledger differ") == true, "\(damaged)")
            #expect(throws: JournalError.damagedPayment) { try books.journal.record(hit) }
            #expect(try books.journal.record(whole)?.transaction.state == .approved)
        }
        // The shop goes on selling.
        _ = try books.payment(700)
    }

    @Test("A9: one row of the ledger that disagrees sets apart the payment that it belongs to")
    func ledgerRow() throws {
        let books = try BookedJournal()
        let hit = try books.payment(1_000)
        _ = try books.payment(500)
        try books.reopen()
        let trigger = try books.sqlite("SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'ledger'")
        let drops = trigger.split(separator: "\n").map { "DROP TRIGGER \($0);" }.joined()
        _ = try books.sqlite(drops + "UPDATE ledger SET money = money + 1 WHERE payment = '\(hit)'")
        try books.reopen()
        #expect(try books.journal.damagedPayments().map(\.id) == [hit])
    }
}
