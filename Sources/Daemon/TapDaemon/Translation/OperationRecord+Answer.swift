// SPDX-License-Identifier: Apache-2.0
import Journal
import Ledger
import POSAPI
import PSPAPI
import PaymentValues

extension OperationRecord {
    /// As the POS gets it.
    func answer(_ account: PaymentAccount?) -> PaymentOperation {
        var answer = PaymentOperation(
            id: id, transaction: payment, kind: operation.action.words.kind, state: state, createdAt: createdAt)
        switch operation.action {
        case .capture(let amount, let tip, let isFinal):
            answer.amount = Money(value: amount, currency: currency)
            if tip > 0 { answer.tip = Money(value: tip, currency: currency) }
            answer.final = isFinal
        case .adjust(let total): answer.amount = Money(value: total, currency: currency)
        case .extend: answer.extend = true
        case .release(let amount): answer.amount = Money(value: amount, currency: currency)
        }
        answer.updatedAt = updatedAt
        answer.error = error
        answer.stuck = attention == .stuck && state.isOpen ? true : nil
        if answer.stuck == true { answer.error = ErrorDetail(.operationStuck, transaction: payment) }
        answer.history = history.map { PaymentOperation.Step(state: $0.state, at: $0.at) }
        answer.account = account
        if !state.isOpen, let result { answer.result = PaymentOperation.Result(journalled: result, answer.amount) }
        return answer
    }
}

extension PaymentOperation.Result {
    /// - Parameter amount: what was asked for.
    fileprivate init?(journalled text: String, _ amount: Money?) {
        // Written by this program from an answer that it has read.
        let answer: AdapterOperationAnswer
        do { answer = try WireJSON.decode(AdapterOperationAnswer.self, from: Array(text.utf8)) } catch { return nil }
        let isDone = answer.outcome == .approved || answer.outcome == .partial
        self.init(outcome: isDone ? .approved : .declined)
        responseCode = answer.responseCode
        pspReference = answer.pspReference
        receiptLines = answer.receiptLines
        if isDone { amountDone = answer.amountDone ?? amount }
    }
}
