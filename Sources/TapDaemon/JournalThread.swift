import Journal
import ReaderCore
import Wire

/// The journal on a thread of its own: it blocks until the disk has what it was given.
actor JournalThread {
    private let thread: ReaderThread
    private let journal: Journal
    nonisolated let support: String

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe thread.asUnownedSerialExecutor() }

    init(_ journal: sending Journal, on thread: ReaderThread) {
        self.thread = thread
        support = journal.support
        self.journal = journal
    }

    func create(_ new: NewTransaction) throws(JournalError) -> Creation { try journal.create(new) }

    func earlier(uid: UInt32, idempotencyKey: String, requestHash: String) throws(JournalError) -> Creation? {
        try journal.earlier(uid: uid, idempotencyKey: idempotencyKey, requestHash: requestHash)
    }

    func append(_ changes: [StateChange], to id: TransactionID) throws(JournalError) {
        try journal.append(changes, to: id)
    }

    func plan(_ reversal: ReversalPlan, for id: TransactionID) throws(JournalError) {
        try journal.plan(reversal, for: id)
    }

    func record(_ id: TransactionID) throws(JournalError) -> JournalRecord? { try journal.record(id) }

    func records(order: String) throws(JournalError) -> [JournalRecord] { try journal.records(order: order) }

    func unfinished() throws(JournalError) -> [JournalRecord] { try journal.unfinished() }

    func scrub() throws(JournalError) { try journal.scrub() }
}
