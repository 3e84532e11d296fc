// SPDX-License-Identifier: Apache-2.0
import Configuration
import Envelope
import Journal
import Logging
import POSAPI
import PSPAPI
import PaymentValues
import StoreAndForward
import Synchronization
import Transactions

/// Store and forward: decides what is stored, and knows what is.
final class PaymentQueue: Sendable {
    let journal: JournalThread
    let outlet: EventOutlet
    let key: SigningKey
    let profiles: ProfileStore
    let trail: AuditTrail
    let notes: StandingNotes
    let logger: Logger
    /// Happens when there is something to forward at once; then there is a new one.
    private let waking = Mutex(OneShot())
    private let contact: Mutex<OnlineContact?>
    /// When this run noted it, on the monotonic clock.
    private let contactNoted = Mutex<Int64?>(nil)
    /// What this run has stored, with when, on the monotonic clock.
    private let storedHere = Mutex<[TransactionID: Int64]>([:])
    /// What the last reading of the queue failed of.
    private let trouble = Mutex<JournalError?>(nil)
    /// Records that do not hold and have been told of.
    private let told = Mutex<[TransactionID: RecordFault]>([:])

    /// - Parameter contact: the last one that an earlier run has written down.
    init(
        journal: JournalThread, outlet: EventOutlet, key: SigningKey, contact: OnlineContact?, trail: AuditTrail,
        notes: StandingNotes, profiles: ProfileStore
    ) {
        (self.journal, self.outlet) = (journal, outlet)
        self.key = key
        self.contact = Mutex(contact)
        self.trail = trail
        self.notes = notes
        logger = trail.logger
        self.profiles = profiles
    }

    /// Of the machine, new with each start of it.
    private var boot: String { outlet.settings.snapshot.surroundings.boot }

    /// What rules storing and forwarding just now.
    func settings() -> OfflineSettings { OfflineSettings(outlet.settings.snapshot.configuration, profiles.current) }

    // MARK: - Contact with the payment service

    /// Notes that the payment service was reached just now. Written down with the other standing notes: what is on disk is
    /// never later than the truth.
    ///
    /// - Parameter serviceName: with whom; `nil` for the service that is configured now. Contact with a former one is none.
    func noteContact(with serviceName: String? = nil) async {
        guard serviceName ?? settings().serviceName == settings().serviceName else { return }
        let now = OnlineContact(at: .now, boot: boot, serviceName: settings().serviceName)
        contact.withLock { $0 = now }
        contactNoted.withLock { $0 = Moment.nowWithSleep.monotonic }
        wake()
        await notes.note(now)
    }

    /// Forwards at once what is due.
    func wake() {
        let before = waking.withLock { occasion in
            defer { occasion = OneShot() }
            return occasion
        }
        before.fire()
    }

    func waitForWork(atMost time: Duration) async {
        await waking.withLock { $0 }.wait(atMost: time)
    }

    // MARK: - Storing

    /// Stores a payment that cannot be sent, where every rule allows it: what `changes` say is written down together with
    /// the signed record, or nothing.
    ///
    /// - Returns: `nil` where it is stored, else why not.
    func keep(
        _ request: AuthorizationRequest, _ sale: OfflineSale, after changes: [StateChange], _ stored: StateChange,
        by settings: OfflineSettings
    ) async throws(JournalError) -> ErrorCode? {
        guard settings.rules != nil else { return .pspUnreachable }
        let content = SignedRecord.Content(
            authorization: request, storedAt: stored.at, serviceName: settings.serviceName, boot: boot)
        let record: SignedRecord
        do throws(SignedRecordError) { record = try SignedRecord(content, key: key) } catch {
            logger.error("stored payment not signed", metadata: ["transaction": "\(request.id)"])
            return .internalFault
        }
        let new = NewQueueRecord(record: record.jws, serviceName: settings.serviceName, storedAt: stored.at)
        let base = situation(at: stored.at, settings)
        let since = new.storedAt.advanced(bySeconds: -OfflineRules.longestAge.components.seconds)
        let refusal = try await journal.store(
            changes + [stored], new, to: request.id, card: request.card, since: since
        ) { facts in
            OfflineDecision.refusal(of: sale, in: base.with(facts), by: settings.rules)
        }
        if refusal == nil {
            noteStored(request.id)
            wake()
        }
        return refusal
    }

    private func noteStored(_ id: TransactionID) {
        let now = Moment.nowWithSleep.monotonic
        storedHere.withLock { stored in
            // More than any rules let wait.
            if stored.count >= 10_000, let oldest = stored.min(by: { $0.value < $1.value }) { stored[oldest.key] = nil }
            stored[id] = now
        }
    }

    /// By the clock that nobody sets; `nil` for what an earlier run has stored.
    func timeSinceStored(_ id: TransactionID) -> Duration? {
        storedHere.withLock { $0[id] }.map { .milliseconds(Moment.nowWithSleep.monotonic - $0) }
    }

    func situation(at now: Timestamp, _ settings: OfflineSettings) -> OfflineSituation {
        let contact = contact.withLock { $0 }
        var situation = OfflineSituation(now: now, boot: boot, serviceName: settings.serviceName, lastContact: contact)
        // Of a contact in this run the clock that nobody sets knows how long ago it was (rule R2).
        if let contact, let noted = contactNoted.withLock({ $0 }) {
            situation.now.milliseconds = contact.at.milliseconds + (Moment.nowWithSleep.monotonic - noted)
        }
        return situation
    }

    // MARK: - What waits

    /// - Parameter owner: whose payments are told of; `nil` for all.
    func status(of owner: Principal? = nil) async throws(JournalError) -> QueueStatus {
        let settings = settings()
        let all = try await journal.queue()
        let now = Timestamp.now
        let contact = contact.withLock { $0 }
        let situation = situation(at: now, settings).with(QueueFacts(all))
        var refusal: ErrorCode? = .offlineNotAllowed
        var expires: Timestamp?
        if let rules = settings.rules {
            refusal = OfflineDecision.refusal(in: situation, by: rules)
            expires = contact.flatMap { OfflineDecision.expiry(after: $0, by: rules) }
        }
        let entries = all.filter { owner == nil || $0.owner == owner }
        let oldest = entries.first?.storedAt
        return QueueStatus(
            count: entries.count, oldest: oldest, overdue: settings.isOverdue(oldest, at: now),
            totals: PaymentQueue.totals(entries), serviceName: settings.serviceName, expires: expires,
            refusal: refusal.map { ErrorDetail($0) }, openBatch: try await journal.openBatch()?.id,
            entries: entries.prefix(100).map { QueueStatus.Entry($0) })
    }

    /// What can be said of the queue at any moment, at the price of one row.
    func outline() async -> QueueOutline {
        var outline = QueueOutline(failure: trouble.withLock { $0 })
        do throws(JournalError) {
            let extent = try await journal.queueExtent()
            outline.extent = extent
            outline.isOverdue = settings().isOverdue(extent.oldest, at: .now)
        } catch {
            outline.failure = error
        }
        return outline
    }

    /// Payments that a person has to look after; `nil` where the journal cannot say.
    func openItems() async -> OpenItemExtent? {
        do throws(JournalError) {
            return try await journal.use { (journal) throws(JournalError) in try journal.openItemExtent() }
        } catch {
            return nil
        }
    }

    /// What waits, for the forwarder. Whether it could be read is kept for whoever asks, and told once.
    func entries() async -> [QueueEntry]? {
        do throws(JournalError) {
            let (entries, unreadable) = try await journal.use { (journal) throws(JournalError) in
                try journal.readableQueue()
            }
            if unreadable > 0 {
                if isNews(.damaged) {
                    logger.critical(
                        "payments in the queue not readable, the others are forwarded",
                        metadata: ["count": "\(unreadable)"])
                }
            } else if trouble.withLock({ $0.take() }) != nil {
                logger.notice("queue read again")
            }
            return entries
        } catch {
            if isNews(error) {
                logger.critical("queue not read, nothing is forwarded", metadata: ["error": "\(error)"])
            }
            return nil
        }
    }

    /// Whether something in it could not be read when it was last looked at.
    var isTroubled: Bool { trouble.withLock { $0 != nil } }

    /// Keeps what the queue suffers from.
    private func isNews(_ error: JournalError) -> Bool {
        trouble.withLock { before in
            defer { before = error }
            return before != error
        }
    }

    /// Whether nobody has been told yet, since the start, that a record does not hold.
    func isNews(_ fault: RecordFault, of id: TransactionID) -> Bool {
        told.withLock { $0.updateValue(fault, forKey: id) } != fault
    }

    private static func totals(_ entries: [QueueEntry]) -> [Money] {
        let sums = QueueFacts(entries).totals.compactMap { code, value in
            Currency(code).map { Money(value: value, currency: $0) }
        }
        return sums.sorted { $0.currency.code < $1.currency.code }
    }
}

extension OfflineSituation {
    /// With what the journal says of the queue.
    func with(_ facts: QueueFacts) -> OfflineSituation {
        var situation = self
        situation.storedCount = facts.count
        situation.storedTotals = facts.totals
        situation.storedServiceNames = facts.serviceNames
        situation.storedOfCard = facts.ofCard
        return situation
    }
}

extension QueueStatus.Entry {
    init(_ entry: QueueEntry) {
        self.init(
            transaction: entry.transaction.id, state: entry.transaction.state, amount: entry.transaction.amount,
            card: entry.transaction.card, storedAt: entry.storedAt, attempts: entry.attempts, batch: entry.batch)
    }
}
