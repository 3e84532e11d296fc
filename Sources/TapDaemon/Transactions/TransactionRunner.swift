// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Configuration
import Journal
import Logging
import Loyalty
import ReaderCore
import StoreAndForward
import Transactions
import Wire

/// Runs every transaction's machine: turns what happens into inputs and carries its effects out. It owns the machines and
/// the tables around them, and decides nothing by itself.
actor TransactionRunner {
    /// What effects are carried out with.
    struct Services: Sendable {
        let preparer: LanePreparer
        let stored: PaymentQueue
        /// What runs for a machine: goes on until its task is cancelled.
        let work: WorkQueue
    }

    let journal: JournalThread
    nonisolated let measures = Measures()
    nonisolated let events: EventHub
    nonisolated let logger: Logger
    nonisolated let settings: CurrentSettings
    let profiles: ProfileStore
    private(set) var services: Services?
    var live: [TransactionID: Running] = [:]
    var lanes: Lanes
    var keys = KeyTable()
    var holders = HolderTable()
    var failedReads = FailedReadTable()
    /// What became of wishes for passes: only here, never in the journal, and not for long.
    var passes = PassShelf<KeptPasses>()
    var wishes = WishDesk()
    var isStopping = false
    private let alarm = AlarmClock()

    init(
        journal: JournalThread, events: EventHub, lanes: [Lane], settings: CurrentSettings, profiles: ProfileStore,
        logger: Logger
    ) {
        self.journal = journal
        self.events = events
        self.logger = logger
        self.settings = settings
        self.profiles = profiles
        let offersLoyalty = !settings.snapshot.offer.programmes.isEmpty
        self.lanes = Lanes(
            lanes.map { LaneRecord($0, offersLoyalty: offersLoyalty) }, groups: settings.snapshot.laneGroups)
    }

    nonisolated var mode: Mode { settings.snapshot.mode }

    /// Call it once, before anything is taken.
    func serve(with services: Services) { self.services = services }

    /// Lets go of what it was served with, which holds on to it in turn: nothing is carried out from here on.
    func end() {
        services = nil
        live = [:]
        alarm.set(at: nil) {}
    }

    // MARK: - The machines

    /// Lets something happen to a transaction.
    func take(_ input: Input, _ id: TransactionID) {
        guard var running = live[id] else { return }
        let known = running.transaction.history.count
        let before = running.transaction.state
        let effects = running.machine.take(input, at: .now)
        live[id] = running
        noteChanges(of: running, since: known, before)
        for effect in effects { carryOut(effect, id) }
        if running.machine.isOver { leave(id) }
        setAlarm()
    }

    private func noteChanges(of running: Running, since known: Int, _ before: TransactionState) {
        let transaction = running.transaction
        guard transaction.history.count > known else { return }
        for step in transaction.history.dropFirst(known) { measures.changed(transaction.type, to: step.state) }
        logger.info(
            "state changed",
            metadata: [
                "transaction": "\(transaction.id)", "lane": "\(transaction.lane)",
                "state": "\(transaction.state.rawValue)",
            ])
        if before == .sent || before == .unknown, let sentAt = running.sentAt, transaction.state.isSettled {
            measures.took(.answered, seconds: monotonicNow().seconds(since: sentAt))
        }
        if transaction.state == .armed { setDeadline(of: running) }
        guard transaction.state.isSettled else { return }
        lanes.release(by: transaction.id)
        running.isSettled.fire()
        if transaction.state == .reversing { running.isDone.fire() }
    }

    /// When the holder of its lanes goes at the latest.
    private func setDeadline(of running: Running) {
        let wait = Int64(running.machine.demand.deadline) * 1_000
        lanes.setDeadline(
            Timestamp(milliseconds: Timestamp.now.milliseconds + wait), of: running.transaction.id)
    }

    /// Nothing more happens to it.
    private func leave(_ id: TransactionID) {
        guard let running = live.removeValue(forKey: id) else { return }
        lanes.release(by: id)
        holders.forget(id)
        passes.end(id, at: .now)
        running.tap?.disarm()
        running.isUnwanted.fire()
        running.isSettled.fire()
        running.isDone.fire()
    }

    /// Time passes for whatever waits for it.
    private func timePassed() {
        let now = Moment.now
        for (id, running) in live {
            guard let due = running.machine.due, due <= now.monotonic else { continue }
            take(.due, id)
        }
        passes.expire(at: now)
        setAlarm()
    }

    private func setAlarm() {
        let due = live.values.compactMap(\.machine.due) + [passes.due].compactMap(\.self)
        alarm.set(at: due.min()) { [weak self] in
            guard let self else { return }
            Task { await self.timePassed() }
        }
    }

    /// Runs `work` for a machine.
    nonisolated func run(_ services: Services, _ work: @escaping WorkQueue.Work) { services.work.add(work) }

    // MARK: - What is known

    /// Everything known of a transaction but what was in passes; `nil` where there is none.
    func transaction(_ id: TransactionID) async throws(JournalError) -> Transaction? {
        var found: Transaction?
        if let running = live[id] {
            found = running.transaction
        } else {
            found = try await journal.record(id)?.transaction
        }
        found?.loyalty = passes[id]?.statuses
        return found
    }

    /// Who asked for a transaction; `nil` where there is none.
    func owner(of id: TransactionID) async throws(JournalError) -> UInt32? {
        if let running = live[id] { return running.machine.demand.uid }
        return try await journal.record(id)?.uid
    }

    /// Transactions of an order, newest first.
    func transactions(order: String) async throws(JournalError) -> [Transaction] {
        try await journal.records(order: order).map(\.transaction)
    }

    /// The occasion to wait for; `nil` where nothing is waited for any more.
    func settling(_ id: TransactionID) -> OneShot? {
        live[id].flatMap { $0.transaction.state.isSettled ? nil : $0.isSettled }
    }

    /// On which lane a transaction takes place that is not over.
    func lane(of id: TransactionID) -> String? { live[id]?.transaction.lane }

    func keptPasses(of id: TransactionID) -> KeptPasses? { passes[id] }

    /// Payments that the adapter has not confirmed as taken back, with the time since when.
    func unfinishedReversals() -> [Timestamp] {
        live.values.filter { $0.transaction.state == .reversing }.map(\.transaction.updatedAt)
    }

    func openReversals() -> Int { live.values.count { $0.transaction.state == .reversing } }

    nonisolated func publish(_ event: Event) {
        var event = event
        event.mode = mode
        measures.published(event.name)
        events.publish(event)
    }

    // MARK: - What was dropped leaves the disk

    /// A failure only delays that.
    func scrub() async {
        do throws(JournalError) { try await journal.scrub() } catch { noteUnscrubbed(error) }
    }

    /// Does the same soon, whenever somebody wishes it, until its task is cancelled.
    nonisolated func scrubAsWished() async {
        await journal.scrubAsWished(when: { await self.noCardIsRead() }) { self.noteUnscrubbed($0) }
    }

    /// Returns when no card is being read, whose payment would wait for the disk; after two seconds in any case.
    private func noCardIsRead() async {
        for _ in 0..<40 {
            guard live.values.contains(where: { $0.transaction.state == .reading }) else { return }
            do { try await Task.sleep(for: .milliseconds(50)) } catch { return }
        }
    }

    nonisolated private func noteUnscrubbed(_ error: JournalError) {
        logger.warning("journal not scrubbed", metadata: ["error": "\(error)"])
    }
}

