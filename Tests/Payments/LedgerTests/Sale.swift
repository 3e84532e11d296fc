// SPDX-License-Identifier: Apache-2.0
import Ledger
import POSAPI
import PaymentValues
import Testing

/// A payment whose bookings are kept in words, its refunds' rows among them.
struct Sale {
    static let now = Timestamp(milliseconds: 1_795_000_000_000)

    var books: PaymentLedger
    private(set) var text: [String] = []
    var account: PaymentAccount { books.account }

    init(
        _ capture: PaymentAccount.Capture, approved amount: Int64, captureBefore: Timestamp? = nil,
        maximumCapture: Int64? = nil, isAwaitingConfirmation: Bool = false
    ) {
        books = PaymentLedger(payment: TransactionID(), currency: Currency("EUR") ?? .none, capture: capture)
        note(
            books.approved(
                amount, captureBefore: captureBefore, maximumCapture: maximumCapture,
                isAwaitingConfirmation: isAwaitingConfirmation))
    }

    mutating func capture(_ amount: Int64? = nil, tip: Int64 = 0, isFinal: Bool = true) throws {
        end(try books.requestCapture(OperationID(), amount: amount, tip: tip, isFinal: isFinal, at: Self.now))
    }

    mutating func adjust(_ total: Int64, _ answer: OperationAnswer = .done()) throws {
        end(try books.requestAdjustment(OperationID(), total: total), answer)
    }

    mutating func release(_ amount: Int64? = nil) throws {
        end(try books.requestRelease(OperationID(), amount: amount))
    }

    mutating func refund(_ amount: Int64) throws {
        let refund = try books.requestRefund(TransactionID(), amount: amount)
        note(books.refundAnswered(refund.id, .done(amount)))
    }

    mutating func note(_ booking: Posting) {
        guard case .rows(let rows) = booking else {
            Issue.record("nothing was booked: \(booking)")
            return
        }
        text += rows.map { "\($0.entry) \(signed($0.hold))/\(signed($0.money))" }
        #expect(books.contradictions.isEmpty)
    }

    mutating func move(_ operation: Ledger.Operation, to state: OperationState) {
        let isLegal = books.moved(operation.id, to: state)
        #expect(isLegal)
    }

    private mutating func end(_ operation: Ledger.Operation, _ answer: OperationAnswer = .done()) {
        move(operation, to: .sent)
        note(books.answered(operation.id, answer))
    }

    private func signed(_ value: Int64) -> String { value > 0 ? "+\(value)" : "\(value)" }
}
