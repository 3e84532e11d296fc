// SPDX-License-Identifier: Apache-2.0
import POSAPI
public import PaymentValues

/// What may be asked for. Each function notes what it accepts, and throws where the books do not allow it.
extension PaymentLedger {
    /// Takes what is held, or a part of it.
    /// - Parameters:
    ///   - amount: tip included; `nil` for all that remains.
    ///   - isFinal: the rest of the hold is given up in the same step.
    public mutating func requestCapture(
        _ id: OperationID, amount: Int64? = nil, tip: Int64 = 0, isFinal: Bool = true, at now: Timestamp
    ) throws(LedgerRefusal) -> Operation {
        try checkOperationMayBegin()
        guard hold > 0 else {
            throw rows.contains { $0.entry == .expired } ? .captureExpired : .captureNothingLeft
        }
        if let captureBefore, now.milliseconds > saturated(captureBefore.milliseconds, -Self.captureMargin) {
            throw .captureExpired
        }
        let account = account
        let amount = amount ?? account.remaining
        guard amount > 0 else { throw .amountMissing }
        guard (0...amount).contains(tip) else { throw .tipAboveAmount }
        guard amount <= account.capturableUpTo else { throw .captureTooMuch(limit: account.capturableUpTo) }
        // Who captures wants the payment.
        isAwaitingConfirmation = false
        return begin(id, .capture(amount: amount, tip: tip, isFinal: isFinal))
    }

    /// Has another sum held from now on.
    public mutating func requestAdjustment(_ id: OperationID, total: Int64) throws(LedgerRefusal) -> Operation {
        guard total > 0 else { throw .amountMissing }
        return try adjust(id, .adjust(total: total))
    }

    /// Has the same sum held for longer.
    public mutating func requestExtension(_ id: OperationID) throws(LedgerRefusal) -> Operation {
        try adjust(id, .extend)
    }

    /// Gives up what is held, or a part of it.
    public mutating func requestRelease(
        _ id: OperationID, amount: Int64? = nil
    ) throws(LedgerRefusal) -> Operation {
        try checkOperationMayBegin()
        let limit = account.remaining
        let amount = amount ?? limit
        guard limit > 0, amount <= limit else { throw .releaseTooMuch(limit: limit) }
        guard amount > 0 else { throw .amountMissing }
        return begin(id, .release(amount: amount))
    }

    /// Gives back what was captured, or a part of it, by a transaction of its own.
    public mutating func requestRefund(
        _ id: TransactionID, amount: Int64? = nil
    ) throws(LedgerRefusal) -> LinkedRefund {
        try checkNothingIsUnderWay()
        guard !isAwaitingConfirmation else { throw .confirmationPending }
        let account = account
        guard account.captured > 0 else { throw .refundNotCaptured }
        let amount = amount ?? account.refundable
        guard account.refundable > 0, amount <= account.refundable else {
            throw .refundTooMuch(limit: account.refundable)
        }
        guard amount > 0 else { throw .amountMissing }
        let refund = LinkedRefund(id: id, amount: amount)
        refunds.append(refund)
        return refund
    }

    /// Takes the payment back as a whole, by wish.
    /// - Returns: what has to be booked before the payment service is asked.
    public mutating func requestReversal() throws(LedgerRefusal) -> [LedgerRow] {
        try checkNothingIsUnderWay()
        guard refunds.allSatisfy({ $0.state == .refused }) else { throw .reversalRefunded }
        let captures = rows.count { $0.entry == .captured }
        if capture == .manual, captures > 1 || captures == 1 && hold > 0 { throw .reversalCapturedInPart }
        guard hold > 0 || money > 0 else { throw .reversalNothingLeft }
        return reversalBegan()
    }

    private mutating func adjust(
        _ id: OperationID, _ action: Operation.Action
    ) throws(LedgerRefusal) -> Operation {
        try checkOperationMayBegin()
        guard !rows.contains(where: { $0.entry == .captured }) else { throw .adjustmentAfterCapture }
        guard hold > 0 else {
            throw rows.contains { $0.entry == .expired } ? .captureExpired : .captureNothingLeft
        }
        guard operations.count(where: \.isAdjustment) < Self.adjustmentLimit else { throw .adjustmentTooMany }
        return begin(id, action)
    }

    private func checkOperationMayBegin() throws(LedgerRefusal) {
        guard capture == .manual else { throw .capturedByItself }
        try checkNothingIsUnderWay()
    }

    private func checkNothingIsUnderWay() throws(LedgerRefusal) {
        guard !rows.isEmpty else { throw .notApproved }
        guard !isReversed else { throw .alreadyReversed }
        if let openOperation { throw .operationPending(openOperation.id) }
    }

    private mutating func begin(_ id: OperationID, _ action: Operation.Action) -> Operation {
        let operation = Operation(id: id, action: action)
        operations.append(operation)
        return operation
    }
}

extension Operation {
    fileprivate var isAdjustment: Bool {
        switch action {
        case .adjust, .extend: true
        case .capture, .release: false
        }
    }
}
