// SPDX-License-Identifier: Apache-2.0
import Foundation
import Ledger
import POSAPI
import PSPAPI
import PaymentValues
import TestSupport
import Testing
import Transactions

@testable import Journal

/// One journal, and the books of the payments in it.
final class BookedJournal {
    let path: String
    private var opened: Journal?
    private var clock: Int64 = 1_700_000_000_000
    private var keys = 0

    init() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "books-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        path = url.path
        opened = try Journal(directory: path)
    }

    var journal: Journal {
        get throws { try #require(opened) }
    }

    /// As a start of the daemon does.
    func reopen() throws {
        opened = nil
        opened = try Journal(directory: path)
    }

    /// As a stop of the daemon does: another may open the file.
    func close() { opened = nil }

    /// Writes as the journal does, digests included.
    func tamper(_ sql: String) throws {
        let database = try journal.database
        try database.transaction { () throws(JournalError) in try database.run(script: sql) }
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// A second later each time.
    var now: Timestamp {
        clock += 1_000
        return Timestamp(milliseconds: clock)
    }

    func sqlite(_ sql: String) throws -> String {
        try Peer.sqlite(path + "/journal.sqlite", sql)
    }

    private func key() -> String {
        keys += 1
        return "key-\(keys)"
    }

    func new(
        _ type: TransactionType = .purchase, _ value: Int64, _ capture: PaymentAccount.Capture = .automatic,
        currency: String = "EUR", lane: String = "main"
    ) throws -> NewTransaction {
        let time = now
        var new = NewTransaction(
            id: TransactionID(at: time), owner: Principal(uid: 1000), idempotencyKey: key(), requestHash: "h",
            type: type, mode: .test,
            lane: lane, amount: Money(value: value, currency: try #require(Currency(currency))), order: nil, at: time)
        if type == .purchase { new.capture = capture }
        return new
    }

    /// A payment in a state, with the states that lead there.
    func payment(
        _ value: Int64, _ capture: PaymentAccount.Capture = .automatic, type: TransactionType = .purchase,
        currency: String = "EUR", lane: String = "main", scheme: String = "Visa",
        states: [TransactionState] = [.armed, .reading, .sealed, .sent, .approved], approved: Int64? = nil,
        terms: ServiceTerms? = nil, confirmBy: Timestamp? = nil
    ) throws -> TransactionID {
        let new = try new(type, value, capture, currency: currency, lane: lane)
        _ = try journal.create(new)
        try go(
            new.id, states, approved: approved, currency: currency, scheme: scheme, terms: terms, confirmBy: confirmBy)
        return new.id
    }

    func go(
        _ id: TransactionID, _ states: [TransactionState], approved: Int64? = nil, currency: String = "EUR",
        scheme: String = "Visa", terms: ServiceTerms? = nil, confirmBy: Timestamp? = nil
    ) throws {
        for state in states {
            var change = StateChange(state, at: now)
            if state == .sealed, !scheme.isEmpty {
                change.card = MaskedCard(scheme: scheme, last4: "0010", masked: "************0010")
            }
            if state == .approved {
                var result = PaymentResult(mode: .test, outcome: approved == nil ? .approved : .partiallyApproved)
                if let approved {
                    result.amountApproved = Money(value: approved, currency: try #require(Currency(currency)))
                }
                change.result = result
                change.terms = terms
                change.confirmBy = confirmBy
            }
            if state == .reversing { change.reversal = ReversalPlan(reason: .timeout, due: now) }
            try journal.append([change], to: id)
        }
    }

    func begin(_ payment: TransactionID, _ wish: NewOperation.Request, key: String? = nil) throws -> OperationCreation {
        let time = now
        return try journal.createOperation(
            NewOperation(
                id: OperationID(at: time), payment: payment, owner: Principal(uid: 1000),
                idempotencyKey: key ?? self.key(),
                requestHash: "h", wish: wish, at: time)
        ) { operation, _ in "{\"id\":\"\(operation.id)\"}" }
    }

    /// Asks for something and gets it, or not.
    func carryOut(
        _ payment: TransactionID, _ wish: NewOperation.Request, _ answer: OperationAnswer? = .done()
    ) throws -> OperationRecord {
        guard case .created(let record) = try begin(payment, wish) else {
            throw Refused()
        }
        let sent = try journal.moveOperation(record.id, to: .sent, due: nil, at: now)
        guard let answer else { return sent }
        guard case .booked(let ended) = try journal.endOperation(record.id, answer, result: "{}", at: now) else {
            throw Refused()
        }
        return ended
    }

    /// A refund without a card, answered or not.
    func refund(_ payment: TransactionID, _ value: Int64?, _ states: [TransactionState]) throws -> RefundCreation {
        let new = try new(.refund, 0)
        let creation = try journal.createRefund(new, of: payment, amount: value)
        // No card is read.
        if case .created = creation { try go(new.id, states, scheme: "") }
        return creation
    }

    func account(_ payment: TransactionID) throws -> PaymentAccount {
        try #require(try journal.record(payment)?.transaction.account)
    }

    /// Entry, hold and money of each row, oldest first.
    func rows(_ payment: TransactionID) throws -> [String] {
        try journal.ledgerRows(of: payment).map { "\($0.entry.rawValue) \($0.hold)/\($0.money)" }
    }

    struct Refused: Error {}
}

@Suite("The books in the journal")
struct JournalledBooksTests {
    private let answered: [TransactionState] = [.armed, .reading, .sealed, .sent, .approved]

    @Test("A payment is booked with the change of state that approves it: held or captured, as much as was approved")
    func approvals() throws {
        let books = try BookedJournal()
        #expect(try books.rows(books.payment(1250)) == ["captured 0/1250"])
        #expect(try books.rows(books.payment(1210, approved: 605)) == ["captured 0/605"])
        #expect(try books.rows(books.payment(900, type: .refund)) == ["refunded 0/-900"])
        let held = try books.payment(20_000, .manual, terms: ServiceTerms(captureBefore: Timestamp(milliseconds: 9)))
        #expect(try books.rows(held) == ["authorised 20000/0"])
        let account = try books.account(held)
        #expect(account.state == .open && account.remaining == 20_000 && account.before?.milliseconds == 9)
        #expect(try books.rows(books.payment(1, states: [.armed, .reading, .sealed, .sent, .declined])).isEmpty)
        #expect(
            try books.rows(books.payment(1, states: [.armed, .reading, .sealed, .stored, .delivered])) == [
                "delivered 0/0"
            ])
        #expect(try books.rows(books.payment(0, type: .verification)).isEmpty)
        #expect(
            try books.rows(books.payment(1, states: [.armed, .reading, .sealed, .sent, .unknown, .reversing])).isEmpty)
    }

    @Test(
        "Taking a payment back is booked when it begins, and what a person finds to be charged after all is put right")
    func reversal() throws {
        let books = try BookedJournal()
        let sale = try books.payment(700)
        try books.go(sale, [.reversing])
        #expect(try books.rows(sale) == ["captured 0/700", "reversed 0/-700"])
        #expect(try books.account(sale).state == .reversed)
        try books.go(sale, [.approved])
        #expect(try books.rows(sale) == ["captured 0/700", "reversed 0/-700", "corrected 0/700"])
        #expect(try books.account(sale).refundable == 700)
        try books.go(sale, [.reversing, .reversed])
        #expect(try books.rows(sale).suffix(1) == ["reversed 0/-700"])
        let doubtful = try books.payment(
            800, states: [.armed, .reading, .sealed, .sent, .unknown, .reversing, .approved])
        #expect(try books.rows(doubtful) == ["captured 0/800"])
    }

    @Test("A capture of less than was held gives up the rest, and nothing is left of it")
    func capture() throws {
        let books = try BookedJournal()
        let sale = try books.payment(20_000, .manual)
        let capture = try books.carryOut(sale, .capture(amount: 13_400, tip: 1_400))
        #expect(capture.history.map(\.state) == [.created, .sent, .done] && capture.attempts == 1)
        #expect(try books.rows(sale) == ["authorised 20000/0", "captured -13400/13400", "released -6600/0"])
        #expect(try books.account(sale).refundable == 13_400)
        #expect(try books.sqlite("SELECT sum(tip) FROM ledger") == "1400")
        #expect(try books.begin(sale, .release()) == .refused(.releaseTooMuch(limit: 0)))
    }

    @Test("An operation without an answer counts against the next one, and only one runs at a time")
    func pending() throws {
        let books = try BookedJournal()
        let sale = try books.payment(3_000, .manual)
        let capture = try books.carryOut(sale, .capture(amount: 1_000), nil)
        #expect(try books.account(sale).pendingCapture == 1_000)
        #expect(try books.begin(sale, .release()) == .refused(.operationPending(capture.id)))
        #expect(try books.journal.openOperations().map(\.id) == [capture.id])
        let due = books.now
        _ = try books.journal.moveOperation(capture.id, to: .unknown, due: due, at: books.now)
        #expect(try books.journal.openOperations().map(\.due) == [due])
        #expect(throws: JournalError.illegalMove(from: .unknown, to: .created)) {
            try books.journal.moveOperation(capture.id, to: .created, due: nil, at: books.now)
        }
        let ending = try books.journal.endOperation(capture.id, .done(), result: "{}", at: books.now)
        guard case .booked(let ended) = ending else { throw BookedJournal.Refused() }
        #expect(ended.state == .done && ended.due == nil)
        #expect(try books.rows(sale) == ["authorised 3000/0", "captured -1000/1000", "released -2000/0"])
        #expect(try books.journal.endOperation(capture.id, .done(), result: nil, at: books.now) == .repeated(ended))
        guard
            case .contradicted(let told) = try books.journal.endOperation(
                capture.id, .refused, result: nil, at: books.now)
        else { throw BookedJournal.Refused() }
        #expect(told.state == .done && told.attention == .contradiction)
        #expect(try books.rows(sale).count == 3)
    }

    @Test("The same key asks once, another request with it is refused, and keys of sales are apart")
    func keys() throws {
        let books = try BookedJournal()
        let sale = try books.payment(3_000, .manual)
        guard case .created(let first) = try books.begin(sale, .release(amount: 100), key: "key-1") else {
            throw BookedJournal.Refused()
        }
        #expect(try books.begin(sale, .release(amount: 100), key: "key-1") == .repeated(first))
        #expect(
            try books.journal.earlierOperation(
                owner: Principal(uid: 1000), idempotencyKey: "key-1", requestHash: "other")
                == .keyReused(first.id))
        #expect(try books.sqlite("SELECT count(*) FROM operation") == "1")
        _ = try books.journal.endOperation(first.id, .refused, result: nil, at: books.now)
        #expect(try books.journal.operation(first.id)?.state == .refused)
    }

    @Test("Refunds count in the books of what they name: pending, done, and again free once they are refused")
    func refunds() throws {
        let books = try BookedJournal()
        let sale = try books.payment(1_250)
        #expect(try books.refund(sale, 2_000, []) == .refused(.refundTooMuch(limit: 1_250)))
        let pending = try books.refund(sale, 1_000, [.armed, .reading, .sealed, .sent, .unknown])
        guard case .created(_, let amount) = pending else { throw BookedJournal.Refused() }
        #expect(amount.value == 1_000)
        #expect(try books.account(sale).pendingRefund == 1_000)
        #expect(try books.refund(sale, 300, []) == .refused(.refundTooMuch(limit: 250)))
        _ = try books.refund(sale, nil, answered)
        let account = try books.account(sale)
        #expect(account.refunded == 250 && account.refundable == 0 && account.state == .partiallyRefunded)
        let text = try books.sqlite("SELECT id FROM payment WHERE state = 'unknown'")
        let first = try #require(TransactionID(text))
        #expect(try books.journal.record(first)?.transaction.of == sale)
        try books.go(first, [.declined])
        #expect(try books.account(sale).refundable == 1_000)
        guard
            case .refused(.reversalRefunded) = try books.journal.beginWishedReversal(
                sale, StateChange(.reversing, at: books.now))
        else { throw BookedJournal.Refused() }
        let other = try books.new(.refund, 0, currency: "USD")
        #expect(
            try books.journal.createRefund(other, of: sale, amount: 1)
                == .otherCurrency(try #require(Currency("EUR"))))
        let nobody = try books.new(.refund, 0)
        #expect(try books.journal.createRefund(nobody, of: TransactionID(), amount: 1) == .originalUnknown)
    }

    @Test("A capture confirms an approval in time, and is refused after it")
    func confirmation() throws {
        let books = try BookedJournal()
        let sale = try books.payment(500, .manual, confirmBy: Timestamp(milliseconds: 1_800_000_000_000))
        #expect(try books.journal.unconfirmed().count == 1)
        _ = try books.carryOut(sale, .capture())
        #expect(try books.journal.unconfirmed().isEmpty)
        let late = try books.payment(500, .manual, confirmBy: Timestamp(milliseconds: 1))
        #expect(try books.begin(late, .capture()) == .refused(.confirmationTooLate))
    }

    @Test("Whatever can be seen of a payment gets a number of its own when it changes")
    func changes() throws {
        let books = try BookedJournal()
        let sale = try books.payment(3_000, .manual)
        let other = try books.payment(1)
        func change(_ id: TransactionID) throws -> Int {
            try #require(Int(try books.sqlite("SELECT change FROM payment WHERE id = '\(id)'")))
        }
        #expect(try change(other) > (try change(sale)))
        _ = try books.carryOut(sale, .capture())
        #expect(try change(sale) > change(other))
        let before = try change(sale)
        _ = try books.refund(sale, 1, [])
        #expect(try change(sale) > before)
        let numbers = try books.sqlite("SELECT group_concat(number) FROM (SELECT number FROM payment ORDER BY number)")
        #expect(numbers == "1,2,3")
    }

    @Test(
        "The ledger can be neither altered nor removed, not even from outside",
        arguments: [
            "DELETE FROM ledger", "UPDATE ledger SET money = 1", "UPDATE ledger SET day = NULL",
            "DELETE FROM operation_change", "UPDATE operation SET state = 'sent' WHERE state = 'done'",
        ])
    func appendOnly(_ sql: String) throws {
        let books = try BookedJournal()
        let sale = try books.payment(3_000, .manual)
        _ = try books.carryOut(sale, .capture())
        #expect(try books.sqlite(sql).contains(sql.contains("operation SET") ? "ended" : "append only"))
    }
}
