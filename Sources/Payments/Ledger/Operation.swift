// SPDX-License-Identifier: Apache-2.0
public import PaymentValues

/// What a shop does with an approved payment afterwards, and how far it is.
public struct Operation: Hashable, Sendable {
    public enum Action: Hashable, Sendable {
        /// Take `amount`, tip included; where it is final, whatever is left of the hold is given up in the same step.
        case capture(amount: Int64, tip: Int64, isFinal: Bool)
        /// Hold `total` from now on: the sum to be held, not the difference, so that a repetition adds nothing.
        case adjust(total: Int64)
        /// Keep the sum and ask for more time.
        case extend
        /// Give up `amount` of what is held.
        case release(amount: Int64)
    }

    public let id: OperationID
    public let action: Action
    public internal(set) var state: OperationState

    public init(id: OperationID, action: Action, state: OperationState = .created) {
        self.id = id
        self.action = action
        self.state = state
    }

    /// What a capture without an answer may still take; 0 for all else.
    var pendingCapture: Int64 {
        guard state.isOpen, case .capture(let amount, _, _) = action else { return 0 }
        return amount
    }
}

/// A refund that names a payment. It is a transaction of its own, with rows under its own id.
public struct LinkedRefund: Hashable, Sendable {
    public let id: TransactionID
    public let amount: Int64
    public internal(set) var state: RefundState

    public init(id: TransactionID, amount: Int64, state: RefundState = .pending) {
        self.id = id
        self.amount = amount
        self.state = state
    }
}

public enum RefundState: Hashable, Sendable {
    /// It may still be carried out, and counts as if it were.
    case pending
    /// So much of it was given back.
    case done(Int64)
    /// Nothing was given back, or what was given back has been taken back again.
    case refused
}
