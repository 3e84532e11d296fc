// SPDX-License-Identifier: Apache-2.0
import Ledger
import POSAPI
import PaymentValues
import TestSupport
import Testing

/// The service's side of one payment, kept as a purse and a pot: what it holds, what it has paid the shop, what it has paid
/// back. It knows nothing of rows, and adds up what was really carried out.
private struct Purse {
    var held: Int64 = 0
    var paid: Int64 = 0
    var givenBack: Int64 = 0
    var isTakenBack = false

    mutating func carryOut(_ action: Ledger.Operation.Action) {
        switch action {
        case .capture(let amount, _, let isFinal):
            held = isFinal ? 0 : max(0, held - amount)
            paid += amount
        case .adjust(let total): held = total
        case .extend: break
        case .release(let amount): held -= amount
        }
    }
}

@Suite("Books of a payment at random")
struct RandomTests {
    static let orders = 20_000

    @Test("After any sequence of wishes and answers the books say what the payment service carried out")
    func agreement() {
        var generator = SeededGenerator(seed: 15)
        var reached: [PaymentAccount.State: Int] = [:]
        for order in 0..<Self.orders {
            var payment = Story(capture: Bool.random(using: &generator) ? .manual : .automatic, &generator)
            for _ in 0..<Int.random(in: 1...14, using: &generator) { payment.step(&generator) }
            payment.settle(&generator)
            let found = payment.differences
            #expect(found.isEmpty, "order \(order): \(found)\n\(payment.told.joined(separator: "\n"))")
            reached[payment.books.account.state, default: 0] += 1
            guard found.isEmpty else { return }
        }
        // Every end that there is was met, so that none of them went untried.
        #expect(Set(reached.keys) == Set(PaymentAccount.State.allCases))
    }
}

private struct Story {
    var books: PaymentLedger
    var purse = Purse()
    var told: [String] = []
    private var now = Sale.now
    private var open: Ledger.Operation?

    init(capture: PaymentAccount.Capture, _ generator: inout SeededGenerator) {
        books = PaymentLedger(payment: TransactionID(), currency: Currency("EUR") ?? .none, capture: capture)
        let amount = Int64.random(in: 1...10_000, using: &generator)
        let maximum: Int64? = Bool.random(using: &generator) ? amount * 2 : nil
        _ = books.approved(amount, captureBefore: nil, maximumCapture: maximum)
        if capture == .manual { purse.held = amount } else { purse.paid = amount }
        told.append("approved \(amount), \(capture)")
    }

    mutating func step(_ generator: inout SeededGenerator) {
        let amount: Int64? =
            Int.random(in: 0..<4, using: &generator) == 0 ? nil : .random(in: -5...12_000, using: &generator)
        let flag = Bool.random(using: &generator)
        let id = OperationID()
        switch Int.random(in: 0..<9, using: &generator) {
        case 0, 1: begin(try? books.requestCapture(id, amount: amount, isFinal: flag, at: now))
        case 2: begin(try? books.requestAdjustment(id, total: amount ?? 0))
        case 3: begin(try? books.requestRelease(id, amount: amount))
        case 4: begin(try? books.requestExtension(id))
        case 5, 6: refund(amount, &generator)
        case 7: reverse(&generator)
        default: settle(&generator)
        }
        if Int.random(in: 0..<40, using: &generator) == 0, books.openOperation == nil, books.hold > 0 {
            told.append("expired")
            _ = books.expired()
            purse.held = 0
        }
        restartFromRows()
    }

    /// The open operation comes to its end: carried out or not, and told once, twice, or told wrong the second time.
    mutating func settle(_ generator: inout SeededGenerator) {
        guard let operation = open else { return }
        open = nil
        let isDone = Int.random(in: 0..<4, using: &generator) > 0
        if isDone { purse.carryOut(operation.action) }
        told.append("\(operation.action): \(isDone)")
        _ = books.answered(operation.id, isDone ? .done() : .refused)
        if Bool.random(using: &generator) {
            _ = books.answered(operation.id, Bool.random(using: &generator) ? .done() : .refused)
        }
    }

    private mutating func begin(_ operation: Ledger.Operation?) {
        guard let operation else { return }
        _ = books.moved(operation.id, to: .sent)
        open = operation
    }

    private mutating func refund(_ amount: Int64?, _ generator: inout SeededGenerator) {
        guard let refund = try? books.requestRefund(TransactionID(), amount: amount) else { return }
        // Some never hear an answer, and count for ever.
        switch Int.random(in: 0..<3, using: &generator) {
        case 0:
            told.append("refund \(refund.amount)")
            purse.givenBack += refund.amount
            _ = books.refundAnswered(refund.id, .done(refund.amount))
            _ = books.refundAnswered(refund.id, .refused)
        case 1: _ = books.refundAnswered(refund.id, .refused)
        default: told.append("refund \(refund.amount) without an answer")
        }
    }

    private mutating func reverse(_ generator: inout SeededGenerator) {
        guard Int.random(in: 0..<3, using: &generator) == 0, (try? books.requestReversal()) != nil else { return }
        told.append("reversed")
        purse.held = 0
        purse.paid = 0
        purse.isTakenBack = true
    }

    /// What a journal would keep is all that the books need.
    private mutating func restartFromRows() {
        books = PaymentLedger(
            payment: books.payment, currency: books.currency, capture: books.capture, rows: books.rows,
            operations: books.operations, refunds: books.refunds, captureBefore: books.captureBefore,
            maximumCapture: books.maximumCapture, isAwaitingConfirmation: books.isAwaitingConfirmation)
    }

    var differences: [String] {
        var found = books.contradictions
        if books.hold != purse.held { found.append("held \(purse.held), booked \(books.hold)") }
        if books.money != purse.paid { found.append("paid \(purse.paid), booked \(books.money)") }
        let account = books.account
        if account.refunded != purse.givenBack {
            found.append("given back \(purse.givenBack), booked \(account.refunded)")
        }
        if !purse.isTakenBack, purse.givenBack > purse.paid { found.append("more was given back than was paid") }
        if account.remaining < 0 || account.refundable < 0 || account.capturableUpTo < 0 {
            found.append("a limit below zero: \(account)")
        }
        return found
    }
}
