// SPDX-License-Identifier: Apache-2.0
import Envelope
import Journal
import Logging
import PaymentValues
import StoreAndForward
import Synchronization
import Transactions

/// What a daemon keeps in its journal while nobody pays: the time that it believes, its last contact with the payment service,
/// and the signed end of the audit chain. All in one commit a minute, which also proves that a sale could be written down.
final class StandingNotes: Sendable {
    private struct State {
        /// The last one of this run.
        var contact: OnlineContact?
        /// What the journal has.
        var keptContact: OnlineContact?
        var keptBelieved: Timestamp?
        /// When that was tried last, on the monotonic clock; `nil` before the first time in this run.
        var triedAt: Int64?
        var hasFailed = false
        /// Of the journal at that time.
        var commits = 0
        /// When somebody else had written since the time before; `nil` where all that was written is in the journal's main file.
        var writtenAt: Int64?
    }

    private let state: Mutex<State>
    private let journal: JournalThread
    private let clock: ClockWatch
    private let key: SigningKey
    private let logger: Logger
    private static let interval: Duration = .seconds(5)
    /// Milliseconds between two commits.
    private static let pause: Int64 = 60_000
    /// Milliseconds between two believed times of which the later one is written at once: a clock was put right, or the machine
    /// has slept. After a crash it is all that tells entries with a right time from those with a wrong one.
    private static let leap: Int64 = 120_000
    /// Milliseconds without a sale after which the write-ahead log is taken into the journal. That costs two to three syncs,
    /// and after each sale it cost more than the sale.
    static let rest: Int64 = 600_000
    /// Bytes of the log at which it is done in any case.
    static let longestLog: Int64 = 1 << 20

    /// - Parameters:
    ///   - believed: what an earlier run has kept, as `contact`.
    ///   - key: that of the installation.
    init(
        journal: JournalThread, clock: ClockWatch, key: SigningKey, believed: Timestamp?, contact: OnlineContact?,
        logger: Logger
    ) {
        (self.journal, self.clock, self.key, self.logger) = (journal, clock, key, logger)
        state = Mutex(State(keptContact: contact, keptBelieved: believed))
    }

    /// Goes on until its task is cancelled.
    func run() async {
        while !Task.isCancelled {
            await keep(at: .nowWithSleep)
            do { try await Task.sleep(for: StandingNotes.interval) } catch { return }
        }
    }

    /// The payment service was reached. With another one than the journal has, or since another start of the machine, it is
    /// written at once: a restart may store payments by it.
    func note(_ contact: OnlineContact) async {
        let isOther = state.withLock { state in
            state.contact = contact
            return state.keptContact?.boot != contact.boot || state.keptContact?.serviceName != contact.serviceName
        }
        if isOther { await keepNow(at: .nowWithSleep) }
    }

    /// Writes what there is, once a minute has passed since the last time.
    func keep(at now: Moment) async {
        let believed = clock.believed
        let isDue = state.withLock { state in
            guard let triedAt = state.triedAt, now.monotonic &- triedAt < StandingNotes.pause else { return true }
            guard !state.hasFailed, let believed else { return false }
            guard let kept = state.keptBelieved else { return true }
            let (apart, isFar) = believed.milliseconds.subtractingReportingOverflow(kept.milliseconds)
            return isFar || apart.magnitude >= UInt64(StandingNotes.leap)
        }
        if isDue { await keepNow(at: now) }
    }

    /// The same at once: at a stop.
    func keepNow(at now: Moment = .nowWithSleep) async {
        let believed = clock.believed
        let takesLogIn = await isLogDue(at: now)
        // After this commit: what it writes is taken in, too, and the log is empty.
        defer { if takesLogIn { journal.scrubSoon() } }
        let (contact, commits) = state.withLock { ($0.contact == $0.keptContact ? nil : $0.contact, $0.commits) }
        do throws(JournalError) {
            let head = try await journal.use { [self] (journal) throws(JournalError) in
                let head = try journal.keep(
                    believed: believed, contact: contact.map { ($0.at, $0.boot, $0.serviceName) }, signing: signedHead)
                // Whether a sale could be written is to be known all the same.
                if journal.commitCount.durableCommits == commits { try journal.probe(at: now.wall) }
                return head
            }
            state.withLock { state in
                state.keptBelieved = believed ?? state.keptBelieved
                state.keptContact = contact ?? state.keptContact
                (state.triedAt, state.hasFailed) = (now.monotonic, false)
                state.commits = journal.commitCount.durableCommits
            }
            // A chain that is cut off later, statements included, contradicts the log.
            guard let head else { return }
            logger.info("audit head signed", metadata: ["sequence": "\(head.sequence)", "hash": "\(head.hash)"])
        } catch {
            state.withLock { ($0.triedAt, $0.hasFailed) = (now.monotonic, true) }
            logger.error("standing notes not written", metadata: ["error": "\(error)"])
        }
    }

    /// Whether the write-ahead log is to be taken into the journal: the shop is at rest, or the log has grown long.
    private func isLogDue(at now: Moment) async -> Bool {
        let commits = journal.commitCount.durableCommits
        let size = await journal.logSize()
        return state.withLock { state in
            if commits != state.commits { state.writtenAt = now.monotonic }
            let isAtRest = state.writtenAt.map { now.monotonic &- $0 >= StandingNotes.rest } ?? false
            guard isAtRest || size >= StandingNotes.longestLog else { return false }
            state.writtenAt = nil
            return true
        }
    }

    private func signedHead(_ sequence: Int64, _ hash: String) -> String? {
        let statement = AuditStatement(.head, installation: journal.support, sequence: sequence, hash: hash)
        do throws(JWSError) { return try statement.signed(by: key) } catch {
            logger.error("audit statement not signed", metadata: ["error": "\(error)"])
            return nil
        }
    }
}
