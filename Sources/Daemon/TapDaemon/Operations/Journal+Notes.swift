// SPDX-License-Identifier: Apache-2.0
import Journal
import Ledger
import POSAPI
import PSPAPI
import PaymentValues
import Transactions

/// What the machines of operations want written down.
extension Journal {
    /// An operation of the journal with all that it takes to go on.
    func ongoing(_ record: OperationRecord) throws(JournalError) -> OngoingOperation? {
        guard let payment = try self.record(record.payment) else { return nil }
        return OngoingOperation(record, payment, captureBefore: try books(of: record.payment)?.captureBefore)
    }

    /// The same for a refund that names a payment.
    func ongoing(_ refund: JournalRecord) throws(JournalError) -> OngoingOperation? {
        guard let id = refund.transaction.of, let original = try record(id) else { return nil }
        return OngoingOperation(refund: refund, of: original)
    }

    /// - Returns: what there is to tell.
    func write(_ note: OperationNote, of ongoing: OngoingOperation) throws(JournalError) -> [Event] {
        let (id, now) = (ongoing.id, Timestamp.now)
        guard let record = try operation(id) else { throw .unknownOperation }
        switch note {
        case .sent:
            try move(record, by: note, due: now, at: now)
            return []
        case .unknown(let pause, let isStuck):
            let isNews = try move(record, by: note, due: now.moved(by: pause), at: now)
            var events = isNews ? [ongoing.event(.operationUnknown)] : []
            if isStuck, record.attention == nil {
                try attend(to: id, .stuck, at: now)
                events.append(ongoing.event(.booksAttention))
            }
            return events
        case .resting(let pause):
            try planOperation(id, due: now.moved(by: pause))
            return []
        case .done(let answer):
            let ending = try endOperation(
                id, .done(captureBefore: answer.captureBefore), result: try text(of: answer), at: now)
            return try ended(ending, ongoing, answer, .operationDone)
        case .refused(let answer, let end):
            let error = end.code(of: answer, ongoing).map { ErrorDetail($0, transaction: ongoing.message.payment) }
            let ending = try endOperation(id, .refused, result: try answer.map(text), error: error, at: now)
            return try ended(ending, ongoing, answer, .operationRefused)
        case .resolved(let resolution):
            let ending = try endOperation(
                id, resolution.isDone ? .done() : .refused, result: nil, evidence: resolution.evidence, at: now)
            return try ended(ending, ongoing, nil, resolution.isDone ? .operationDone : .operationRefused)
        case .contradicted:
            try attend(to: id, .contradiction, at: now)
            return [ongoing.event(.booksAttention)]
        }
    }

    /// - Returns: whether it has another state now.
    @discardableResult
    private func move(
        _ record: OperationRecord, by note: OperationNote, due: Timestamp, at now: Timestamp
    ) throws(JournalError) -> Bool {
        guard let next = note.state(after: record.state) else {
            try planOperation(record.id, due: due)
            return false
        }
        _ = try moveOperation(record.id, to: next, due: due, at: now)
        return true
    }

    private func ended(
        _ ending: OperationEnding, _ ongoing: OngoingOperation, _ answer: AdapterOperationAnswer?, _ name: EventName
    ) throws(JournalError) -> [Event] {
        switch ending {
        case .repeated: return []
        case .contradicted: return [ongoing.event(name), ongoing.event(.booksAttention)]
        case .booked:
            guard let told = answer?.account, let books = try books(of: ongoing.message.payment),
                books.account.differs(from: told)
            else { return [ongoing.event(name)] }
            // Believed is neither: it is booked as answered, and a person looks at it.
            try attend(to: ongoing.id, .figuresDiffer, at: .now)
            return [ongoing.event(name), ongoing.event(.booksAttention)]
        }
    }

    /// The same for a refund, which is a transaction of its own.
    func write(
        _ note: OperationNote, ofRefund id: TransactionID, _ ongoing: OngoingOperation
    ) throws(JournalError) -> [Event] {
        guard let record = try record(id) else { throw .unknownTransaction }
        let next = note.state(ofRefund: record.transaction.state)
        switch note {
        case .sent:
            if let next { try append([StateChange(next)], to: id) }
            return []
        case .unknown(_, let isStuck):
            if let next { try append([StateChange(next)], to: id) }
            // What may not be sent again is not kept.
            if isStuck, ongoing.asksForCard { try dropAuthorization(of: id) }
            guard isStuck, record.open == nil else { return [] }
            try keepOpen(.unanswered, for: id)
            return [ongoing.event(.booksAttention)]
        case .resting: return []
        case .done(let answer):
            var change = StateChange(next ?? .approved)
            change.result = ongoing.result(answer)
            change.card = record.transaction.card?.named(answer.cardToken)
            try append([change], to: id)
            let told = [ongoing.event(.paymentApproved), ongoing.eventOfOriginal(.paymentRefunded)]
            guard try isOtherCard(id, answer, ongoing) else { return told }
            // Only the payment service can compare cards. Its own names for them say that it has not.
            try audit(AuditEntry(.refund, subject: id.text, detail: "given back to another card than the payment's"))
            return told + [ongoing.event(.booksAttention)]
        case .refused(let answer, let end):
            var change = StateChange(next ?? .declined)
            change.error = end.code(of: answer, ongoing).map { ErrorDetail($0, transaction: id) }
            change.result = answer.map(ongoing.result)
            try append([change], to: id)
            return [ongoing.event(.paymentDeclined)]
        case .resolved(let resolution):
            var change = StateChange(next ?? .declined)
            change.settlement = resolution.settlement
            change.result =
                if let settlement = resolution.settlement {
                    PaymentResult(settlement, of: record.transaction)
                } else {
                    PaymentResult(mode: ongoing.mode, outcome: resolution.isDone ? .approved : .declined)
                }
            try append([change], to: id)
            try audit(AuditEntry(.resolution, subject: id.text, detail: resolution.evidence))
            return [ongoing.event(resolution.isDone ? .paymentApproved : .paymentDeclined)]
        case .contradicted:
            if record.transaction.settlement != nil { try contradict(id, at: .now) }
            try audit(AuditEntry(.refund, subject: id.text, detail: "contradicted by the payment service"))
            return [ongoing.event(.booksAttention)]
        }
    }

    private func isOtherCard(
        _ id: TransactionID, _ answer: AdapterOperationAnswer, _ ongoing: OngoingOperation
    ) throws(JournalError) -> Bool {
        guard try record(id)?.transaction.details?.refundCard == .same, let token = answer.cardToken,
            let known = try record(ongoing.message.payment)?.transaction.card?.token
        else { return false }
        return token != known
    }

    private func text(of answer: AdapterOperationAnswer) throws(JournalError) -> String {
        do { return String(decoding: try WireJSON.encode(answer), as: UTF8.self) } catch { throw .failed(code: 0) }
    }
}

extension OperationEnd {
    /// `nil` where the answer itself says all.
    func code(of answer: AdapterOperationAnswer?, _ ongoing: OngoingOperation) -> ErrorCode? {
        switch self {
        case .unsupported: ongoing.unsupported
        case .expired: ongoing.kind == nil ? .readExpired : .captureExpired
        case .withdrawn: .operationWithdrawn
        case .notTaken: .pspRefused
        case .declined:
            switch answer?.reason {
            case .expired: .captureExpired
            case .otherCard: .refundOtherCard
            case .notSupported: ongoing.unsupported
            case .tooMuch, .alreadySettled, .unknownOriginal, .issuer, .other, nil: nil
            }
        }
    }
}

extension OngoingOperation {
    var unsupported: ErrorCode {
        switch kind {
        case .capture: .captureNotSupported
        case .adjustment: .adjustmentNotSupported
        case .release: .releaseNotSupported
        case nil: .refundNotSupported
        }
    }

    func event(_ name: EventName) -> Event {
        var event = Event(name, lane: lane)
        (event.transaction, event.till) = (transaction, till)
        if let kind {
            event.operation = id
            event.kind = kind
        }
        event.amount = machine.amount
        return event
    }

    func eventOfOriginal(_ name: EventName) -> Event {
        var event = event(name)
        (event.transaction, event.till) = (message.payment, tillOfPayment)
        return event
    }

    /// What the shop gets to see of an answer to a refund.
    func result(_ answer: AdapterOperationAnswer) -> PaymentResult {
        let outcome: PaymentResult.Outcome =
            switch answer.outcome {
            case .approved: .approved
            case .partial: .partiallyApproved
            case .declined, .pending: .declined
            }
        var result = PaymentResult(mode: mode, outcome: outcome)
        result.responseCode = answer.responseCode
        result.pspReference = answer.pspReference
        result.receiptLines = answer.receiptLines
        if answer.outcome == .partial { result.amountApproved = answer.amountDone }
        return result
    }
}

extension PaymentAccount {
    /// Whether the payment service's figures are others than ours.
    func differs(from told: ServiceAccount) -> Bool {
        told.currency != currency || told.authorised != authorised || told.captured != captured
            || told.released != released || told.refunded != refunded
    }
}
