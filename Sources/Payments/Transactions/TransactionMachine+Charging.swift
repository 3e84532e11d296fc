// SPDX-License-Identifier: Apache-2.0
import POSAPI
import PSPAPI
import PaymentValues

/// Charges of stored cards: no card is read, and whatever follows the question is as for a sale.
extension TransactionMachine {
    /// Connected, it goes out; not connected, nothing has been asked of anybody.
    mutating func send(_ charge: StoredCharge, _ input: Input) {
        guard case .connected = input else { return end(.pspUnreachable) }
        let question = Question(
            subject: .charge(charge.request), read: nil, askUntil: now.after(demand.times.answer),
            pause: demand.times.pause, step: .asking(until: now.after(demand.times.answer + Self.answerMargin)),
            reader: .free, keyLife: demand.keyLife)
        var sent = change(.sent)
        sent.card = charge.card
        var event = event(.paymentAuthorizing)
        event.card = charge.card.withoutToken
        write(
            [sent], as: .charge, next: .sent(question),
            then: [.publish(event), question.sending(isAgain: false, within: demand.times.answer)])
    }
}
