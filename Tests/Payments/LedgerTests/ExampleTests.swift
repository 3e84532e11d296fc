// SPDX-License-Identifier: Apache-2.0
import Ledger
import POSAPI
import PaymentValues
import Testing

/// The worked examples of the ledger's design, row for row: hold/money of every booking, and the account at the end.
@Suite("The ledger's worked examples")
struct ExampleTests {
    @Test("1: a final capture of a part gives up the rest")
    func finalCapture() throws {
        var sale = Sale(.manual, approved: 20000)
        try sale.capture(13400)
        #expect(sale.text == ["authorised +20000/0", "captured -13400/+13400", "released -6600/0"])
        #expect(sale.account.captured == 13400)
        #expect(sale.account.released == 6600)
        #expect(sale.account.refundable == 13400)
        #expect(sale.account.state == .captured)
    }

    @Test("2: captures that are not final leave the rest to a release")
    func severalCaptures() throws {
        var sale = Sale(.manual, approved: 10000)
        try sale.capture(4000, isFinal: false)
        try sale.capture(3000, isFinal: false)
        try sale.release()
        #expect(
            sale.text == [
                "authorised +10000/0", "captured -4000/+4000", "captured -3000/+3000", "released -3000/0",
            ])
        #expect(sale.account.captured == 7000)
        #expect(sale.account.remaining == 0)
    }

    @Test("3: an adjustment that is declined leaves the old sum")
    func adjustments() throws {
        var sale = Sale(.manual, approved: 5000)
        try sale.adjust(8000)
        try sale.adjust(12000, .refused)
        try sale.capture()
        #expect(sale.text == ["authorised +5000/0", "adjusted +3000/0", "captured -8000/+8000"])
        #expect(sale.account.authorised == 8000)
        #expect(sale.account.captured == 8000)
    }

    @Test("4: a tip goes beyond the hold where the payment service allows it")
    func tip() throws {
        var sale = Sale(.manual, approved: 4000, maximumCapture: 9000)
        try sale.capture(4600, tip: 600)
        #expect(sale.text == ["authorised +4000/0", "captured -4000/+4600"])
        #expect(sale.account.captured == 4600)
        #expect(sale.books.tips == 600)
        #expect(sale.account.remaining == 0)
    }

    @Test("5: refunds end where the capture ends")
    func refunds() throws {
        var sale = Sale(.automatic, approved: 1250)
        try sale.refund(500)
        try sale.refund(750)
        #expect(throws: LedgerRefusal.refundTooMuch(limit: 0)) { try sale.refund(1) }
        #expect(sale.text == ["captured 0/+1250", "refunded 0/-500", "refunded 0/-750"])
        #expect(sale.account.refundable == 0)
        #expect(sale.account.state == .refunded)
    }

    @Test("6 and 7: a refund without an answer counts until the answer says that nothing was given back")
    func uncertainRefund() throws {
        var sale = Sale(.automatic, approved: 1250)
        let first = try sale.books.requestRefund(TransactionID(), amount: 1000)
        #expect(sale.account.pendingRefund == 1000)
        #expect(sale.account.refundable == 250)
        #expect(throws: LedgerRefusal.refundTooMuch(limit: 250)) { try sale.refund(300) }
        let answer = sale.books.refundAnswered(first.id, .refused)
        #expect(answer == .rows([]))
        #expect(sale.account.pendingRefund == 0)
        #expect(sale.account.refundable == 1250)
        #expect(sale.text == ["captured 0/+1250"])
    }

    @Test("8: after a partial approval what was approved counts")
    func partialApproval() throws {
        var sale = Sale(.automatic, approved: 605)
        #expect(throws: LedgerRefusal.refundTooMuch(limit: 605)) { try sale.refund(1210) }
    }

    @Test("9: while a capture has no answer nothing else begins, and a late answer is booked")
    func lateCapture() throws {
        var sale = Sale(.manual, approved: 3000)
        let capture = try sale.books.requestCapture(OperationID(), amount: 1000, at: Sale.now)
        sale.move(capture, to: .sent)
        sale.move(capture, to: .unknown)
        #expect(throws: LedgerRefusal.operationPending(capture.id)) { try sale.release() }
        #expect(throws: LedgerRefusal.operationPending(capture.id)) { try sale.refund(1) }
        sale.note(sale.books.answered(capture.id, .done()))
        #expect(sale.text == ["authorised +3000/0", "captured -1000/+1000", "released -2000/0"])
        let again = sale.books.answered(capture.id, .done())
        #expect(again == .repeated)
        let opposite = sale.books.answered(capture.id, .refused)
        #expect(opposite == .contradicted)
    }

    @Test("10: what nobody confirmed is taken back when the reversal begins")
    func unconfirmed() throws {
        var sale = Sale(.automatic, approved: 700, isAwaitingConfirmation: true)
        #expect(throws: LedgerRefusal.confirmationPending) { try sale.refund(700) }
        sale.note(.rows(sale.books.reversalBegan()))
        #expect(sale.text == ["captured 0/+700", "reversed 0/-700"])
        #expect(sale.account.state == .reversed)
        let again = sale.books.reversalBegan()
        #expect(again.isEmpty)
    }

    @Test("11: a capture that comes after the time is refused, and the hold expires")
    func expiry() throws {
        var sale = Sale(.manual, approved: 9000, captureBefore: Sale.now)
        #expect(throws: LedgerRefusal.captureExpired) {
            try sale.books.requestCapture(OperationID(), at: Sale.now)
        }
        sale.note(sale.books.expired())
        #expect(sale.text == ["authorised +9000/0", "expired -9000/0"])
        #expect(sale.account.state == .expired)
        #expect(sale.account.released == 9000)
    }

    @Test("The sum to be held counts from what is held, not from what was once authorised")
    func adjustmentAfterRelease() throws {
        var sale = Sale(.manual, approved: 5000)
        try sale.release(4000)
        try sale.adjust(3000)
        #expect(sale.text == ["authorised +5000/0", "released -4000/0", "adjusted +2000/0"])
        #expect(sale.account.remaining == 3000)
    }

    @Test("The whole is taken back only while the whole is there")
    func reversals() throws {
        var refunded = Sale(.automatic, approved: 1000)
        try refunded.refund(1)
        #expect(throws: LedgerRefusal.reversalRefunded) { try refunded.books.requestReversal() }

        var inPart = Sale(.manual, approved: 1000)
        try inPart.capture(400, isFinal: false)
        #expect(throws: LedgerRefusal.reversalCapturedInPart) { try inPart.books.requestReversal() }

        var whole = Sale(.manual, approved: 1000)
        try whole.capture(400)
        let rows = try whole.books.requestReversal()
        #expect(rows.map(\.money) == [-400])
        #expect(throws: LedgerRefusal.alreadyReversed) { try whole.refund(1) }
    }

    @Test("A capture confirms an approval that waits for the till")
    func captureConfirms() throws {
        var sale = Sale(.manual, approved: 1000, isAwaitingConfirmation: true)
        _ = try sale.books.requestCapture(OperationID(), at: Sale.now)
        #expect(!sale.books.isAwaitingConfirmation)
    }

    @Test("The eleventh adjustment is refused, declined ones counted")
    func adjustmentLimit() throws {
        var sale = Sale(.manual, approved: 1000)
        for total in 1...10 { try sale.adjust(Int64(total), .refused) }
        #expect(throws: LedgerRefusal.adjustmentTooMany) { try sale.adjust(11) }
    }
}
