// SPDX-License-Identifier: Apache-2.0
import POSAPI
public import PaymentValues

/// What an answer did to the books.
public enum Posting: Hashable, Sendable {
    /// These rows have to be written down, together with the new state. There may be none.
    case rows([LedgerRow])
    /// The same answer again.
    case repeated
    /// The opposite of the final answer that came first, or an answer about nothing. The first answer counts; a person
    /// has to look at it.
    case contradicted
}

/// The payment service's last word on an operation.
public enum OperationAnswer: Hashable, Sendable {
    /// Carried out as asked; the service may say until when it holds what is left.
    case done(captureBefore: Timestamp? = nil)
    case refused
}

/// The payment service's last word on a refund.
public enum RefundAnswer: Hashable, Sendable {
    /// So much was given back: at most what was asked for.
    case done(Int64)
    case refused
}

/// What happened. Nothing here can be refused: the money has moved.
extension PaymentLedger {
    /// The payment was approved.
    /// - Parameter amount: what the issuer approved, above zero.
    public mutating func approved(
        _ amount: Int64, captureBefore: Timestamp? = nil, maximumCapture: Int64? = nil,
        isAwaitingConfirmation: Bool = false
    ) -> Posting {
        guard rows.isEmpty else { return .repeated }
        guard amount > 0 else { return .contradicted }
        self.captureBefore = captureBefore
        self.maximumCapture = maximumCapture
        self.isAwaitingConfirmation = isAwaitingConfirmation
        switch capture {
        case .automatic: return book(LedgerRow(payment: payment, entry: .captured, money: amount))
        case .manual: return book(LedgerRow(payment: payment, entry: .authorised, hold: amount))
        }
    }

    public mutating func confirmed() { isAwaitingConfirmation = false }

    /// The operation is on its way, or nobody knows what became of it.
    /// - Returns: whether the operation can be in that state next.
    public mutating func moved(_ id: OperationID, to state: OperationState) -> Bool {
        guard state.isOpen, let index = operations.firstIndex(where: { $0.id == id }),
            operations[index].state.successors.contains(state)
        else { return false }
        operations[index].state = state
        return true
    }

    public mutating func answered(_ id: OperationID, _ answer: OperationAnswer) -> Posting {
        guard let index = operations.firstIndex(where: { $0.id == id }) else { return .contradicted }
        let operation = operations[index]
        switch (operation.state, answer) {
        case (.done, .done), (.refused, .refused): return .repeated
        case (.done, .refused), (.refused, .done): return .contradicted
        case (_, .refused):
            operations[index].state = .refused
            return .rows([])
        case (_, .done(let captureBefore)):
            // Nothing is done that was never sent.
            guard operation.state != .created else { return .contradicted }
            operations[index].state = .done
            guard !isReversed else { return .contradicted }
            if let captureBefore, captureBefore.milliseconds > self.captureBefore?.milliseconds ?? .min {
                self.captureBefore = captureBefore
            }
            return carriedOut(operation)
        }
    }

    /// A refund came to its end.
    /// - Returns: the rows are the refund's own, under its id.
    public mutating func refundAnswered(_ id: TransactionID, _ answer: RefundAnswer) -> Posting {
        guard let index = refunds.firstIndex(where: { $0.id == id }) else { return .contradicted }
        let refund = refunds[index]
        switch (refund.state, answer) {
        case (.done(let first), .done(let second)): return first == second ? .repeated : .contradicted
        case (.refused, .refused): return .repeated
        case (.done, .refused), (.refused, .done): return .contradicted
        case (.pending, .refused):
            refunds[index].state = .refused
            return .rows([])
        case (.pending, .done(let amount)):
            guard amount > 0, amount <= refund.amount else { return .contradicted }
            refunds[index].state = .done(amount)
            return .rows([LedgerRow(payment: id, entry: .refunded, money: -amount)])
        }
    }

    /// The issuer holds nothing any more.
    public mutating func expired() -> Posting {
        guard hold > 0 else { return .repeated }
        return book(LedgerRow(payment: payment, entry: .expired, hold: -hold))
    }

    /// A reversal begins, by wish or because nobody confirmed in time: for the shop the payment has not taken place.
    /// - Returns: no row where nothing was ever approved.
    public mutating func reversalBegan() -> [LedgerRow] {
        guard !isReversed, hold != 0 || money != 0 else { return [] }
        let row = LedgerRow(payment: payment, entry: .reversed, hold: -hold, money: -money)
        isAwaitingConfirmation = false
        rows.append(row)
        return [row]
    }

    private mutating func carriedOut(_ operation: Operation) -> Posting {
        switch operation.action {
        case .capture(let amount, _, let isFinal):
            let held = hold
            let taken = min(amount, held)
            var booked = [row(operation, .captured, hold: -taken, money: amount)]
            if isFinal, held > taken { booked.append(row(operation, .released, hold: taken - held)) }
            return book(booked)
        case .adjust(let total):
            return book([row(operation, .adjusted, hold: saturated(total, -hold))])
        case .extend: return .rows([])
        case .release(let amount):
            return book([row(operation, .released, hold: -min(amount, hold))])
        }
    }

    private func row(_ operation: Operation, _ entry: LedgerEntry, hold: Int64, money: Int64 = 0) -> LedgerRow {
        LedgerRow(payment: payment, operation: operation.id, entry: entry, hold: hold, money: money)
    }

    private mutating func book(_ row: LedgerRow) -> Posting { book([row]) }

    private mutating func book(_ new: [LedgerRow]) -> Posting {
        rows += new
        return .rows(new)
    }
}
