// SPDX-License-Identifier: Apache-2.0
public import PaymentValues

/// What becomes of a row when a note is written into it. The row decides, and not what a machine remembers: what was sent again is
/// `sent` in the machine and stays `unknown` in a refund's row, and of a write that failed nobody knows whether it is on the disk.
extension OperationNote {
    /// - Returns: the state that an operation moves on to; `nil` where it keeps the one that it has.
    public func state(after state: OperationState) -> OperationState? {
        switch self {
        case .sent: state == .sent ? nil : .sent
        case .unknown: state == .unknown ? nil : .unknown
        case .resting, .contradicted: nil
        case .done: .done
        case .refused: .refused
        case .resolved(let resolution): resolution.isDone ? .done : .refused
        }
    }

    /// The same for a refund, which is a transaction: what it was asked about once is never `sent` again.
    public func state(ofRefund state: TransactionState) -> TransactionState? {
        switch self {
        case .sent: state == .sent || state == .unknown ? nil : .sent
        case .unknown: state == .unknown ? nil : .unknown
        case .resting, .contradicted: nil
        case .done: .approved
        // Of which no byte has left, it has come to nothing; of any other the service has said so.
        case .refused: state.asOperation == .created ? .failed : .declined
        case .resolved(let resolution): resolution.isDone ? .approved : .declined
        }
    }
}

extension TransactionState {
    /// How far a refund is that names a payment.
    public var asOperation: OperationState {
        switch self {
        case .created, .preparing, .armed, .reading, .sealed, .stored: .created
        case .sent: .sent
        case .unknown: .unknown
        case .approved, .reversing, .delivered: .done
        case .declined, .cancelled, .failed, .reversed, .completed: .refused
        }
    }
}
