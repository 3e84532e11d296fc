import Configuration
import Journal
import Logging
import Wire

/// Every transaction and its state. What it says has been written down before.
actor TransactionStore {
    let journal: JournalThread
    nonisolated let measures = Measures()
    let events: EventHub
    let logger: Logger
    let mode: Mode
    var live: [TransactionID: LiveTransaction] = [:]
    var lanes: [LaneEntry]
    /// Lanes of which any will do, by the group's name.
    var groups: [String: [String]]
    /// Lanes that are not used any more and have to be closed.
    var retired: [Lane] = []
    /// Orders whose card could not be read, with how often; the latest of them.
    var failedReads: [(order: String, count: Int)] = []
    /// Idempotency keys whose first request has not been answered yet, with the transaction once there is one.
    var keysInUse: [UserKey: TransactionID?] = [:]
    var isStopping = false
    var offer: LoyaltyOffer
    /// The shop as its receipts name it, and its terminal's number.
    var merchant: Merchant
    var terminal: String
    let profiles: ProfileStore
    /// What became of wishes for passes: only here, never in the journal, and not for long.
    var passes: [TransactionID: KeptPasses] = [:]

    init(
        journal: JournalThread, events: EventHub, lanes: [Lane], mode: Mode, offer: LoyaltyOffer,
        groups: [String: [String]] = [:], merchant: Merchant, terminal: String, profiles: ProfileStore, logger: Logger
    ) {
        self.groups = groups
        self.journal = journal
        self.events = events
        self.mode = mode
        self.logger = logger
        self.offer = offer
        self.merchant = merchant
        self.terminal = terminal
        self.profiles = profiles
        self.lanes = lanes.map { LaneEntry(lane: $0, offersLoyalty: !offer.programmes.isEmpty) }
    }

    /// Everything known of a transaction but what was in passes; `nil` where there is none.
    func transaction(_ id: TransactionID) async throws(JournalError) -> Transaction? {
        var found: Transaction?
        if let known = live[id] { found = known.transaction } else { found = try await journal.record(id)?.transaction }
        found?.loyalty = passes[id]?.statuses
        return found
    }

    /// Who asked for a transaction; `nil` where there is none.
    func owner(of id: TransactionID) async throws(JournalError) -> UInt32? {
        if let known = live[id] { return known.uid }
        return try await journal.record(id)?.uid
    }

    /// Transactions of an order, newest first.
    func transactions(order: String) async throws(JournalError) -> [Transaction] {
        try await journal.records(order: order).map(\.transaction)
    }

    /// Settled already, or the occasion to wait for.
    func settling(_ id: TransactionID) -> Occasion? { live[id]?.isSettled }

    /// Writes changes down, then lets everybody see them.
    func change(_ id: TransactionID, _ changes: [StateChange]) async throws(JournalError) {
        try await journal.append(changes, to: id)
        noted(id, changes)
    }

    /// Lets everybody see changes that have been written down.
    func noted(_ id: TransactionID, _ changes: [StateChange]) {
        guard var known = live[id] else { return }
        for change in changes { known.apply(change) }
        live[id] = known
        for change in changes { measures.changed(known.transaction.type, to: change.state) }
        let state = known.transaction.state
        logger.info(
            "state changed",
            metadata: ["transaction": "\(id)", "lane": "\(known.transaction.lane)", "state": "\(state.rawValue)"])
        known.announce()
        if state.isSettled { freeLane(of: id) }
        if state.successors.isEmpty || state == .approved || state == .stored { live[id] = nil }
    }

    /// As `change`, for what has happened outside already and must not be forgotten: tries until the journal takes it.
    func changeForCertain(_ id: TransactionID, _ changes: [StateChange]) async {
        while true {
            do throws(JournalError) {
                return try await change(id, changes)
            } catch {
                logger.critical("journal not written", metadata: ["transaction": "\(id)", "error": "\(error)"])
                if case .illegalChange = error { return }
                try? await Task.sleep(for: .seconds(1))
                // The next start finds the state before, and reverses.
                if Task.isCancelled { return }
            }
        }
    }

    /// Ends a transaction that can no longer be written down: only in memory, the next start ends it in the journal too.
    func abandon(_ id: TransactionID, _ code: ErrorCode) {
        guard var known = live[id] else { return }
        var change = StateChange(.failed)
        change.error = ErrorDetail(code, transaction: id)
        known.apply(change)
        live[id] = nil
        freeLane(of: id)
        known.announce()
        var event = Event(.readNotCompleted, lane: known.transaction.lane)
        event.transaction = id
        event.error = change.error
        publish(event)
    }

    /// Lets nothing of what was dropped stay on the disk. A failure only delays that.
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

    nonisolated func publish(_ event: Event) {
        var event = event
        event.mode = mode
        measures.published(event.name)
        events.publish(event)
    }

    /// The answer has come: from here on a wish to take the payment back comes too late to change what is written down, and
    /// waits for it.
    ///
    /// - Returns: whether somebody has wished so before, and the payment must not stay approved.
    func decide(_ id: TransactionID) -> Bool {
        live[id]?.isDecided = true
        return live[id]?.mustBeReversed ?? false
    }

    /// Until when an approval at `time` has to be confirmed; `nil` where it has not to be.
    func confirmationDue(_ id: TransactionID, after time: Timestamp) -> Timestamp? {
        live[id]?.confirmWithin.map { time.advanced(bySeconds: Int64($0)) }
    }

    /// Payments that the adapter has not confirmed as taken back.
    func unfinishedReversals() -> [Timestamp] {
        live.values.filter { $0.transaction.state == .reversing }.map(\.transaction.updatedAt)
    }

    func openReversals() -> Int { live.values.count { $0.transaction.state == .reversing } }

    func canceller(of id: TransactionID) -> Canceller? { live[id]?.canceller }
}

extension ErrorCode {
    init(_ error: JournalError) { self = error == .full ? .storageFull : .storageFailed }
}
