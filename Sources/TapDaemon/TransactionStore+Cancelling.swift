import Journal
import ReaderCore
import Wire

extension TransactionStore {
    /// Cancels a transaction if it is not too late, and says what came of it. A card that arrives meanwhile decides:
    /// either it is read and the cancel too late, or it is not and nothing is charged.
    func cancel(_ id: TransactionID, by canceller: Canceller) async throws(JournalError) -> CancelAnswer? {
        guard let known = live[id] else {
            return try await journal.record(id).map {
                CancelAnswer(outcome: .nothingToCancel, transaction: $0.transaction)
            }
        }
        switch known.transaction.state {
        case .created, .preparing, .armed:
            if known.canceller == nil { live[id]?.canceller = canceller }
            known.cancellation.cancel()
            await known.isCommitted.wait()
            guard let after = try await transaction(id) else { return nil }
            if after.state == .cancelled { return CancelAnswer(outcome: .cancelled, transaction: after) }
            if after.state == .failed || after.state.successors.isEmpty {
                return CancelAnswer(outcome: .nothingToCancel, transaction: after)
            }
            return CancelAnswer(outcome: .tooLate, phase: after.state, transaction: after)
        case .reading:
            return CancelAnswer(outcome: .tooLate, phase: .reading, transaction: known.transaction)
        case .sealed, .sent, .unknown:
            live[id]?.mustBeReversed = true
            return CancelAnswer(
                outcome: .tooLate, phase: known.transaction.state, becomesReversal: true,
                transaction: known.transaction)
        case .approved, .declined, .stored, .cancelled, .failed, .reversing, .reversed:
            return CancelAnswer(outcome: .nothingToCancel, transaction: known.transaction)
        }
    }

    /// Somebody on this connection cares for the transaction from now on.
    ///
    /// - Returns: whether that is new.
    func hold(_ id: TransactionID, by connection: UInt64) -> Bool {
        live[id]?.holders.insert(connection).inserted ?? false
    }

    /// The connection has gone.
    ///
    /// - Returns: whether nobody cares for the transaction any more.
    func letGo(_ id: TransactionID, by connection: UInt64) -> Bool {
        live[id]?.holders.remove(connection)
        return isAbandoned(id)
    }

    /// Nobody cares for it, and it can still be cancelled.
    func isAbandoned(_ id: TransactionID) -> Bool {
        guard let known = live[id] else { return false }
        return known.holders.isEmpty && !known.isDetached && known.transaction.state.isCancellable
    }

    /// Accepts nothing more and cancels what has not got a card.
    ///
    /// - Returns: when each of those has heard it.
    func stop() -> [Occasion] {
        isStopping = true
        var committed: [Occasion] = []
        for (id, known) in live where known.transaction.state.isCancellable {
            if known.canceller == nil { live[id]?.canceller = .shutdown }
            known.cancellation.cancel()
            committed.append(known.isCommitted)
        }
        return committed
    }
}
