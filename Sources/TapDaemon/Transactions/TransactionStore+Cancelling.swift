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
        if known.transaction.type == .loyalty, !known.transaction.state.isSettled {
            return try await cancelPasses(id, known, by: canceller)
        }
        switch known.transaction.state {
        case .created, .preparing, .armed:
            if known.canceller == nil { live[id]?.canceller = canceller }
            known.cancel()
            await known.isCommitted.wait()
            guard let after = try await transaction(id) else { return nil }
            if after.state == .cancelled { return CancelAnswer(outcome: .cancelled, transaction: after) }
            if after.state == .failed || after.state.successors.isEmpty {
                return CancelAnswer(outcome: .nothingToCancel, transaction: after)
            }
            return CancelAnswer(outcome: .tooLate, phase: after.state, transaction: after)
        case .reading:
            return CancelAnswer(outcome: .tooLate, phase: .reading, transaction: known.transaction)
        case .sent where known.isForwarded, .unknown where known.isForwarded:
            return CancelAnswer(outcome: .tooLate, phase: known.transaction.state, transaction: known.transaction)
        case .sealed where known.isDecided, .sent where known.isDecided, .unknown where known.isDecided:
            await known.isSettled.wait(atMost: TwoStepClose.patience)
            guard let after = try await transaction(id) else { return nil }
            guard after.state.isSettled else {
                return CancelAnswer(outcome: .tooLate, phase: after.state, transaction: after)
            }
            return CancelAnswer(outcome: .nothingToCancel, transaction: after)
        case .sealed, .sent, .unknown:
            live[id]?.mustBeReversed = true
            return CancelAnswer(
                outcome: .tooLate, phase: known.transaction.state, becomesReversal: true,
                transaction: known.transaction)
        case .approved, .declined, .stored, .delivered, .cancelled, .failed, .reversing, .reversed, .completed:
            return CancelAnswer(outcome: .nothingToCancel, transaction: known.transaction)
        }
    }

    /// Nobody is charged: a phone that is being read, and still locked, may be sent away.
    private func cancelPasses(
        _ id: TransactionID, _ known: LiveTransaction, by canceller: Canceller
    ) async throws(JournalError) -> CancelAnswer? {
        if known.canceller == nil { live[id]?.canceller = canceller }
        known.cancel()
        await known.isSettled.wait()
        return try await transaction(id).map {
            CancelAnswer(outcome: $0.state == .cancelled ? .cancelled : .nothingToCancel, transaction: $0)
        }
    }

    /// Somebody on this connection cares for the transaction from now on.
    ///
    /// - Returns: whether that is new.
    func hold(_ id: TransactionID, by connection: UInt64) -> Bool {
        guard live[id]?.holders.insert(connection).inserted == true else { return false }
        live[id]?.signsOfLife += 1
        return true
    }

    /// The connection has gone.
    ///
    /// - Returns: how many signs of life there have been so far, where nobody is left; `nil` where somebody is.
    func letGo(_ id: TransactionID, by connection: UInt64) -> Int? {
        live[id]?.holders.remove(connection)
        guard let known = live[id], isAbandoned(id, since: known.signsOfLife) else { return nil }
        return known.signsOfLife
    }

    /// Nobody cares for it, nobody has since, and it can still be cancelled.
    func isAbandoned(_ id: TransactionID, since signsOfLife: Int) -> Bool {
        guard let known = live[id] else { return false }
        return known.holders.isEmpty && known.signsOfLife == signsOfLife && !known.isDetached
            && known.transaction.state.isCancellable
    }

    /// Accepts nothing more and cancels what has not got a card.
    ///
    /// - Returns: when each of those has heard it.
    func stop() -> [OneShot] {
        isStopping = true
        var committed: [OneShot] = []
        for (id, known) in live where known.transaction.state.isCancellable {
            if known.canceller == nil { live[id]?.canceller = .shutdown }
            known.cancel()
            committed.append(known.isCommitted)
        }
        return committed
    }
}
