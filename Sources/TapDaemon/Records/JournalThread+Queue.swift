// SPDX-License-Identifier: Apache-2.0
import Journal
import Transactions
import Wire

/// The queue's part of the journal.
extension JournalThread {
    func store(
        _ changes: [StateChange], _ new: NewQueueRecord, to id: TransactionID, card: MaskedCard, since: Timestamp,
        unless refusal: @Sendable (QueueFacts) -> ErrorCode?
    ) throws(JournalError) -> ErrorCode? {
        try journal.store(changes, new, to: id, card: card, since: since, unless: refusal)
    }

    func queue() throws(JournalError) -> [QueueEntry] { try journal.queue() }

    func queueExtent() throws(JournalError) -> QueueExtent { try journal.queueExtent() }

    func queueRecord(_ id: TransactionID) throws(JournalError) -> String? { try journal.queueRecord(id) }

    func beginForward(_ id: TransactionID, _ change: StateChange) throws(JournalError) -> Bool {
        try journal.beginForward(id, change)
    }

    func postpone(_ id: TransactionID, attempts: Int, due: Timestamp) throws(JournalError) {
        try journal.postpone(id, attempts: attempts, due: due)
    }

    func hasten(_ now: Timestamp) throws(JournalError) { try journal.hasten(now) }

    func declineStored(
        _ id: TransactionID, _ change: StateChange, isInTime: @Sendable (Timestamp) -> Bool
    ) throws(JournalError) -> StoredDecline {
        try journal.declineStored(id, change, isInTime: isInTime)
    }

    func noteOnline(at: Timestamp, boot: String, issuer: String) throws(JournalError) {
        try journal.noteOnline(at: at, boot: boot, issuer: issuer)
    }

    func lastOnline() throws(JournalError) -> (at: Timestamp, boot: String, issuer: String)? {
        try journal.lastOnline()
    }

    func begin(_ batch: BatchRecord, of payments: [TransactionID]) throws(JournalError) -> Bool {
        try journal.begin(batch, of: payments)
    }

    func openBatch() throws(JournalError) -> BatchRecord? { try journal.openBatch() }

    func batch(_ id: String) throws(JournalError) -> BatchRecord? { try journal.batch(id) }

    func records(of batch: String) throws(JournalError) -> [(id: TransactionID, record: String)] {
        try journal.records(of: batch)
    }

    func reset(_ batch: String, at time: Timestamp) throws(JournalError) -> Bool {
        try journal.reset(batch, at: time)
    }

    func resolve(
        _ batch: String, _ change: StateChange, receipt: String
    ) throws(JournalError) -> [TransactionID]? {
        try journal.resolve(batch, change, receipt: receipt)
    }

    // MARK: - Open items

    /// Writes down that a person has to look after a payment.
    func keepOpen(_ reason: OpenReason, for id: TransactionID) throws(JournalError) {
        try journal.keepOpen(reason, for: id)
    }

    func openItems() throws(JournalError) -> [OpenItem] { try journal.openItems() }

    func openItemExtent() throws(JournalError) -> OpenItemExtent { try journal.openItemExtent() }
}
