// SPDX-License-Identifier: Apache-2.0
import Journal
import POSAPI
import PSPAPI
import PaymentValues
import Testing
import Transactions

@Suite("Figures of a day in the journal")
struct ReconciliationTests {
    private static let service = AskedService(serviceName: "bank", socket: "/run/psp.sock")

    private func close(_ books: BookedJournal, _ key: String = "d-1") throws -> EndOfDay {
        let closing = try books.journal.closeDay(
            NewEndOfDay(
                owner: Principal(uid: 1000), idempotencyKey: key, requestHash: "h", label: "day",
                reconciliation: ReconciliationPlan(service: Self.service, mode: .test, terminal: "00000001"),
                at: books.now))
        guard case .closed(let end) = closing else { throw BookedJournal.Refused() }
        return end
    }

    private func figures(_ open: OpenReconciliation) -> Set<String> {
        Set(open.lines.map { "\($0.currency) \($0.scheme ?? "-") \($0.kind.rawValue) \($0.count) \($0.value)" })
    }

    private func difference(
        _ kind: FigureLine.Kind, _ ours: Figure, _ theirs: Figure, _ items: [DifferenceItem]? = nil
    ) throws -> DayDifference {
        DayDifference(
            mode: .test, currency: try #require(Currency("EUR")), scheme: "Visa", kind: kind, ours: ours,
            theirs: theirs, items: items, itemCount: items?.count)
    }

    @Test func `What is sent is what moved money, by mode, currency, scheme and kind`() throws {
        let books = try BookedJournal()
        let sale = try books.payment(1_000)
        _ = try books.refund(sale, 300, [.armed, .reading, .sealed, .sent, .approved])
        let room = try books.payment(20_000, .manual, scheme: "Mastercard")
        let capture = try books.carryOut(room, .capture(amount: 13_400))
        _ = try books.payment(700, currency: "JPY")
        let taken = try books.payment(900)
        try books.go(taken, [.reversing, .reversed])
        let refund = try books.payment(50, type: .refund)
        try books.go(refund, [.reversing, .reversed])
        _ = try books.payment(70, .manual)
        _ = try close(books)
        let open = try #require(try books.journal.openReconciliations().first)
        #expect(
            figures(open) == [
                "EUR Visa captured 2 1900", "EUR Visa refunded 2 -350", "EUR Visa reversed 2 -850",
                "EUR Mastercard captured 1 13400", "JPY Visa captured 1 700",
            ])
        #expect(open.elsewhere == 0 && open.attempts == 0)
        let items = try books.journal.movements(
            of: open.day.number, in: try difference(.refunded, Figure(), Figure()), at: Self.service)
        #expect(items.count == 2 && items.map(\.value).sorted() == [-300, -50])
        var mastercard = try difference(.captured, Figure(), Figure())
        mastercard.scheme = "Mastercard"
        let captured = try books.journal.movements(
            of: open.day.number, in: mastercard, at: Self.service)
        #expect(captured == [ReconciliationItem(id: capture.id.text, value: 13_400)])
    }

    @Test(
        "M8: a sale that was handed over in a batch is open until the service's figures name it, and not only until the day is over"
    )
    func handedOver() throws {
        let books = try BookedJournal()
        let given: [TransactionState] = [.armed, .reading, .sealed, .stored, .delivered]
        let (named, unnamed) = (try books.payment(60, states: given), try books.payment(70, states: given))
        func open() throws -> Set<TransactionID> {
            let listed = Set(
                try books.journal.openEntries().entries.filter { $0.kind == .handedOver }.map(\.transaction))
            // What a purge and new books are asked about says the same.
            #expect(try Set(OpenMoney(file: books.path + "/journal.sqlite").handedOver) == listed)
            return listed
        }
        #expect(try open() == [named, unnamed])
        let first = try close(books)
        #expect(try open() == [named, unnamed], "that the day is over proves nothing")
        // What stands in our books alone is named by nobody; nor is an item of another payment.
        let theirs = [
            DifferenceItem(id: named.text, transaction: named, theirs: 60, explanation: .handedOver),
            DifferenceItem(id: unnamed.text, transaction: unnamed, ours: 70),
        ]
        var figures = ServiceFigures(attempts: 1)
        figures.lines = []
        try books.journal.endReconciliation(
            of: first.day,
            ReconciliationEnd(
                figures: figures,
                differences: [try difference(.captured, Figure(), Figure(count: 1, value: 60), theirs)],
                state: .differs), at: books.now)
        #expect(try open() == [unnamed])
        try books.reopen()
        #expect(try open() == [unnamed])
        // A person has found out, and says so of the day.
        #expect(try books.journal.resolve(first.day, DayResolution(at: books.now, uid: 0, note: "in the portal")))
        #expect(try open().isEmpty)
    }

    @Test(
        "M8: a day whose figures agree, or that nobody gives figures of, is settled by a person where sales of it were handed over"
    )
    func handedOverUnnamed() throws {
        let books = try BookedJournal()
        let given: [TransactionState] = [.armed, .reading, .sealed, .stored, .delivered]
        let word = DayResolution(at: books.now, uid: 0, note: "in the portal")
        let sale = try books.payment(60, states: given)
        let day = try close(books).day
        #expect(try !books.journal.resolve(day, word), "the service is still asked")
        var figures = ServiceFigures(attempts: 1)
        figures.lines = []
        try books.journal.endReconciliation(
            of: day, ReconciliationEnd(figures: figures, differences: [], state: .balanced), at: books.now)
        #expect(try books.journal.openEntries().entries.map(\.transaction) == [sale])
        #expect(try books.journal.resolve(day, word))
        #expect(try books.journal.openEntries().entries.isEmpty)
        #expect(try !books.journal.resolve(day, word), "once")
        // Without such a sale there is nothing to settle.
        _ = try books.payment(100)
        let quiet = try close(books, "d-2").day
        try books.journal.endReconciliation(
            of: quiet, ReconciliationEnd(figures: figures, differences: [], state: .balanced), at: books.now)
        #expect(try !books.journal.resolve(quiet, word))
    }

    @Test func `A day is asked about until it has an end, and the first figures count, also after a restart`() throws {
        let books = try BookedJournal()
        _ = try books.payment(1_000)
        let end = try close(books)
        #expect(end.service?.attempts == 0 && end.service?.next != nil && end.differences == nil)
        let sent = try #require(try books.journal.openReconciliations().first)
        try books.journal.noteQuestion(about: end.day.number, attempts: 1, next: books.now)
        try books.reopen()
        let again = try #require(try books.journal.openReconciliations().first)
        #expect(again.attempts == 1 && again.body == sent.body)
        let figures = ServiceFigures(attempts: 1, reference: "RC-1", lines: [])
        let differences = [
            try difference(
                .captured, Figure(count: 1, value: 1_000), Figure(), [DifferenceItem(id: "a", ours: 1_000)])
        ]
        let answer = ReconciliationEnd(figures: figures, differences: differences, state: .differs)
        try books.journal.endReconciliation(of: end.day, answer, at: books.now)
        #expect(try books.journal.openReconciliations().isEmpty)
        #expect(throws: JournalError.self) {
            try books.journal.endReconciliation(of: end.day, answer, at: books.now)
        }
        try books.reopen()
        let day = try #require(try books.journal.day(end.day.id))
        let report = try #require(try books.journal.report(of: day))
        #expect(report.day.state == .differs && report.differences == differences)
        #expect(report.service?.reference == "RC-1" && report.service?.next == nil)
        #expect(report.totals == end.totals)
        for change in [
            "figures = '{}'", "request = '{}'", "state = 'open'", "report = '{}'",
        ] {
            #expect(throws: JournalError.self) {
                try books.tamper("UPDATE business_day SET \(change) WHERE number = \(end.day.number)")
            }
        }
    }

    @Test func `Figures go with the payments that they name when their time is over`() throws {
        let books = try BookedJournal()
        let sale = try books.payment(1_000)
        let end = try close(books)
        let item = DifferenceItem(id: sale.text, transaction: sale, ours: 1_000)
        let difference = try difference(.captured, Figure(count: 1, value: 1_000), Figure(), [item])
        try books.journal.endReconciliation(
            of: end.day,
            ReconciliationEnd(figures: ServiceFigures(lines: []), differences: [difference], state: .differs),
            at: books.now)
        let later = Timestamp.now.advanced(bySeconds: 86_400 * 500)
        #expect(try books.journal.eraseTransactions(endedBefore: later, at: later) == 1)
        #expect(
            try books.sqlite("SELECT figures IS NULL, state FROM business_day WHERE state <> 'open'") == "1|differs")
    }

    @Test func `A day that differs stands in the next totals until somebody has settled it, once`() throws {
        let books = try BookedJournal()
        let end = try close(books)
        let answer = ReconciliationEnd(figures: ServiceFigures(), differences: [], state: .unconfirmed)
        let resolution = DayResolution(at: books.now, uid: 0, note: "seen in the portal")
        #expect(try !books.journal.resolve(end.day, resolution))
        try books.journal.endReconciliation(of: end.day, answer, at: books.now)
        let totals = try books.journal.totals(of: try books.journal.openDay(), by: [.scheme])
        #expect(totals.days?.map(\.number) == [end.day.number] && totals.days?.map(\.state) == [.unconfirmed])
        #expect(try books.journal.resolve(end.day, resolution))
        #expect(try !books.journal.resolve(end.day, resolution))
        let day = try #require(try books.journal.day(end.day.id))
        #expect(try books.journal.report(of: day)?.resolution == resolution)
        #expect(day.state == .balanced)
        #expect(try books.journal.totals(of: try books.journal.openDay(), by: [.scheme]).days == nil)
        #expect(
            try books.sqlite("SELECT detail FROM audit ORDER BY sequence DESC LIMIT 1")
                == "day \(end.day.number) by 0: seen in the portal")
    }

    @Test func `What only one side has is explained by what is known here`() throws {
        let books = try BookedJournal()
        let sale = try books.payment(1_000)
        let lost = try books.payment(400, states: [.armed, .reading, .sealed, .sent, .unknown])
        _ = try books.refund(sale, 300, [.armed, .reading, .sealed, .sent, .unknown])
        let refund = try #require(TransactionID(try books.sqlite("SELECT id FROM payment WHERE of IS NOT NULL")))
        let first = try close(books)
        let later = try books.payment(500)
        let stranger = TransactionID()
        let items = [
            DifferenceItem(id: lost.text, theirs: 400), DifferenceItem(id: refund.text, theirs: -300),
            DifferenceItem(id: later.text, theirs: 500), DifferenceItem(id: sale.text, theirs: 1_000),
            DifferenceItem(id: stranger.text, theirs: 5), DifferenceItem(id: "BACK-OFFICE", theirs: 6),
        ]
        let explained = try books.journal.explained(items, of: first.day.number)
        #expect(
            explained.map(\.explanation) == [.unknown, .unknownRefund, .otherDay, .otherLine, .notHere, .notHere])
        #expect(explained.map(\.transaction) == [lost, refund, later, sale, nil, nil])
    }

    @Test func `Money at another payment service is counted and not compared`() throws {
        let books = try BookedJournal()
        _ = try books.payment(1_000)
        let other = try books.payment(2_000)
        try books.tamper(
            #"UPDATE payment SET service = '{"issuer":"old bank","socket":"/run/old.sock"}' WHERE id = '\#(other)'"#)
        _ = try close(books)
        let open = try #require(try books.journal.openReconciliations().first)
        #expect(figures(open) == ["EUR Visa captured 1 1000"] && open.elsewhere == 1)
    }
}
