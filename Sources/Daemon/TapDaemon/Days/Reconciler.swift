// SPDX-License-Identifier: Apache-2.0
import Configuration
import Journal
import Ledger
import Logging
import POSAPI
import PSPAPI
import PaymentValues

/// Holds closed days against the payment service's figures: tells it of each day once, asks until it has given its figures
/// or nobody asks any more, and writes down in what they differ. Nothing in the ledger changes by that.
actor Reconciler {
    private let journal: JournalThread
    private let health: AdapterHealthCheck
    private let clock: ClockWatch
    private let times: @Sendable () -> AdapterTimes
    private let services: @Sendable () -> PaymentServices
    private let logger: Logger
    private let publish: @Sendable (Event) -> Void
    /// A day was closed, or the payment service was reached.
    private var bell = OneShot()
    /// The next question about a day has been asked.
    private var asked: [Int64: OneShot] = [:]

    /// A clock that was set back keeps no day from being asked about.
    private static let longestPause: Int64 = 3_600_000
    /// How often what the figures are of is asked for before the differences are written down without it.
    private static let questionsForItems = 3

    init(
        journal: JournalThread, health: AdapterHealthCheck, clock: ClockWatch,
        times: @escaping @Sendable () -> AdapterTimes,
        services: @escaping @Sendable () -> PaymentServices, logger: Logger,
        publish: @escaping @Sendable (Event) -> Void
    ) {
        (self.journal, self.health, self.clock) = (journal, health, clock)
        (self.times, self.services) = (times, services)
        (self.logger, self.publish) = (logger, publish)
    }

    /// Goes on until its task is cancelled.
    func run() async {
        while !Task.isCancelled {
            bell = OneShot()
            let bell = bell
            let next = await look(at: .now)
            await bell.wait(atMost: min(next, .seconds(30)))
        }
    }

    /// Looks at once, and gives the occasion of the next question about a day.
    func begin(_ number: Int64) -> OneShot {
        let occasion = asked[number] ?? OneShot()
        asked[number] = occasion
        bell.fire()
        return occasion
    }

    /// Whom the figures of a day that is closed now are held against; `nil` where the payment service has said that it gives
    /// none.
    nonisolated func plan(_ mode: Mode, terminal: String) -> ReconciliationPlan? {
        guard health.supports.map({ $0.contains(AdapterFeature.reconcile.rawValue) }) ?? true else { return nil }
        return ReconciliationPlan(service: services().current, mode: mode, terminal: terminal)
    }

    /// Asks about every day whose time has come.
    ///
    /// - Returns: when the next one's comes.
    func look(at now: Timestamp) async -> Duration {
        // By a wrong clock a day's time would be over.
        guard clock.doubt == nil else { return .seconds(30) }
        var next = Self.longestPause
        do throws(JournalError) {
            let open = try await journal.use { (journal) throws(JournalError) in try journal.openReconciliations() }
            for reconciliation in open {
                let wait = reconciliation.due.milliseconds - now.milliseconds
                if wait <= 0 || wait > Self.longestPause {
                    try await ask(reconciliation, at: now)
                    next = 0
                } else {
                    next = min(next, wait)
                }
            }
        } catch {
            logger.error("days not reconciled", metadata: ["error": "\(error)"])
            return .seconds(30)
        }
        return .milliseconds(max(next, 10))
    }

    private func ask(_ open: OpenReconciliation, at now: Timestamp) async throws(JournalError) {
        defer { asked.removeValue(forKey: open.day.number)?.fire() }
        let times = times()
        let (closed, service) = (open.day.closedAt ?? open.day.openedAt, open.service)
        let isOver = now > closed.moved(by: times.figuresLife)
        let services = services()
        let isUnsupported =
            service == services.current
            && health.supports.map { !$0.contains(AdapterFeature.reconcile.rawValue) } ?? false
        // The service that this day was planned for has never been asked, and says that it gives no figures.
        if isUnsupported, open.attempts == 0 { return try await end(open, nil, .closed) }
        if isOver { return try await end(open, nil, .unconfirmed) }
        let attempts = open.attempts + 1
        let pause = times.figures.pause(after: attempts)
        try await journal.use { (journal) throws(JournalError) in
            try journal.noteQuestion(about: open.day.number, attempts: attempts, next: Timestamp.now.moved(by: pause))
        }
        guard let link = services.link(to: service) else { return }
        var reply = open.attempts == 0 ? .neverSeen : await link.figures(of: open.day.id)
        if reply == .neverSeen { reply = await link.reconcile(open.day.id, open.body) }
        switch reply {
        case .later, .neverSeen: return
        case .otherBody:
            logger.error("the payment service has another day under this id", metadata: ["day": "\(open.day.number)"])
            try await end(open, nil, .unconfirmed)
        case .figures(let answer):
            guard let end = try await compare(answer, open, link, attempts) else { return }
            try await self.end(open, end, end.state)
        }
    }

    /// - Returns: `nil` where the figures cannot be added up, or what they are of is to be asked for once more.
    private func compare(
        _ answer: ReconciliationAnswer, _ open: OpenReconciliation, _ link: AdapterLink, _ attempts: Int
    ) async throws(JournalError) -> ReconciliationEnd? {
        let theirs = answer.lines ?? []
        guard let comparison = DayComparison(ours: open.lines, theirs: theirs) else { return nil }
        var isContradicted = false
        var differences: [DayDifference] = []
        for difference in comparison.differences {
            guard let items = await link.items(of: open.day.id, in: difference) else {
                guard attempts >= Self.questionsForItems else { return nil }
                differences.append(difference)
                continue
            }
            if !DayComparison.adds(items, to: difference.theirs) { isContradicted = true }
            differences.append(try await named(difference, items, open))
        }
        let isEqual = comparison.isBalanced || DayComparison.cancelOut(differences)
        // Whoever compares line by line says that they differ, and whoever compares sums does not: of an equal day both are right.
        if !isEqual || comparison.isBalanced {
            isContradicted = isContradicted || comparison.contradicts(answer.status)
        }
        let isSettled = isEqual && !isContradicted
        let figures = ServiceFigures(
            attempts: attempts, reference: answer.reference, lines: theirs, contradiction: isContradicted ? true : nil)
        // Of what belongs to another service nobody has given figures.
        return ReconciliationEnd(
            figures: figures, differences: differences,
            state: !isSettled ? .differs : open.elsewhere > 0 ? .unconfirmed : .balanced)
    }

    private func named(
        _ difference: DayDifference, _ theirs: [ReconciliationItem], _ open: OpenReconciliation
    ) async throws(JournalError) -> DayDifference {
        try await journal.use { (journal) throws(JournalError) in
            let ours = try journal.movements(of: open.day.number, in: difference, at: open.service)
            guard let items = DayComparison.items(ours: ours, theirs: theirs) else { return difference }
            var named = difference
            named.items = try journal.explained(Array(items.prefix(Limits.differenceItems)), of: open.day.number)
            named.itemCount = items.count
            return named
        }
    }

    private func end(
        _ open: OpenReconciliation, _ end: ReconciliationEnd?, _ state: BusinessDay.State
    ) async throws(JournalError) {
        let end = end ?? ReconciliationEnd(figures: ServiceFigures(), differences: [], state: state)
        try await journal.use { (journal) throws(JournalError) in
            try journal.endReconciliation(of: open.day, end, at: .now)
        }
        logger.info("business day reconciled", metadata: ["day": "\(open.day.number)", "state": "\(state.rawValue)"])
        let names: [EventName] =
            switch state {
            case .open, .closed, .balanced: []
            case .unconfirmed: [.booksAttention]
            case .differs: end.figures.contradiction == true ? [.dayDiffers, .booksAttention] : [.dayDiffers]
            }
        for name in names {
            var event = Event(name)
            event.day = open.day.number
            publish(event)
        }
    }
}
