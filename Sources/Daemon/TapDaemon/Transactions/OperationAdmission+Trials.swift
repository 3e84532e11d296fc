// SPDX-License-Identifier: Apache-2.0
import Journal
import Ledger
import POSAPI
import PaymentValues
import Transactions

/// What would become of a wish: the same checks in the same order, and nothing is written down or sent.
extension OperationAdmission {
    func trial(of wish: Request, of transaction: Transaction, _ owner: Principal) async throws(ErrorBody)
        -> OperationDryRun
    {
        let id = transaction.id
        try check(wish, transaction)
        if let amount = wish.amount, amount.currency != transaction.amount.currency {
            throw ErrorBody(.amountCurrencyMismatch, transaction: id)
        }
        let new = NewOperation(
            id: OperationID(), payment: id, owner: owner, idempotencyKey: "", requestHash: "", wish: wish.operation,
            at: .now)
        let isInTime = await runner.books.live[id]?.isConfirmable
        let trial = try await inJournal { (journal) throws(JournalError) in
            try journal.tryOperation(new, isInTime: isInTime)
        }
        return try outcome(trial, wish.kind, transaction)
    }

    func trial(_ demand: AdmissionRequest, of original: TransactionID) async throws(ErrorBody) -> OperationDryRun {
        let payment = try await inJournal { (journal) throws(JournalError) in try journal.record(original) }
        guard let payment, payment.transaction.mode == runner.mode else { throw ErrorBody(.refundOriginalUnknown) }
        try check(payment, asksForCard: demand.request.asksForCard)
        let amount = demand.request.amount == .none ? nil : demand.request.amount
        let trial = try await inJournal { (journal) throws(JournalError) in
            try journal.tryRefund(of: original, amount: amount?.value, amount?.currency)
        }
        return try outcome(trial, .refund, payment.transaction)
    }

    private func outcome(
        _ trial: Trial, _ kind: OperationDryRun.Kind, _ transaction: Transaction
    ) throws(ErrorBody) -> OperationDryRun {
        switch trial {
        case .acceptable(let value, let account):
            let amount = value > 0 ? Money(value: value, currency: transaction.amount.currency) : nil
            return OperationDryRun(
                mode: transaction.mode, transaction: transaction.id, kind: kind, amount: amount, account: account)
        case .refused(let refusal): throw ErrorBody(refusal, transaction)
        case .unknownPayment: throw ErrorBody(kind == .refund ? .refundOriginalUnknown : .transactionUnknown)
        case .otherCurrency: throw ErrorBody(.amountCurrencyMismatch, field: "amount", transaction: transaction.id)
        }
    }
}

extension OperationAdmission.Request {
    fileprivate var kind: OperationDryRun.Kind {
        switch self {
        case .capture: .capture
        case .adjustment: .adjustment
        case .release: .release
        }
    }
}
