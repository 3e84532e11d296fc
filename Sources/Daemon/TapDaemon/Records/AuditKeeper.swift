// SPDX-License-Identifier: Apache-2.0
import Configuration
import Envelope
import Journal
import Logging
import PaymentValues

/// Erases what has been kept for long enough.
struct AuditKeeper: Sendable {
    let journal: JournalThread
    let events: EventHub
    let key: SigningKey
    let settings: CurrentSettings
    let clock: ClockWatch
    /// Between two looks at whether the clock is believed.
    var interval: Duration = .seconds(60)
    let logger: Logger
    private var retention: Retention { settings.snapshot.journal.retention }

    init(
        journal: JournalThread, events: EventHub, key: SigningKey, settings: CurrentSettings, clock: ClockWatch,
        logger: Logger
    ) {
        (self.journal, self.events, self.key) = (journal, events, key)
        (self.settings, self.clock, self.logger) = (settings, clock, logger)
    }

    /// Goes on until its task is cancelled.
    func run() async {
        var nextErasure = ContinuousClock.now
        while !Task.isCancelled {
            // What a wrong clock takes for old is not old: it waits until the clock is believed.
            if ContinuousClock.now >= nextErasure, clock.doubt == nil {
                await erase(now: .now)
                nextErasure = ContinuousClock.now.advanced(by: retention.interval)
            }
            do { try await Task.sleep(for: min(interval, retention.interval)) } catch { return }
        }
    }

    /// Erases transactions, audit entries and events that are older than their time, from the files too.
    ///
    /// - Parameter now: the time, which has to be believed.
    func erase(now: Timestamp) async {
        events.forget(before: now.moved(by: -retention.events))
        let transactions = now.moved(by: -retention.transactions)
        let refundable = now.moved(by: -retention.refundable)
        let proofs = now.moved(by: -retention.proofs)
        do throws(JournalError) {
            let count = try await journal.use { (journal) throws(JournalError) in
                try journal.eraseTransactions(
                    endedBefore: transactions, refundableBefore: refundable, at: now)
            }
            let audit = try await eraseAudit(before: now.moved(by: -retention.audit), at: now)
            let agreements = try await journal.use { (journal) throws(JournalError) in
                try journal.eraseProofs(endedBefore: proofs, at: now)
            }
            guard count > 0 || agreements > 0 || audit else { return }
            try await journal.use { (journal) throws(JournalError) in try journal.scrub() }
            logger.info(
                "old records erased", metadata: ["transactions": "\(count)", "agreements": "\(agreements)"])
        } catch {
            logger.error("old records not erased", metadata: ["error": "\(error)"])
        }
    }

    private func eraseAudit(before time: Timestamp, at now: Timestamp) async throws(JournalError) -> Bool {
        let last = try await journal.use { (journal) throws(JournalError) in try journal.lastAudit(before: time) }
        guard let last, let token = statement(last) else { return false }
        try await journal.use { (journal) throws(JournalError) in
            try journal.eraseAudit(upTo: last.sequence, checkpoint: token, at: now)
        }
        return true
    }

    private func statement(_ end: (sequence: Int64, hash: String)) -> String? {
        let statement = AuditStatement(
            .checkpoint, installation: journal.support, sequence: end.sequence, hash: end.hash)
        do throws(JWSError) { return try statement.signed(by: key) } catch {
            logger.error("audit statement not signed", metadata: ["error": "\(error)"])
            return nil
        }
    }
}

extension Duration {
    fileprivate static prefix func - (duration: Duration) -> Duration { .zero - duration }
}
