import Journal
import StoreAndForward
import Wire

extension TransactionStore {
    /// As `change`, with a signed record for the queue.
    ///
    /// - Returns: why it was not stored; nothing was changed then.
    func keep(
        _ id: TransactionID, _ changes: [StateChange], _ new: NewQueueRecord, card: MaskedCard,
        unless refusal: @Sendable (QueueFacts) -> ErrorCode?
    ) async throws(JournalError) -> ErrorCode? {
        let since = new.storedAt.advanced(bySeconds: -OfflineRules.longestAge.components.seconds)
        if let refused = try await journal.store(
            changes, new, to: id, card: card, since: since, unless: refusal)
        {
            return refused
        }
        noted(id, changes)
        return nil
    }

    /// Takes a stored payment to forward it: from here on it is live again, and blocks its order.
    ///
    /// - Returns: `false` where it is not stored any more, or in a batch.
    func beginForward(_ entry: QueueEntry) async throws(JournalError) -> Bool {
        let id = entry.transaction.id
        let change = StateChange(.sent)
        guard try await journal.beginForward(id, change) else { return false }
        adopt(entry)
        noted(id, [change])
        return true
    }

    /// Makes a payment live that is being forwarded.
    func adopt(_ entry: QueueEntry) {
        let id = entry.transaction.id
        guard live[id] == nil else { return }
        var known = LiveTransaction(transaction: entry.transaction, uid: entry.uid)
        known.isForwarded = true
        known.isCommitted.fire()
        live[id] = known
    }

    /// The state now of a payment that is being forwarded.
    func state(of id: TransactionID) -> TransactionState? { live[id]?.transaction.state }
}
