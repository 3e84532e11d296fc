// SPDX-License-Identifier: Apache-2.0
import Codes
import Configuration
import Envelope
import Glibc
import Journal
import Linux
public import LocalHTTP
public import Logging
import POSAPI
import PaymentValues
import ReaderCore
import ReaderVirtual
import StoreAndForward
import Transactions

/// The daemon: lanes, transactions, the POS socket and the way to the adapter, put together.
///
/// It has a stored property for every part that runs, because this is where they are made and ended; none holds a setting.
public final class Daemon: Sendable {
    let settings: CurrentSettings
    let clock: ClockWatch
    let logger: Logger
    let runner: TransactionRunner
    /// Captures, adjustments, releases and refunds that name a payment.
    let engine: OperationEngine
    private let events: EventHub
    private let server: HTTPServer
    let health: AdapterHealthCheck
    private let monitor: ReaderMonitor
    let profiles: ProfileStore
    /// Transactions and what belongs to them: brought to an end when the daemon stops.
    private let payments: WorkQueue
    /// Reversals: go on with the next start.
    private let background: WorkQueue
    /// Signs what must be provably from this installation.
    let installation: SigningKey
    let audit: AuditKeeper
    private let days: EndOfDaySchedule
    private let reconciler: Reconciler
    let expiry: ExpiryWatch
    let trail: AuditTrail
    let journalHealth: JournalHealth
    let notes: StandingNotes
    let reserve: StorageReserve
    private let forwarder: QueueForwarder
    let queue: PaymentQueue
    let standing: StandingLanes

    /// Opens the journal, brings what an earlier run left open to a definite state, and starts to listen.
    ///
    /// - Throws: what keeps it from starting.
    public init(
        _ configuration: DaemonConfiguration, socket: ListeningSocket, logger: Logger
    ) async throws(StartError) {
        let settings = CurrentSettings(configuration)
        self.logger = logger
        let directory = configuration.journal.directory
        reserve = StorageReserve(folder: directory)
        let books = try Daemon.openJournal(directory, reserve, logger)
        let (journal, firstEvent, newest) = (books.journal, books.firstEvent, books.newest)
        installation = books.key
        let events = EventHub(firstID: firstEvent)
        let lanes = try Daemon.lanes(configuration)
        let trail = AuditTrail(journal: journal, logger: logger)
        let clock = ClockWatch(
            journal: newest, believed: books.believed, isSynchronized: configuration.surroundings.isClockSynchronized,
            events: events,
            logger: logger)
        let profiles = ProfileStore(settings, journal: journal, events: events, trail: trail, clock: clock)
        let outlet = EventOutlet(events: events, settings: settings)
        let contact: OnlineContact?
        do throws(SystemError) {
            journalHealth = try JournalHealth(
                journal, reserve, folder: directory, trail: trail, key: books.key.verificationKey)
        } catch {
            throw .stateDirectory(directory, errno: error.code)
        }
        await journalHealth.probe()
        do throws(JournalError) {
            try await journalHealth.noteDamaged()
            try await profiles.restore()
            contact = try await journal.use { (journal) throws(JournalError) in try journal.lastOnline() }.map {
                OnlineContact(at: $0.at, boot: $0.boot, serviceName: $0.serviceName)
            }
        } catch {
            throw StartError(opening: error, directory + "/" + Journal.fileName)
        }
        audit = AuditKeeper(
            journal: journal, events: events, key: installation, settings: settings, clock: clock,
            logger: logger)
        notes = StandingNotes(
            journal: journal, clock: clock, key: installation, believed: books.believed, contact: contact,
            logger: logger)
        expiry = ExpiryWatch(journal: journal, clock: clock, logger: logger, publish: outlet.publish)
        let payments = WorkQueue()
        let background = WorkQueue()
        let queue = PaymentQueue(
            journal: journal, outlet: outlet, key: installation, contact: contact, trail: trail, notes: notes,
            profiles: profiles)
        let reached = ReachabilitySignal()
        let health = AdapterHealthCheck(settings, clock: clock, logger: logger) {
            await queue.noteContact()
            await reached.ring()
        }
        reconciler = Reconciler(
            journal: journal, health: health, clock: clock, times: { settings.snapshot.adapter.times },
            services: { [profiles] in profiles.paymentServices }, logger: logger, publish: outlet.publish)
        days = EndOfDaySchedule(
            journal: journal, settings: settings, profiles: profiles, clock: clock, reconciler: reconciler,
            logger: logger, publish: outlet.publish)
        let engine = OperationEngine(
            journal: journal, outlet: outlet, profiles: profiles, health: health, clock: clock, work: background,
            logger: logger)
        let deleter = TokenDeleter(
            journal: journal, outlet: outlet, profiles: profiles, work: background, logger: logger)
        reached.onRing { [weak engine, weak deleter] in
            await engine?.hasten()
            await deleter?.hasten()
        }
        // The contact before it may have been with another payment service: whether this one is reached shows at once.
        profiles.onApplied { [weak health] in health?.hasten() }
        let runner = TransactionRunner(
            journal: journal, outlet: outlet,
            services: .init(
                queue: queue, health: health, engine: engine, forgetCards: { await deleter.look() }, work: background,
                lasting: payments),
            lanes: lanes, profiles: profiles, clock: clock, logger: logger)
        do throws(JournalError) {
            try await runner.recover()
            try await engine.recover()
            await deleter.look()
        } catch {
            throw StartError(opening: error, directory + "/" + Journal.fileName)
        }
        let start: @Sendable (TransactionID) -> Bool = { id in payments.add { await runner.run(id) } }
        standing = StandingLanes(
            runner: runner,
            admission: TransactionAdmission(
                runner: runner, desk: OperationAdmission(engine: engine, runner: runner), health: health),
            engine: engine, clock: clock, work: payments, start: start)
        do throws(JournalError) { try await standing.recover() } catch {
            throw StartError(opening: error, directory + "/" + Journal.fileName)
        }
        let connections = ConnectionCount()
        let api = PointOfSaleAPI(
            runner: runner, engine: engine, reconciler: reconciler, deleter: deleter, profiles: profiles,
            events: events,
            settings: settings, health: health,
            preparer: LanePreparer(runner: runner), queue: queue, standing: standing, trail: trail,
            journal: journalHealth,
            clock: clock,
            connections: connections,
            support: journal.support, version: Version.text,
            start: start, work: payments)
        // What the server refuses by itself, it refuses before it has read a language.
        let audience = Audience(
            support: SupportReference(configuration.support, installation: journal.support))
        server = HTTPServer(
            socket: socket, limits: configuration.surroundings.limits, logger: logger,
            refusalBody: { (try? WireJSON.encode(ErrorBody(ErrorCode($0)), for: audience)) ?? [] },
            connections: connections, standing: { settings.snapshot.access.standing(of: $0) },
            handler: api.answer)
        self.engine = engine
        (self.runner, self.events, self.payments, self.background) = (runner, events, payments, background)
        (self.settings, self.profiles, self.clock) = (settings, profiles, clock)
        (self.health, self.trail, self.queue) = (health, trail, queue)
        monitor = ReaderMonitor(runner)
        forwarder = QueueForwarder(queue: queue, runner: runner, logger: logger)
    }

    /// Serves until `shutDown` has done its work.
    ///
    /// - Throws: `StartError` if a socket stops listening.
    public func run() async throws(StartError) {
        await trail.note(AuditEntry(.operation, detail: "started \(Version.text) \(runner.mode.rawValue)"))
        let failure = await withTaskGroup(of: Void.self, returning: ListenError?.self) { group in
            group.addTask { await self.background.run() }
            group.addTask { await self.health.run() }
            group.addTask { await self.audit.run() }
            group.addTask { await self.days.run() }
            group.addTask { await self.reconciler.run() }
            group.addTask { await self.expiry.run() }
            group.addTask { await self.journalHealth.run() }
            group.addTask { await self.journalHealth.examineDaily { await self.runner.isQuiet() } }
            group.addTask { await self.clock.run() }
            group.addTask { await self.notes.run() }
            group.addTask { await self.scrubAsWished() }
            group.addTask { await LanePreparer(runner: self.runner).run() }
            group.addTask { await self.standing.run() }
            group.addTask { await self.monitor.run() }
            group.addTask { await self.profiles.run() }
            group.addTask { await self.forwarder.run() }
            let failure = await serve()
            group.cancelAll()
            // Whoever waits for a machine's word waits in vain: nothing carries out what it wants.
            await runner.giveUp(nil)
            return failure
        }
        for lane in await runner.books.lanes.all { await lane.close() }
        // The process may end before anybody lets go of them.
        for lane in settings.snapshot.configuration.lanes { lane.control?.stop() }
        await trail.note(AuditEntry(.operation, detail: "stopped"))
        await notes.keepNow()
        await runner.journal.scrub(logger)
        if let failure { throw .socket(failure) }
    }

    private func scrubAsWished() async {
        await runner.journal.scrubAsWished(logger) { await self.nobodyWaits() }
    }

    /// Returns when nobody would wait for the disk, neither a card that is read nor a till that is to be told; after two seconds in
    /// any case.
    private func nobodyWaits() async {
        for _ in 0..<40 {
            guard await runner.books.isDiskWanted else { return }
            do { try await Task.sleep(for: .milliseconds(50)) } catch { return }
        }
    }

    /// Serves, then lets what was begun come to its end.
    private func serve() async -> ListenError? {
        await withTaskGroup(of: ListenError?.self) { group in
            group.addTask {
                await self.payments.run()
                return nil
            }
            group.addTask {
                var failure: ListenError?
                do throws(ListenError) { try await self.server.run() } catch { failure = error }
                // No request can come any more: what runs ends, nothing new begins.
                _ = await self.runner.stop()
                self.payments.close()
                return failure
            }
            return await group.reduce(nil) { $0 ?? $1 }
        }
    }

    /// Takes no more transactions, cancels those without a card, and lets the others come to their end; then `run`
    /// returns.
    public func shutDown(grace: Duration = .seconds(30)) {
        payments.add {
            for committed in await self.runner.stop() { await committed.wait(atMost: .seconds(1)) }
            self.events.finish()
            self.server.shutDown(grace: grace)
        }
    }

    /// The journal, and what a start has to know of it.
    private struct OpenedJournal {
        let journal: JournalThread
        let key: SigningKey
        let firstEvent: UInt64
        /// Time of its newest entry.
        let newest: Timestamp?
        /// The last time that an earlier run believed.
        let believed: Timestamp?
    }

    private static func openJournal(
        _ directory: String, _ reserve: StorageReserve, _ logger: Logger
    ) throws(StartError) -> OpenedJournal {
        do throws(SystemError) { try DurableFile.makeFolder(directory) } catch {
            guard error.code == EEXIST else { throw .stateDirectory(directory, errno: error.code) }
        }
        let (journal, key) = try JournalBinding.open(directory) { line in
            logger.warning("new books", metadata: ["told": "\(line)"])
        }
        do throws(JournalError) {
            // More than one run ever publishes: an event's number is then never given twice without asking again.
            let first = try journal.reserveEvents(1_000_000_000)
            let newest = try journal.newestAuditTime()
            let believed = try journal.lastBelievedTime()
            do throws(SystemError) {
                let thread = try SerialThread(name: "journal")
                return OpenedJournal(
                    journal: JournalThread(journal, on: thread, reserve: reserve), key: key, firstEvent: first,
                    newest: newest, believed: believed)
            } catch {
                throw JournalError.failed(code: 0)
            }
        } catch {
            throw StartError(opening: error, directory + "/" + Journal.fileName)
        }
    }

    private static func lanes(_ configuration: DaemonConfiguration) throws(StartError) -> [Lane] {
        var lanes: [Lane] = []
        for setting in configuration.lanes {
            do throws(ReaderError) { lanes.append(try Lane(name: setting.name, source: setting.reader)) } catch {
                throw .lane(setting.name, error)
            }
        }
        return lanes
    }
}
