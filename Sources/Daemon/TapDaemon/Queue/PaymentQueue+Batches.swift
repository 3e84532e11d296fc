// SPDX-License-Identifier: Apache-2.0
import Configuration
import Envelope
import Journal
import Logging
import POSAPI
import PaymentValues
import StoreAndForward
import Transactions

/// Why the queue or a batch of it stays what it is.
enum QueueRefusal: Error, Equatable, Sendable {
    case empty
    case batchOpen, batchClosed, batchUnknown
    case notSigned
    /// None that this batch's receipt could be verified with.
    case noReceiptKey
    case receipt(ErrorCode)
    /// The payment that is to be declined: sent by now, in the open batch, or too long ago.
    case notStored, inBatch, tooLate
    case journal(JournalError)
}

/// Batches: another way to the payment service, for payments that the forwarder cannot bring there. What is in an open
/// batch is not forwarded, and what is being forwarded gets into no batch.
extension PaymentQueue {
    /// Opens a batch of the oldest payments.
    func openBatch(size: Int) async throws(QueueRefusal) -> QueueBatch {
        if try await inJournal({ (journal) throws(JournalError) in try journal.openBatch() }) != nil {
            throw .batchOpen
        }
        let waiting = try await inJournal { (journal) throws(JournalError) in try journal.queue() }
            .filter { $0.transaction.state == .stored && $0.batch == nil }
        guard let serviceName = waiting.first?.serviceName else { throw .empty }
        let chosen = waiting.filter { $0.serviceName == serviceName }.prefix(size).map(\.transaction.id)
        var records: [String] = []
        for id in chosen {
            let record = try await inJournal { (journal) throws(JournalError) in try journal.queueRecord(id) }
            // Forwarded in this very moment: the next try finds the rest.
            guard let record else { throw .batchOpen }
            records.append(record)
        }
        let id = TransactionID().text
        let batch: SignedBatch
        do throws(SignedRecordError) {
            batch = try SignedBatch(id: id, records: records, createdAt: .now, key: key)
        } catch {
            throw .notSigned
        }
        let record = BatchRecord(
            id: id, serviceName: serviceName, count: batch.content.count, hash: batch.content.hash,
            signature: batch.signature,
            createdAt: batch.content.createdAt)
        guard try await inJournal({ (journal) throws(JournalError) in try journal.begin(record, of: chosen) }) else {
            throw .batchOpen
        }
        logger.notice("batch opened", metadata: ["batch": "\(id)", "count": "\(record.count)"])
        return message(record, records)
    }

    /// The open batch again: its answer may have been lost.
    func batch(_ id: String) async throws(QueueRefusal) -> QueueBatch {
        let record = try await known(id)
        guard record.state == .open else { throw .batchClosed }
        let records = try await inJournal { (journal) throws(JournalError) in try journal.records(of: id) }
        return message(record, records.map(\.record))
    }

    /// Puts the payments of the open batch back.
    func reset(_ id: String) async throws(QueueRefusal) -> BatchAnswer {
        _ = try await known(id)
        guard try await inJournal({ (journal) throws(JournalError) in try journal.reset(id, at: .now) }) else {
            throw .batchClosed
        }
        logger.notice("batch reset", metadata: ["batch": "\(id)"])
        wake()
        return try await answer()
    }

    /// Lets the payments of the open batch go, against the payment service's receipt only.
    func resolve(_ id: String, token: String) async throws(QueueRefusal) -> BatchAnswer {
        let record = try await known(id)
        guard record.state == .open else { throw .batchClosed }
        guard let receiptKey = settings().receiptKey(for: record.serviceName) else { throw .noReceiptKey }
        let refusal = BatchReceipt.refusal(
            of: token, for: (record.id, record.count, record.hash), key: receiptKey, now: .now)
        if let refusal { throw .receipt(refusal) }
        let change = StateChange(.delivered)
        let gone = try await inJournal { (journal) throws(JournalError) in
            try journal.resolve(id, change, receipt: token)
        }
        guard let gone else { throw .batchClosed }
        logger.notice("batch resolved", metadata: ["batch": "\(id)", "count": "\(gone.count)"])
        await journal.scrub(logger)
        return try await answer()
    }

    /// Declines a stored payment while that is possible.
    func decline(_ transaction: Transaction) async throws(QueueRefusal) {
        let id = transaction.id
        var change = StateChange(.declined)
        change.result = PaymentResult(mode: transaction.mode, outcome: .declined, reason: .reversed)
        let elapsed = timeSinceStored(id)
        let outcome = try await inJournal { [change] (journal) throws(JournalError) in
            try journal.declineStored(id, change) {
                StoredSale.mayBeDeclined(storedAt: $0, now: change.at, elapsed: elapsed)
            }
        }
        switch outcome {
        case .declined: break
        case .notStored: throw .notStored
        case .inBatch: throw .inBatch
        case .tooLate: throw .tooLate
        }
        var event = Event(.paymentDeclined, about: transaction)
        event.result = change.result
        outlet.publish(event)
        await journal.scrub(logger)
    }

    /// Forwards everything at once, whatever its next attempt was to be.
    func flush(for owner: Principal? = nil) async throws(QueueRefusal) -> QueueStatus {
        try await inJournal { (journal) throws(JournalError) in try journal.hasten(.now) }
        wake()
        return try await reading { () throws(JournalError) in try await status(of: owner) }
    }

    private func reading<Result: Sendable>(
        _ body: () async throws(JournalError) -> Result
    ) async throws(QueueRefusal) -> Result {
        do throws(JournalError) { return try await body() } catch { throw .journal(error) }
    }

    func inJournal<Result: Sendable>(
        _ body: @Sendable (Journal) throws(JournalError) -> Result
    ) async throws(QueueRefusal) -> Result {
        try await reading { () throws(JournalError) in try await journal.use(body) }
    }

    private func answer() async throws(QueueRefusal) -> BatchAnswer {
        BatchAnswer(left: try await inJournal { (journal) throws(JournalError) in try journal.queue().count })
    }

    private func known(_ id: String) async throws(QueueRefusal) -> BatchRecord {
        guard let record = try await inJournal({ (journal) throws(JournalError) in try journal.batch(id) }) else {
            throw .batchUnknown
        }
        return record
    }

    private func message(_ batch: BatchRecord, _ records: [String]) -> QueueBatch {
        QueueBatch(
            id: batch.id, count: batch.count, hash: batch.hash, createdAt: batch.createdAt, records: records,
            signature: batch.signature, key: key.verificationKey.jwk)
    }
}
