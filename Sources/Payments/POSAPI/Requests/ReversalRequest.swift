// SPDX-License-Identifier: Apache-2.0
public import PaymentValues

/// Body of `POST /v1/transactions/{id}/reversal`: the whole payment is taken back. For a part of it there is the refund.
public struct ReversalRequest: Equatable, Sendable {
    public enum Reason: String, Codable, CaseIterable, Sendable {
        case customerCancel, malfunction, suspectedFraud
    }

    public var reason: Reason

    public init(reason: Reason) { self.reason = reason }
}

extension ReversalRequest: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case reason
    }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.strictContainer(keyedBy: CodingKeys.self)
        reason = try members.decode(Reason.self, forKey: .reason)
    }
}

/// What a wish to take a payment back meets in each state: the one table of it.
public enum ReversalRule: Equatable, Sendable {
    /// Approved: it is taken back.
    case begins
    /// Sent and not answered: taken back if it turns out to be approved.
    case follows
    /// Being or having been taken back: the same answer again.
    case repeats
    /// There is nothing to take back.
    case refused(ErrorCode)
}

extension TransactionState {
    /// What `POST /v1/transactions/{id}/reversal` does in this state.
    public var reversalRule: ReversalRule {
        switch self {
        case .approved: .begins
        case .sent, .unknown: .follows
        case .reversing, .reversed: .repeats
        case .created, .preparing, .armed, .reading, .sealed: .refused(.transactionNotApproved)
        case .stored, .delivered: .refused(.queueStored)
        case .declined, .cancelled, .failed, .completed: .refused(.transactionNotApproved)
        }
    }
}
