// SPDX-License-Identifier: Apache-2.0
import Configuration
import Envelope
import Journal
import Logging
import StoreAndForward
import Transactions
import Wire

/// Batches: another way to the payment service, for payments that the forwarder cannot bring there. What is in an open
/// batch is not forwarded, and what is being forwarded gets into no batch.
extension PaymentQueue {
    /// Opens a batch of the oldest payments.
    func openBatch(size: Int) async throws(ErrorBody) -> QueueBatch {
        if try await inJournal({ (journal) throws(JournalError) in try journal.openBatch() }) != nil {
            throw ErrorBody(.queueBatchOpen)
        }
        let waiting = try await inJournal { (journal) throws(JournalError) in try journal.queue() }
            .filter { $0.transaction.state == .stored && $0.batch == nil }
        guard let issuer = waiting.first?.issuer else { throw ErrorBody(.queueEmpty) }
        let chosen = waiting.filter { $0.issuer == issuer }.prefix(size).map(\.transaction.id)
        var records: [String] = []
        for id in chosen {
            let record = try await inJournal { (journal) throws(JournalError) in try journal.queueRecord(id) }
            // Forwarded in this very moment: the next try finds the rest.
            guard let record else { throw ErrorBody(.queueBatchOpen) }
            records.append(record)
        }
        let id = TransactionID().text
        let batch: SignedBatch
        do throws(SignedRecordError) {
            batch = try SignedBatch(id: id, records: records, createdAt: .now, key: key)
        } catch {
            throw ErrorBody(.internalFault)
        }
        let record = BatchRecord(
            id: id, issuer: issuer, count: batch.content.count, hash: batch.content.hash, signature: batch.signature,
            createdAt: batch.content.createdAt)
        guard try await inJournal({ (journal) throws(JournalError) in try journal.begin(record, of: chosen) }) else {
            throw ErrorBody(.queueBatchOpen)
        }
        logger.notice("batch opened", metadata: ["batch": "\(id)", "count": "\(record.count)"])
        return message(record, records)
    }

    /// The open batch again: its answer may have been lost.
    func batch(_ id: String) async throws(ErrorBody) -> QueueBatch {
        let record = try await known(id)
        guard record.state == .open else { throw ErrorBody(.queueBatchClosed) }
        let records = try await inJournal { (journal) throws(JournalError) in try journal.records(of: id) }
        return message(record, records.map(\.record))
    }

    /// Puts the payments of the open batch back.
    func reset(_ id: String) async throws(ErrorBody) -> BatchAnswer {
        _ = try await known(id)
        guard try await inJournal({ (journal) throws(JournalError) in try journal.reset(id, at: .now) }) else {
            throw ErrorBody(.queueBatchClosed)
        }
        logger.notice("batch reset", metadata: ["batch": "\(id)"])
        wake()
        return try await answer()
    }

    /// Lets the payments of the open batch go, against the payment service's receipt only.
    func resolve(_ id: String, token: String) async throws(ErrorBody) -> BatchAnswer {
        let record = try await known(id)
        guard record.state == .open else { throw ErrorBody(.queueBatchClosed) }
        guard let receiptKey = settings().receiptKey(for: record.issuer) else { throw ErrorBody(.queueTokenInvalid) }
        let refusal = BatchReceipt.refusal(
            of: token, for: (record.id, record.count, record.hash), key: receiptKey, now: .now)
        if let refusal { throw ErrorBody(refusal) }
        let change = StateChange(.delivered)
        let gone = try await inJournal { (journal) throws(JournalError) in
            try journal.resolve(id, change, receipt: token)
        }
        guard let gone else { throw ErrorBody(.queueBatchClosed) }
        logger.notice("batch resolved", metadata: ["batch": "\(id)", "count": "\(gone.count)"])
        await journal.scrub(logger)
        return try await answer()
    }

    /// Declines a stored payment while that is possible.
    func decline(_ transaction: Transaction) async throws(ErrorBody) -> Transaction {
        let id = transaction.id
        var change = StateChange(.declined)
        change.result = PaymentResult(mode: transaction.mode, outcome: .declined, reason: .takenBack)
        let outcome = try await inJournal { [change] (journal) throws(JournalError) in
            try journal.declineStored(id, change) { StoredSale.mayBeDeclined(storedAt: $0, now: change.at) }
        }
        switch outcome {
        case .declined: break
        case .notStored: throw ErrorBody(.queueNotStored, transaction: id)
        case .inBatch: throw ErrorBody(.queueInBatch, transaction: id)
        case .tooLate: throw ErrorBody(.queueDeclineTooLate, transaction: id)
        }
        var event = Event(.paymentDeclined, lane: transaction.lane)
        event.transaction = id
        event.result = change.result
        store.publish(event)
        await journal.scrub(logger)
        let after = try await reading { () throws(JournalError) in try await store.transaction(id) }
        return after ?? transaction
    }

    /// Forwards everything at once, whatever its next attempt was to be.
    func flush() async throws(ErrorBody) -> QueueStatus {
        try await inJournal { (journal) throws(JournalError) in try journal.hasten(.now) }
        wake()
        return try await reading { () throws(JournalError) in try await status() }
    }

    func reading<Result: Sendable>(
        _ body: () async throws(JournalError) -> Result
    ) async throws(ErrorBody) -> Result {
        do throws(JournalError) { return try await body() } catch { throw ErrorBody(ErrorCode(error)) }
    }

    private func inJournal<Result: Sendable>(
        _ body: @Sendable (Journal) throws(JournalError) -> Result
    ) async throws(ErrorBody) -> Result {
        try await reading { () throws(JournalError) in try await journal.use(body) }
    }

    private func answer() async throws(ErrorBody) -> BatchAnswer {
        BatchAnswer(left: try await inJournal { (journal) throws(JournalError) in try journal.queue().count })
    }

    private func known(_ id: String) async throws(ErrorBody) -> BatchRecord {
        guard let record = try await inJournal({ (journal) throws(JournalError) in try journal.batch(id) }) else {
            throw ErrorBody(.queueBatchUnknown)
        }
        return record
    }

    private func message(_ batch: BatchRecord, _ records: [String]) -> QueueBatch {
        QueueBatch(
            id: batch.id, count: batch.count, hash: batch.hash, createdAt: batch.createdAt, records: records,
            signature: batch.signature, key: key.verificationKey.jwk)
    }
}
