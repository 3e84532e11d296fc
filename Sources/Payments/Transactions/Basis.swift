// SPDX-License-Identifier: Apache-2.0
import POSAPI
public import PaymentValues

/// What has to be on the disk before which step outward (docs/internals/architecture.md, "What is on the disk before a step outward").
extension Outward {
    /// The state that no power cut may take back once this was done; `nil` where nothing rests on the disk.
    public var basis: TransactionState? {
        switch self {
        // What may be charged is known after a power cut, and taken back then.
        case .send, .charge, .proceed, .link(.open, _, _): .sent
        // What was told as paid or stored stays so.
        case .show(.approved): .approved
        case .publish(let event): event.basis
        // A question, or a reversal, is asked again under the same id. Everything else moves no money.
        case .query, .reverse, .link(.look, _, _), .link(.close, _, _), .arm, .passRefundRead, .askPIN, .withdrawPIN,
            .keepRead, .settleReader, .show, .answer, .scrub:
            nil
        }
    }
}

extension Event {
    fileprivate var basis: TransactionState? {
        switch name {
        case .paymentApproved: .approved
        case .paymentStored: .stored
        case .queueForwarded: result?.outcome == .declined ? .declined : .approved
        // No money rests on it. A new event is judged here before it is sent.
        case .readerAttached, .readerDetached, .readerNotReady, .prepareProgress, .readReadyForTap, .readCardDetected,
            .readRetry, .readRemoveCard, .readCompleted, .readNotCompleted, .readCancelled, .pinRequested,
            .pinCompleted, .linkOpened, .paymentAuthorizing, .paymentDeclined, .paymentUnknown, .paymentReversed,
            .loyaltyResult, .queueFailed, .openItemContradicted, .termsChanged, .profileApplied, .profileRefused,
            .clockUnbelievable, .clockBelieved, .operationDone, .operationRefused, .operationUnknown,
            .paymentRefunded, .paymentExpiring, .paymentExpired, .cardStored, .cardDeleted, .dayClosed, .dayDiffers,
            .booksAttention, .eventsMissed,
            .tapOffered, .tapRefused, .sessionClaimed, .sessionCommitted, .sessionReleased, .sessionExpiring:
            nil
        }
    }
}

extension TransactionMachine {
    /// Whether what comes after a write rests on its being on the disk, unless the caller knows better.
    func isDurable(_ changes: [StateChange], _ form: Write.Form) -> Bool {
        switch form {
        case .append: break
        // An attempt more or less.
        case .plan: return false
        case .store, .forward, .charge, .reversal, .pin, .open, .settle, .contradict: return true
        }
        // What a customer has taken away for it is never taken back, so that a start could not begin anew.
        guard phase.question?.isOwed != true else { return true }
        switch changes.last?.state {
        // Nothing was asked: what a power cut takes has never been.
        case .preparing, .armed, .reading, .sealed, .cancelled, .failed, .completed: return false
        // `sent` is on the disk, and a start takes it back again.
        case .unknown, .reversing, .reversed: return false
        case .declined: return transaction.history.contains { $0.state == .sent }
        case .created, .sent, .approved, .stored, .delivered, nil: return true
        }
    }
}
