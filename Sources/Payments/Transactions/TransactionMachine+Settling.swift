// SPDX-License-Identifier: Apache-2.0
public import POSAPI
import PSPAPI
public import PaymentValues

/// What no answer of the payment service ends, a person does, who has asked it by other ways.
extension TransactionMachine {
    /// Ends it as a person says. The journal refuses that for what is no open item in that moment.
    mutating func settle(_ settlement: Settlement, _ wish: RequestID) {
        guard let (question, until, owedTo) = unfinished else {
            return outward(.answer(wish, .refused(transaction.settlementRefusal)))
        }
        let isReversal = transaction.state == .reversing
        let state: TransactionState = settlement.outcome == .charged ? .approved : isReversal ? .reversed : .declined
        var change = change(state)
        change.settlement = settlement
        change.result = PaymentResult(
            settlement, of: transaction, reason: isReversal ? transaction.result?.reason : nil)
        change.result?.pspReference = transaction.result?.pspReference
        if state == .reversed {
            change.result?.reversal = .done
            change.result?.amountApproved = transaction.result?.amountApproved
        }
        var event = event(
            state == .approved ? .paymentApproved : state == .reversed ? .paymentReversed : .paymentDeclined)
        event.result = change.result
        var then: [Outward] = [.answer(wish, .done), .publish(event), .scrub]
        if let owedTo { then.append(.answer(owedTo, .done)) }
        let next = until.map { Phase.settled(question: question, until: $0) } ?? .ended
        write([change], as: .settle(settlement), next: next, then: then)
    }

    /// Number of the question that is on its way, until when its answer may come, and who waits for it; `nil` where there
    /// is nothing to settle.
    private var unfinished: (question: Int, until: Int64?, owedTo: RequestID?)? {
        switch phase {
        case .reversing(let reversal): (reversal.number, reversal.isAsking ? reversal.due : nil, nil)
        case .sent(let question) where question.isOwed, .unknown(let question) where question.isOwed:
            if case .asking(let until) = question.step {
                (question.number, until, question.owedTo)
            } else {
                (question.number, nil, question.owedTo)
            }
        case .linked(let watch) where open != nil:
            if case .asking(let until) = watch.step { (watch.number, until, nil) } else { (watch.number, nil, nil) }
        case .stored: (0, nil, nil)
        default: nil
        }
    }

    /// What comes back to a reversal or to a question once a person has ended it: what says the contrary is told, and
    /// changes nothing.
    ///
    /// - Parameter taken: the service has taken it back.
    mutating func answerAfterSettlement(taken: Bool) {
        guard let settlement = transaction.settlement else { return }
        guard taken == (settlement.outcome == .charged) else {
            phase = .ended
            return
        }
        contradict()
    }

    private mutating func contradict() {
        var event = event(.openItemContradicted)
        event.amount = transaction.amount
        event.error = ErrorDetail(.openItemContradicted, transaction: id)
        write([], as: .contradict(now.wall), .forCertain, next: .ended, then: [.publish(event)])
    }

    mutating func answerAfterSettlement(_ reply: Reply) {
        guard case .answered(let answer) = reply, !answer.contradicts(transaction.amount) else { return }
        // Charged as was said, and another sum than was said.
        if answer.outcome != .declined, transaction.settlement?.outcome == .charged,
            answer.amountApproved ?? transaction.amount != transaction.result?.amountApproved ?? transaction.amount
        {
            return contradict()
        }
        answerAfterSettlement(taken: answer.outcome == .declined)
    }

    /// The service has said that it has never seen what was sent to it.
    var wasNeverSeen: Bool {
        switch open {
        case .neverSeen, .keyLifeOver, .refusedAfterDoubt: true
        case .otherService, .unacknowledged, .unanswered, .recordAltered, nil: false
        }
    }
}

extension PaymentResult {
    /// What a person's word makes of a payment or a refund. What was approved before in part stays that part.
    public init(_ settlement: Settlement, of transaction: Transaction, reason: DeclineReason? = nil) {
        let isCharged = settlement.outcome == .charged
        let amount = isCharged ? settlement.amount ?? transaction.result?.amountApproved : nil
        let isPart = amount.map { $0 != transaction.amount } ?? false
        self.init(
            mode: transaction.mode, outcome: !isCharged ? .declined : isPart ? .partiallyApproved : .approved,
            // Why it was being taken back is no reason of what was charged.
            reason: isCharged ? nil : reason)
        amountApproved = isPart ? amount : nil
    }
}

extension Settlement {
    /// For the audit chain: `charged 2.00 EUR by uid 7: seen in the portal`.
    public var evidence: String { "\(outcome.rawValue)\(amount.map { " \($0)" } ?? "") by uid \(uid): \(note)" }
}

extension SettlementRequest {
    /// Refuses an amount that the transaction cannot have been charged with: more than was asked for, or another than was
    /// approved before it was taken back.
    ///
    /// - Throws: `amount.currency_mismatch`, `open_item.amount_impossible` with the `limit`.
    public func check(_ transaction: Transaction) throws(ErrorBody) {
        // What is settled is refused as that.
        guard let amount, transaction.settlement == nil else { return }
        guard amount.currency == transaction.amount.currency else {
            throw ErrorBody(.amountCurrencyMismatch, field: "amount", transaction: transaction.id)
        }
        let limit = transaction.result?.amountApproved ?? transaction.amount
        let wasApproved = transaction.history.contains { $0.state == .approved }
        guard amount == limit || !wasApproved && amount.value < limit.value else {
            var refusal = ErrorBody(.openItemAmountImpossible, field: "amount", transaction: transaction.id)
            refusal.error.limit = limit
            throw refusal
        }
    }
}

extension Transaction {
    /// Why it cannot be settled, as it is.
    public var settlementRefusal: ErrorCode {
        if settlement != nil { return .openItemAlreadySettled }
        switch state {
        case .approved, .declined, .delivered, .cancelled, .failed, .reversed, .completed: return .openItemEnded
        case .created, .preparing, .armed, .reading, .sealed, .sent, .stored, .unknown, .reversing:
            return .openItemNotOpen
        }
    }
}
