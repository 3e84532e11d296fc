// SPDX-License-Identifier: Apache-2.0
import PSPAPI
import PaymentValues

/// An operation as it was asked for.
struct OperationRequest: Sendable {
    let id: OperationID
    let kind: LedgerOperation.Kind
    let feature: AdapterFeature
    /// `nil` where only more time is asked for.
    let amount: Money?
}

extension Sandbox {
    func complete(_ id: TransactionID, _ request: CaptureRequest) async throws(StoreError) -> SandboxAnswer {
        let wish = OperationRequest(id: request.id, kind: .capture, feature: .capture, amount: request.amount)
        let time = now()
        return try await carryOut(wish, on: id) { (entry, value) throws(Refusal) in
            guard request.tip.map({ $0.currency == request.amount.currency }) ?? true else { throw .unsupported }
            let isMore = value > entry.held
            guard request.final || features.contains(.multicapture), !isMore || features.contains(.overcapture) else {
                throw isMore ? .tooMuch : .unsupported
            }
            try entry.complete(value, tip: request.tip?.value ?? 0, final: request.final, at: time)
        }
    }

    func adjust(_ id: TransactionID, _ request: AdjustmentRequest) async throws(StoreError) -> SandboxAnswer {
        let time = now()
        let isExtension = request.extend == true
        guard isExtension != (request.total != nil) else { return .error(400, .requestFieldConflict, field: "total") }
        let wish = OperationRequest(
            id: request.id, kind: isExtension ? .extend : .adjustment, feature: isExtension ? .extend : .adjust,
            amount: request.total)
        return try await carryOut(wish, on: id) { (entry, value) throws(Refusal) in
            if isExtension {
                try entry.extend(to: time.advanced(by: timing.hold), at: time)
            } else {
                try entry.adjust(to: value, at: time)
            }
        }
    }

    func release(_ id: TransactionID, _ request: ReleaseRequest) async throws(StoreError) -> SandboxAnswer {
        let wish = OperationRequest(id: request.id, kind: .release, feature: .release, amount: request.amount)
        let time = now()
        return try await carryOut(wish, on: id) { (entry, value) throws(Refusal) in try entry.release(value, at: time) }
    }

    func refund(_ id: TransactionID, _ request: RefundRequest) async throws(StoreError) -> SandboxAnswer {
        guard let operation = OperationID(request.id.text) else {
            return .error(400, .requestInvalidField, field: "id")
        }
        let isReadAsked = request.card != .none
        guard isReadAsked == (request.authorization != nil) else {
            return .error(400, .requestFieldConflict, field: "authorization")
        }
        let isUnwanted = try store.payment(request.id)?.isUnwanted == true
        let cardOfPayment = try store.payment(id)?.cardToken
        var token: String?
        // A repetition is answered by what was booked; its read was used up the first time.
        if let read = request.authorization, try store.payment(ofOperation: operation) == nil {
            guard read.id == request.id, read.amount == request.amount, read.type == .refund else {
                return .error(400, .requestInvalidField, field: "authorization")
            }
            token = try cardToken(ofRefund: read)
        }
        let wish = OperationRequest(id: operation, kind: .refund, feature: .refundLinked, amount: request.amount)
        return try await carryOut(wish, on: id, cardToken: token) { (entry, value) throws(Refusal) in
            if isUnwanted { throw .settled }
            if isReadAsked {
                guard let token, request.card == .any || token == cardOfPayment else { throw .otherCard }
            }
            try entry.refund(value)
        }
    }

    /// Takes back all of a payment, a part of it, or a linked refund. One that is not known is reversed too: there is
    /// nothing to take back, and it is declined if it still comes.
    func reverse(_ id: TransactionID, _ request: ReversalRequest) throws(StoreError) -> SandboxAnswer {
        try store.atomically { () throws(StoreError) in
            if let operation = OperationID(id.text), let owner = try store.payment(ofOperation: operation) {
                return try reverse(operation, of: owner)
            }
            var payment = try store.payment(id) ?? BookedPayment(id: id)
            guard var entry = payment.entry else {
                payment.isUnwanted = true
                try store.save(payment)
                return SandboxAnswer(200, ReversalAnswer(status: .done))
            }
            if let amount = request.amount, let refusal = entry.refusal(of: amount) { return refusal }
            let before = entry.money
            let way = entry.reverse(request.amount?.value)
            // Nothing goes on from a decline that was taken back.
            if entry.state == .declined { payment.isUnwanted = true }
            payment.note(.reversed, id.text, before, entry, at: now())
            payment.entry = entry
            try store.save(payment)
            return SandboxAnswer(200, ReversalAnswer(status: .done, how: way))
        }
    }

    private func reverse(_ id: OperationID, of owner: TransactionID) throws(StoreError) -> SandboxAnswer {
        guard features.contains(.refundReversal), var payment = try store.payment(owner), var entry = payment.entry,
            let index = entry.operations.firstIndex(where: { $0.id == id && $0.kind == .refund })
        else { return .error(403, .pspRefused) }
        let refund = entry.operations[index]
        if refund.isCarriedOut, !refund.reversed {
            let value = refund.answer.amountDone?.value ?? refund.amount
            entry.operations[index].reversed = true
            entry.refunded -= value
            entry.money += value
            payment.note(.reversed, id.text, entry.money - value, entry, at: now())
            payment.entry = entry
            try store.save(payment)
        }
        return SandboxAnswer(200, ReversalAnswer(status: .done, how: .voided))
    }

    /// `nil` for one that was never seen.
    func status(ofOperation id: OperationID) throws(StoreError) -> SandboxAnswer? {
        guard let owner = try store.payment(ofOperation: id), let entry = try store.payment(owner)?.entry,
            let operation = entry.operations.first(where: { $0.id == id })
        else { return nil }
        return answer(to: operation, entry.amount.currency, isQuestion: true)
    }

    /// The client was there and got a whole answer.
    func answered(_ id: OperationID) throws(StoreError) {
        guard let owner = try store.payment(ofOperation: id) else { return }
        try changeOperation(id, of: owner) { $0.answered = true }
    }

    // MARK: - One way for all of them

    private enum Booked {
        case operation(LedgerOperation)
        case answer(SandboxAnswer)
    }

    private func carryOut(
        _ wish: OperationRequest, on id: TransactionID, cardToken: String? = nil,
        _ act: (inout LedgerEntry, Int64) throws(Refusal) -> Void
    ) async throws(StoreError) -> SandboxAnswer {
        let booked = try store.atomically { () throws(StoreError) in try book(wish, on: id, cardToken, act) }
        let operation: LedgerOperation
        switch booked {
        case .operation(let booked): operation = booked
        case .answer(let answer): return answer
        }
        let rule = wish.amount.map { OperationRule(minorUnits: $0.value) } ?? .approve
        if rule == .fault(.slow), operation.isCarriedOut {
            // A cancelled sleep means that the sandbox is being stopped: nobody waits for the answer any more.
            try? await Task.sleep(for: timing.slow)
            try changeOperation(wish.id, of: id) { $0.visibleFrom = nil }
            return SandboxAnswer(operation.answer)
        }
        return answer(to: operation, wish.amount?.currency ?? .none, isQuestion: false)
    }

    private func book(
        _ wish: OperationRequest, on id: TransactionID, _ cardToken: String?,
        _ act: (inout LedgerEntry, Int64) throws(Refusal) -> Void
    ) throws(StoreError) -> Booked {
        guard var payment = try store.payment(id), var entry = payment.entry else {
            return .answer(.error(404, .transactionUnknown))
        }
        // A replica that took over finds what another one has carried out.
        if let known = entry.operations.first(where: { $0.id == wish.id }) { return .operation(known) }
        if let amount = wish.amount, let refusal = entry.refusal(of: amount) { return .answer(refusal) }
        let rule = wish.amount.map { OperationRule(minorUnits: $0.value) } ?? .approve
        if rule == .failThenApprove, try store.noteOnce("failed " + wish.id.text) {
            return .answer(SandboxAnswer(500, ErrorBody(.internalFault)))
        }
        if rule == .loseThenDecline, try store.noteOnce("lost " + wish.id.text) { return .answer(.lost) }
        let before = entry.money
        let isPart = rule == .approveHalf && wish.kind == .refund
        let value = isPart ? (wish.amount?.value ?? 0) / 2 : wish.amount?.value ?? 0
        var answer = AdapterOperationAnswer(id: wish.id, outcome: isPart ? .partial : .approved, responseCode: "00")
        do throws(Refusal) {
            guard features.contains(wish.feature) else { throw .unsupported }
            if case .decline(let refusal) = rule { throw refusal }
            if rule == .loseThenDecline { throw Refusal(code: "05", reason: .issuer) }
            if rule == .neverDecided { answer.outcome = .pending } else { try act(&entry, value) }
        } catch {
            answer = AdapterOperationAnswer(
                id: wish.id, outcome: .declined, responseCode: error.code, reason: error.reason)
        }
        answer.pspReference = "SANDBOX-\(try store.nextReference())"
        if answer.outcome != .declined, let amount = wish.amount {
            answer.amountDone = Money(value: value, currency: amount.currency)
            answer.cardToken = cardToken
        }
        if wish.kind != .refund, entry.held > 0 { answer.captureBefore = entry.captureBefore }
        answer.account = entry.account
        var operation = LedgerOperation(
            id: wish.id, kind: wish.kind, amount: wish.amount?.value ?? 0, answer: answer)
        if rule == .fault(.slow) { operation.visibleFrom = now().advanced(by: timing.slow) }
        if rule == .decidedLate { operation.visibleFrom = now().advanced(by: timing.late) }
        entry.operations.append(operation)
        payment.note(wish.kind == .refund ? .refunded : .captured, wish.id.text, before, entry, at: now())
        payment.entry = entry
        try store.save(payment)
        try store.note(wish.id, of: id)
        return .operation(operation)
    }

    private func answer(to operation: LedgerOperation, _ currency: Currency, isQuestion: Bool) -> SandboxAnswer {
        if operation.answer.outcome == .pending || operation.visibleFrom.map({ now() < $0 }) ?? false {
            return SandboxAnswer(200, AdapterOperationAnswer(id: operation.id, outcome: .pending))
        }
        guard operation.isCarriedOut else { return SandboxAnswer(operation.answer) }
        switch OperationRule(minorUnits: operation.amount) {
        case .lie(.contradiction) where isQuestion:
            return SandboxAnswer(
                AdapterOperationAnswer(id: operation.id, outcome: .declined, responseCode: "05", reason: .issuer))
        case .lie(let lie):
            let asked = Money(value: operation.amount, currency: currency)
            let answer = SandboxAnswer(operation.answer.altered(by: lie, asked: asked))
            return lie.isUsable ? answer : SandboxAnswer(status: answer.status, body: answer.body)
        case .fault(let fault) where !isQuestion && fault != .slow:
            return SandboxAnswer(operation.answer, fault: fault)
        case .approve, .approveHalf, .decline, .loseThenDecline, .failThenApprove, .fault, .neverDecided,
            .decidedLate:
            return SandboxAnswer(operation.answer)
        }
    }

    private func changeOperation(
        _ id: OperationID, of payment: TransactionID, _ change: (inout LedgerOperation) -> Void
    ) throws(StoreError) {
        try self.change(payment) { payment in
            guard var entry = payment.entry, let index = entry.operations.firstIndex(where: { $0.id == id }) else {
                return
            }
            change(&entry.operations[index])
            payment.entry = entry
        }
    }
}

extension LedgerEntry {
    /// Why nobody asks for such an amount; `nil` where it can be.
    fileprivate func refusal(of amount: Money) -> SandboxAnswer? {
        guard (1...Limits.amount).contains(amount.value) else {
            return .error(400, amount.value < 1 ? .amountTotalNotPositive : .amountTooLarge, field: "amount.value")
        }
        guard amount.currency == self.amount.currency else {
            return .error(400, .amountCurrencyMismatch, field: "amount.currency")
        }
        return nil
    }
}

extension OperationRule.Lie {
    /// A daemon books such an answer, and notes that something is wrong.
    fileprivate var isUsable: Bool {
        switch self {
        case .otherAccount, .contradiction: true
        case .otherID, .otherAmount, .part: false
        }
    }
}
