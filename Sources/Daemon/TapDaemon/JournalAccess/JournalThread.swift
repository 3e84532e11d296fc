// SPDX-License-Identifier: Apache-2.0
import Journal
import Linux
import Logging
import POSAPI
import PaymentValues
import ReaderCore
import Synchronization
import Transactions

/// The journal on a thread of its own: it blocks until the disk has what it was given.
///
/// What several lanes write while the disk is busy with the write before shares the next one: a durable write costs the
/// same whether it holds one change or sixty. Each caller goes on when its own change is on the disk.
actor JournalThread {
    private struct Write: Sendable {
        let isDurable: Bool
        let work: @Sendable (Journal) -> Void
        let done: CheckedContinuation<JournalError?, Never>
    }

    private let thread: SerialThread
    let journal: Journal
    private let waiting = Mutex<[Write]>([])
    private let wishes: AsyncStream<Void>
    private let wish: AsyncStream<Void>.Continuation
    nonisolated let support: String
    nonisolated let commitCount: CommitCount

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe thread.asUnownedSerialExecutor() }

    /// Room for what has begun, on a full disk.
    private nonisolated let reserve: StorageReserve?

    init(_ journal: sending Journal, on thread: SerialThread, reserve: StorageReserve? = nil) {
        self.thread = thread
        self.reserve = reserve
        support = journal.support
        commitCount = journal.commitCount
        self.journal = journal
        (wishes, wish) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Everything in one write that was asked for until this thread came to it. The caller goes on where it was, without
    /// a turn of its own on this thread.
    ///
    /// - Parameter durable: it is on the disk when this returns; else when anything else is.
    nonisolated func write<Result: Sendable>(
        durable: Bool = true, _ work: @escaping @Sendable (Journal) throws(JournalError) -> Result
    ) async throws(JournalError) -> Result {
        let outcome = WriteOutcome<Result>()
        let failure = await withCheckedContinuation { done in
            let write = Write(
                isDurable: durable, work: { journal in outcome.run { () throws(JournalError) in try work(journal) } },
                done: done)
            let isFirst = waiting.withLock { waiting in
                waiting.append(write)
                return waiting.count == 1
            }
            if isFirst { thread.perform { self.assumeIsolated { $0.commit() } } }
        }
        if let failure { throw failure }
        return try outcome.get()
    }

    /// The same for what is new: nothing begins without the room that is kept for its end. Nothing rests on a beginning: what a power
    /// cut takes of it has never been.
    nonisolated func begin<Result: Sendable>(
        _ work: @escaping @Sendable (Journal) throws(JournalError) -> Result
    ) async throws(JournalError) -> Result {
        if reserve?.isKept == false { try await fillReserve() }
        return try await write(durable: false, work)
    }

    /// Makes the room whole that is kept, on this thread, for it blocks.
    func fillReserve() throws(JournalError) {
        do throws(SystemError) { try reserve?.fill() } catch {
            throw JournalError(error)
        }
    }

    private func commit() {
        let writes = waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        var failure: JournalError?
        do throws(JournalError) {
            try journal.together(durable: writes.contains(where: \.isDurable)) {
                for write in writes { write.work(journal) }
            }
        } catch {
            failure = error
        }
        for write in writes { write.done.resume(returning: failure) }
    }

    /// The same for what has begun already: on a full disk it takes the room that is kept for it, also where another one that
    /// met the end of the disk together with it has given that up.
    private nonisolated func writeOn<Result: Sendable>(
        durable: Bool, _ work: @escaping @Sendable (Journal) throws(JournalError) -> Result
    ) async throws(JournalError) -> Result {
        do throws(JournalError) { return try await write(durable: durable, work) } catch {
            guard error == .full, let reserve else { throw error }
            reserve.release()
        }
        return try await write(durable: durable, work)
    }

    func earlier(owner: Principal, idempotencyKey: String, requestHash: String) throws(JournalError) -> Creation? {
        try journal.earlier(owner: owner, idempotencyKey: idempotencyKey, requestHash: requestHash)
    }

    nonisolated func append(
        _ changes: [StateChange], to id: TransactionID, durable: Bool
    ) async throws(JournalError) {
        try await writeOn(durable: durable) { (journal) throws(JournalError) in try journal.append(changes, to: id) }
    }

    nonisolated func plan(
        _ reversal: ReversalPlan, for id: TransactionID, durable: Bool
    ) async throws(JournalError) {
        try await writeOn(durable: durable) { (journal) throws(JournalError) in try journal.plan(reversal, for: id) }
    }

    nonisolated func audit(_ entry: AuditEntry) async throws(JournalError) {
        try await write { (journal) throws(JournalError) in try journal.audit(entry) }
    }

    /// Any other use of the journal, on its thread.
    func use<Result: Sendable>(
        _ body: @Sendable (Journal) throws(JournalError) -> Result
    ) throws(JournalError) -> Result { try body(journal) }

    /// `use` for what is new: see `begin`.
    func useForNew<Result: Sendable>(
        _ body: @Sendable (Journal) throws(JournalError) -> Result
    ) throws(JournalError) -> Result {
        if reserve?.isKept == false { try fillReserve() }
        return try body(journal)
    }

    /// Bytes of the write-ahead log.
    func logSize() -> Int64 { journal.logSize }

    /// Returns once the thread has come to it.
    func pulse() {}

    func record(_ id: TransactionID) throws(JournalError) -> JournalRecord? { try journal.record(id) }

    func records(order: String) throws(JournalError) -> [JournalRecord] { try journal.records(order: order) }

    func confirm(
        _ id: TransactionID, at time: Timestamp, isInTime: Bool?
    ) throws(JournalError) -> ConfirmationOutcome {
        try journal.confirm(id, at: time, isInTime: isInTime)
    }

    func beginReversal(
        _ id: TransactionID, _ change: StateChange, unconfirmedOnly: Bool
    ) throws(JournalError) -> JournalRecord? {
        try journal.beginReversal(id, change, unconfirmedOnly: unconfirmedOnly)
    }

    func apply(_ profile: JournalledProfile) throws(JournalError) { try journal.apply(profile) }

    func profile(signedBy key: String) throws(JournalError) -> JournalledProfile? {
        try journal.profile(signedBy: key)
    }

    func accept(_ acceptance: TermsAcceptance) throws(JournalError) -> Bool { try journal.accept(acceptance) }

    func acceptance(merchant: String, hash: String, key: String) throws(JournalError) -> TermsAcceptance? {
        try journal.acceptance(merchant: merchant, hash: hash, key: key)
    }

    /// Takes what was dropped off the disk. A failure only delays that.
    func scrub(_ logger: Logger) {
        do throws(JournalError) { try journal.scrub() } catch {
            logger.warning("journal not scrubbed", metadata: ["error": "\(error)"])
        }
    }

    /// The same soon: many wishes are one piece of work.
    nonisolated func scrubSoon() { wish.yield() }

    /// Follows such wishes, twice a second at most, until its task is cancelled.
    ///
    /// - Parameter quiet: returns when the disk is wanted for nothing that is in a hurry.
    func scrubAsWished(_ logger: Logger, when quiet: @Sendable () async -> Void) async {
        for await _ in wishes {
            await quiet()
            scrub(logger)
            do { try await Task.sleep(for: .milliseconds(500)) } catch { return }
        }
    }
}
