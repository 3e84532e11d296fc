// SPDX-License-Identifier: Apache-2.0
import Journal
import PaymentValues
import Transactions

/// The queue's part of the journal; what is done with batches goes through `use`.
extension JournalThread {
    func store(
        _ changes: [StateChange], _ new: NewQueueRecord, to id: TransactionID, card: MaskedCard, since: Timestamp,
        unless refusal: @Sendable (QueueFacts) -> ErrorCode?
    ) throws(JournalError) -> ErrorCode? {
        try journal.store(changes, new, to: id, card: card, since: since, unless: refusal)
    }

    func queue() throws(JournalError) -> [QueueEntry] { try journal.queue() }

    func queueExtent() throws(JournalError) -> QueueExtent { try journal.queueExtent() }

    func beginForward(_ id: TransactionID, _ change: StateChange) throws(JournalError) -> Bool {
        try journal.beginForward(id, change)
    }

    func postpone(_ id: TransactionID, attempts: Int, due: Timestamp) throws(JournalError) {
        try journal.postpone(id, attempts: attempts, due: due)
    }

    func openBatch() throws(JournalError) -> BatchRecord? { try journal.openBatch() }
}
