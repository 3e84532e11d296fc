// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Configuration
import Journal
import Logging
import POSAPI
import PSPAPI
import PaymentValues
import ReaderCore
import Transactions

/// Runs every transaction's machine: turns what happens into inputs and carries its effects out. It stands around the
/// books, so that each of their changes is one step, and decides nothing by itself.
actor TransactionRunner {
    /// What effects are carried out with. None of it knows the runner, which would be kept in memory by it.
    struct Services: Sendable {
        let queue: PaymentQueue
        let health: AdapterHealthCheck
        /// Goes on with what was read for a refund.
        let engine: OperationEngine
        /// Has cards forgotten that nobody may charge any more.
        let forgetCards: @Sendable () async -> Void
        /// What runs for a machine: goes on until its task is cancelled.
        let work: WorkQueue
        /// What a stop waits for.
        let lasting: WorkQueue
    }

    let journal: JournalThread
    nonisolated let outlet: EventOutlet
    nonisolated let services: Services
    nonisolated let logger: Logger
    let profiles: ProfileStore
    var books: TransactionTable
    var wishes = WaitingClients()
    private let alarm = AlarmClock()
    let clock: ClockWatch
    /// Where customers are shown their amounts.
    nonisolated let displays = LaneDisplays()

    init(
        journal: JournalThread, outlet: EventOutlet, services: Services, lanes: [Lane], profiles: ProfileStore,
        clock: ClockWatch, logger: Logger
    ) {
        self.clock = clock
        self.journal = journal
        self.logger = logger
        self.profiles = profiles
        self.outlet = outlet
        self.services = services
        books = TransactionTable(LaneRegistry(lanes, outlet.settings.snapshot, outlet, logger))
    }

    nonisolated var measures: Measures { outlet.measures }
    nonisolated var events: EventHub { outlet.events }
    nonisolated var settings: CurrentSettings { outlet.settings }
    nonisolated var mode: Mode { settings.snapshot.mode }
    nonisolated var paymentServices: PaymentServices { profiles.paymentServices }

    /// Changes the books, in one step.
    @discardableResult
    func change<Answer: Sendable>(_ change: @Sendable (inout TransactionTable) -> Answer) -> Answer { change(&books) }

    // MARK: - The machines

    /// Lets something happen to a transaction.
    func take(_ input: Input, _ id: TransactionID) {
        guard let known = books.live[id]?.machine.transaction.history.count,
            let before = books.live[id]?.machine.transaction.state,
            // Where it lies: a copy of it would be made for the change, and thrown away.
            let effects = books.live[id]?.machine.take(input, at: .now), let running = books.live[id]
        else { return }
        noteChanges(of: running, since: known, before)
        for effect in effects { carryOut(effect, id) }
        if running.machine.isOver { books.leave(id, at: .now) }
        setAlarm()
    }

    /// Runs a transaction that was admitted, and returns when a stop does not have to wait for it any more.
    func run(_ id: TransactionID) async {
        guard let isDone = books.live[id]?.isDone else { return }
        take(.begin, id)
        await isDone.wait()
    }

    private func noteChanges(of running: LiveTransaction, since known: Int, _ before: TransactionState) {
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
            measures.took(.answered, seconds: books.heard(transaction.id, sent: sentAt, at: monotonicNow()))
        }
        books.follow(running, at: .now)
        if transaction.state == .approved {
            books.live[transaction.id]?.approvedAt = Moment.nowWithSleep.monotonic
            if transaction.type == .charge { services.work.add { [services] in await services.forgetCards() } }
            if running.machine.demand.storing != nil {
                services.work.add { await self.outlet.tellOfCard(transaction, self.journal) }
            }
        }
        // A stop does not wait for a customer who pays elsewhere: the next start goes on asking.
        if transaction.type.isPaidElsewhere, transaction.state == .sent { running.isDone.fire() }
        if transaction.state == .armed { books.setDeadline(of: running, at: .now) }
        if running.machine.isReadKept {
            books.lanes.table.release(by: transaction.id)
            running.hasLeftLane.fire()
        }
        guard transaction.state.isSettled else { return }
        books.lanes.table.release(by: transaction.id)
        running.isSettled.fire()
        running.hasLeftLane.fire()
        // Nor for an approval that somebody still has to confirm: nobody can ask for it any more, and the next start waits on.
        if transaction.state == .reversing || transaction.state == .approved { running.isDone.fire() }
    }

    /// Time passes for whatever waits for it.
    func timePassed() {
        let now = Moment.now
        for id in books.due(at: now) { take(.due, id) }
        for lane in books.takeIdle(at: now) { services.work.add { await lane.show(.idle) } }
        books.passes.expire(at: now)
        books.reads.expire(at: now)
        setAlarm()
    }

    private func setAlarm() {
        alarm.set(at: books.due) { [weak self] in
            guard let self else { return }
            Task { await self.timePassed() }
        }
    }

    // MARK: - What is known

    func laneStatuses() -> [LaneStatus] { books.lanes.table.statuses }

    /// Everything known of a transaction but what was in passes; `nil` where there is none.
    func transaction(_ id: TransactionID) async throws(JournalError) -> Transaction? {
        var found = books.live[id]?.transaction
        // What was handed over may be further by now than its machine knows.
        if found == nil || books.live[id]?.isHandedOver == true {
            found = try await journal.record(id)?.transaction
        } else if found?.type.isPayment == true, found?.state.isSettled == true {
            // What became of its money is in the books only.
            let account = try await journal.record(id)?.transaction.account
            found?.account = account
        }
        found?.loyalty = books.passes[id]?.statuses
        guard var known = found else { return nil }
        // What was sent to nobody is here or nowhere.
        if books.reads[id] == nil, !known.history.contains(where: { $0.state == .sent }) {
            known.result?.readKeptUntil = nil
        }
        known.offersLink = services.health.supports?.contains(AdapterFeature.link.rawValue) == true
        known.offeredTerminals = services.health.terminals
        try await known.addStoredCards(from: journal)
        return known
    }

    /// Who asked for a transaction; `nil` where there is none.
    func owner(of id: TransactionID) async throws(JournalError) -> Principal? {
        if let running = books.live[id] { return running.machine.demand.owner }
        return try await journal.record(id)?.owner
    }

    /// The owner; `nil` for what an earlier version of this program has begun.
    func service(of id: TransactionID) async throws(JournalError) -> AskedService? {
        try await journal.record(id)?.service
    }

    nonisolated func publish(_ event: Event) { outlet.publish(event) }
}
