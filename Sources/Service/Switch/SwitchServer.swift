// SPDX-License-Identifier: Apache-2.0
import Envelope
public import ISO8583
import Linux
public import LocalHTTP
public import Logging
public import PaymentValues
import PostgreSQL

/// What one replica is started with.
///
/// More than fifteen stored properties: each is an option of the program.
public struct SwitchSettings: Sendable {
    /// Unix socket to listen at.
    public var socket: String
    /// libpq's own words.
    public var database: String
    public var connections = 8
    public var packager: Packager
    /// Lines to the same host, the one that is wanted first.
    public var acquirers: [AcquirerAddress] = []
    /// Field 32; left out where empty.
    public var acquirerNumber = ""
    /// The field in which the proxy tells the name of the till's certificate; `nil` where whoever reaches the socket is trusted.
    public var tillField: String?
    /// Requests of one till in a second; what comes faster is told to wait.
    public var tillRequests = 50
    /// Unix socket where operators read metrics and the page.
    public var desk: String?
    /// The file that remembers how far the books were: see `StoreMemory`.
    public var marks: String?
    /// Unix socket of the program that sends receipts; without it none are sent.
    public var receipts: String?
    /// Seconds for which the acquirer's machine may leave what was sent without an acknowledgement.
    public var lineSeconds = 10
    public var mode = Mode.test
    public var rules = LinkRules()
    /// Days for which sealed card numbers, and payments, are kept.
    public var cardDays: Int64 = 395
    public var days: Int64 = 3_650

    public init(socket: String, database: String, packager: Packager) {
        self.socket = socket
        self.database = database
        self.packager = packager
    }
}

public enum SwitchStartError: Error, Equatable, Sendable {
    case noThreads
    case databaseUnreachable
    /// The schema could not be made; SQLSTATE.
    case schema(state: String)
    /// A newer program has changed the database.
    case schemaNewer(Int64)
    case notDurable
    /// Ten replicas are at work already.
    case noSeat
    /// The machine's clock shows a time that no message can.
    case clock
    /// The messages of this version cannot be made yet.
    case packagerVersion
    case listen(ListenError)
    /// Another replica has taken the seat over: this one was silent for too long.
    case seatLost
    /// The open day is this one.
    case dayNotBegun(String)
    /// The file of `marks` says nothing that can be read.
    case marks(String)
    /// The packager wants codes of messages, and no key for them is named.
    case noMessageKey
    /// The database knows no such zone.
    case zone(String)
}

extension SwitchStartError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .noThreads: "no threads or descriptors are left: raise the limits of the service"
        case .databaseUnreachable: "no database can be reached: check --database, and that PostgreSQL runs"
        case .schema(let state):
            "the tables could not be made (SQLSTATE \(state)): let the database's user create tables in it"
        case .schemaNewer(let version):
            "the database has version \(version) of the tables: install the program that made them, or a newer one"
        case .notDurable: "the database runs with fsync off, which loses payments with the power: set fsync = on"
        case .noSeat: "ten replicas speak to the acquirer already: stop one, or wait until its lease ends"
        case .clock: "the machine's clock is wrong: set it"
        case .packagerVersion: "only packagers of version 1987 can be used: choose another one"
        case .listen(let error): "\(error)"
        case .dayNotBegun(let day):
            "the open day is \(day), which has not begun: the day before is closed already; check --time-zone"
        case .zone(let name): "“\(name)” is no time zone of the database: write one as Europe/Berlin or UTC"
        case .marks(let path):
            "\(path) is damaged: compare the books with the acquirer's list, then remove it (docs/service/payment-service.md, After a restore)"
        case .noMessageKey:
            "the packager's “mac” needs a key: name it with --mac-key, or with --zone-key where the acquirer hands keys over"
        case .seatLost: "another replica has taken the place of this one: start it again"
        }
    }
}

/// One replica: it keeps nothing but what is in the database.
public struct SwitchServer: Sendable {
    private let settings: SwitchSettings
    private let store: SwitchStore
    /// The lease has a connection of its own: no locked row keeps it waiting.
    private let leaseStore: SwitchStore
    private let lease = Lease()
    let memory: StoreMemory
    private let acquirer: Acquirer
    private let messages: HostMessages
    private let seat: Seat
    private let server: HTTPServer
    private let desk: HTTPServer?
    private let logger: Logger

    /// Brings the database up to date, takes a seat, and listens from here on.
    public init(
        _ settings: SwitchSettings, keys: any EnvelopeOpener, macs: (any MessageAuthenticator)? = nil, logger: Logger
    ) async throws(SwitchStartError) {
        guard settings.packager.version == .iso1987 else { throw .packagerVersion }
        guard settings.packager.mac == nil || macs != nil else { throw .noMessageKey }
        if let shortage = DescriptorLimit.provide(Self.descriptors(settings)) {
            logger.warning("connections \(shortage.problem): \(shortage.remedy(unit: "nfc-tap-switch@.service"))")
        }
        let (database, own): (Database, Database)
        do {
            database = try Database(settings.database, connections: settings.connections)
            own = try Database(settings.database, connections: 1)
        } catch { throw .noThreads }
        let store = SwitchStore(database: database)
        leaseStore = SwitchStore(database: own)
        try await Self.migrate(store)
        let begin = MachineClock.awake
        let seat = try await Self.seat(leaseStore)
        lease.renewed(at: begin)
        do throws(StoreMemory.Unreadable) { memory = try StoreMemory(path: settings.marks) } catch {
            throw .marks(settings.marks ?? "")
        }
        do throws(DatabaseError) {
            // Before anything that is open there is taken up.
            guard let mark = try await leaseStore.keepSeat(seat, trace: seat.trace) else { throw .unknown }
            Self.see(mark, memory, logger)
        } catch {
            throw .databaseUnreachable
        }
        guard let start = HostTime(Timestamp.now) else { throw .clock }
        let measures = SwitchMeasures()
        let keys = WatchedKeys(keys, measures, logger)
        let acquirer = Acquirer(
            packager: settings.packager, rules: settings.rules, store: store, keys: keys, seat: seat, start: start,
            logger: logger, measures: measures, macs: macs, heard: { [memory] in memory.hear($0) })
        let messages = HostMessages(packager: settings.packager, acquirer: settings.acquirerNumber)
        let roster = TillRoster(store: store, rate: settings.tillRequests)
        let service = SwitchService(
            store: store, roster: roster, keys: keys, lease: lease, memory: memory, messages: messages,
            acquirer: settings.acquirers.isEmpty ? nil : acquirer, logger: logger, measures: measures,
            mode: settings.mode, now: { .now }, outlet: settings.receipts.map { ReceiptOutlet(path: $0) })
        let routes = SwitchRoutes(service: service, tillField: settings.tillField)
        let page = OperatorPages(
            store: store, measures: measures, lease: lease, memory: memory, acquirer: service.acquirer)
        do throws(ListenError) {
            server = HTTPServer(
                socket: try ListeningSocket(path: settings.socket), limits: Self.limits, logger: logger, thread: .shared
            ) {
                await routes.answer($0)
            }
            desk = try settings.desk.map { (path) throws(ListenError) in
                HTTPServer(socket: try ListeningSocket(path: path), logger: logger) { await page.answer($0) }
            }
        } catch {
            throw .listen(error)
        }
        self.settings = settings
        self.store = store
        self.acquirer = acquirer
        self.messages = messages
        self.seat = seat
        self.logger = logger
    }

    private static var limits: HTTPLimits {
        var limits = HTTPLimits()
        // Its clients are one proxy, with a connection for each till that asks.
        limits.connections = 4_096
        limits.connectionsPerUser = 4_096
        limits.connectionsPerSecond = 10_000
        limits.relayed = 0
        return limits
    }

    /// File descriptors that a replica may need at a time: tills, operators, the database, the acquirer and the token.
    static func descriptors(_ settings: SwitchSettings) -> Int {
        limits.descriptors + HTTPLimits().descriptors + settings.connections + 1 + 64 + DescriptorLimit.ofProcess
    }

    private static func migrate(_ store: SwitchStore) async throws(SwitchStartError) {
        do throws(SwitchStore.MigrationError) {
            try await store.migrate()
        } catch {
            switch error {
            case .database(.refused(let state)): throw .schema(state: state)
            case .database: throw .databaseUnreachable
            case .newer(let version): throw .schemaNewer(version)
            case .notDurable: throw .notDurable
            }
        }
    }

    /// Waits for the lease of one that was killed, if need be.
    private static func seat(_ store: SwitchStore) async throws(SwitchStartError) -> Seat {
        for _ in 0..<(4 * SwitchStore.leaseSeconds) {
            do throws(DatabaseError) {
                if let seat = try await store.takeSeat() { return seat }
            } catch {
                throw .databaseUnreachable
            }
            // A cancelled sleep ends early, which does no harm.
            try? await Task.sleep(for: .milliseconds(500))
        }
        throw .noSeat
    }

    /// Serves until `shutDown` or cancellation.
    public func run() async throws(SwitchStartError) {
        let outcome = await withTaskGroup(of: SwitchStartError?.self, returning: SwitchStartError?.self) { group in
            group.addTask { await self.serve() }
            if let desk {
                group.addTask {
                    do throws(ListenError) { try await desk.run() } catch { return .listen(error) }
                    return nil
                }
            }
            group.addTask { await self.keepSeat() }
            group.addTask { await self.every(.milliseconds(50)) { await self.acquirer.tick() } }
            group.addTask { await self.every(.milliseconds(250)) { await self.work() } }
            group.addTask { await self.every(.seconds(1)) { await self.workSeldom() } }
            group.addTask { await self.every(.seconds(3_600)) { await self.erase() } }
            if !settings.acquirers.isEmpty {
                group.addTask(executorPreference: SocketThread.shared) {
                    await self.acquirer.stayConnected(to: settings.acquirers, lineSeconds: settings.lineSeconds)
                    return nil
                }
            }
            // Serving ends when it is asked to, keeping the seat when that is lost; the others when they are cancelled.
            let first = await group.next() ?? nil
            group.cancelAll()
            return first
        }
        if let outcome { throw outcome }
        // Should it fail, the seat is free when its lease ends.
        try? await leaseStore.leaveSeat(seat)
    }

    /// Ends the day in the books of all replicas; whichever of them runs tells the acquirer.
    ///
    /// - Parameters:
    ///   - zone: whose calendar says which day has begun; `nil` for the database's own.
    ///   - parts: by what the sums stand apart, each told the acquirer in a message of its own.
    /// - Throws: `dayNotBegun` where the open day is in the future, and why the database could not be asked.
    public static func closeDay(
        _ address: String, zone: String? = nil, by parts: Set<DayPart> = []
    ) async throws(SwitchStartError) -> [DayTotals] {
        let database: Database
        do { database = try Database(address, connections: 1) } catch { throw .noThreads }
        let early: String
        do throws(DatabaseError) {
            switch try await SwitchStore(database: database).closeDay(zone: zone, by: parts) {
            case .closed(let totals): return totals
            case .notBegun(let day): early = day
            }
        } catch {
            if case .refused(state: "22023") = error, let zone { throw .zone(zone) }
            if case .refused(let state) = error { throw .schema(state: state) }
            throw .databaseUnreachable
        }
        throw .dayNotBegun(early)
    }

    /// Says that books that were restored have been compared with the acquirer's list: replicas serve tills again.
    ///
    /// - Returns: the generation that begins.
    /// - Throws: why the database could not be asked.
    public static func compared(_ address: String) async throws(SwitchStartError) -> Int64 {
        let database: Database
        do { database = try Database(address, connections: 1) } catch { throw .noThreads }
        do throws(DatabaseError) { return try await SwitchStore(database: database).beginGeneration() } catch {
            if case .refused(let state) = error { throw .schema(state: state) }
            throw .databaseUnreachable
        }
    }

    public func shutDown() { server.shutDown(grace: .seconds(25)) }

    private func serve() async -> SwitchStartError? {
        do throws(ListenError) {
            try await server.run()
            return nil
        } catch {
            return .listen(error)
        }
    }

    private func every(_ interval: Duration, _ body: () async -> Void) async -> SwitchStartError? {
        while !Task.isCancelled {
            await body()
            // A cancelled sleep ends the loop.
            try? await Task.sleep(for: interval)
        }
        return nil
    }

    /// Holds the seat, and says how far its trace numbers may have been used before they are.
    private func keepSeat() async -> SwitchStartError? {
        while !Task.isCancelled {
            let reserved = await acquirer.reserved
            let begin = MachineClock.awake
            memory.beginLook()
            do throws(DatabaseError) {
                guard let mark = try await leaseStore.keepSeat(seat, trace: reserved) else {
                    await acquirer.lose()
                    return .seatLost
                }
                Self.see(mark, memory, logger)
                lease.renewed(at: begin)
                if memory.isBehind, !mark.isDoubted { try await leaseStore.doubt(mark) }
            } catch {
                logger.error("the database does not answer", metadata: ["error": "\(error)"])
            }
            // A cancelled sleep ends the loop.
            try? await Task.sleep(for: .seconds(2))
        }
        return nil
    }

    private static func see(_ mark: StoreMark, _ memory: StoreMemory, _ logger: Logger) {
        do throws(SystemError) {
            guard try memory.see(mark, at: MachineClock.awake) else { return }
            logger.critical(
                "the books are older than what this replica was told: they were restored, and lack payments. No till is served until a person has compared them",
                metadata: ["generation": "\(mark.generation)"])
        } catch {
            logger.error("the file of marks cannot be written", metadata: ["error": "\(error.remedy)"])
        }
    }

    /// Takes up what nobody speaks of. What books that are behind call open may have been decided since.
    private func work() async {
        guard !settings.acquirers.isEmpty, !memory.isBehind else { return }
        do throws(DatabaseError) {
            for row in try await store.takeWork(seat.owner, known: memory.known) { await acquirer.take(row) }
        } catch {
            // The books' own round comes again.
        }
    }

    /// Own exchanges that were not finished in ten seconds, what nobody listened for, and days that nobody was told of.
    private func workSeldom() async {
        guard !settings.acquirers.isEmpty, !memory.isBehind else { return }
        do throws(DatabaseError) {
            for row in try await store.ownWork(seat.owner, known: memory.known) { await acquirer.take(row) }
            let unheard = try await store.askAgain(after: settings.rules.unheardAfter, known: memory.known)
            if unheard > 0 {
                logger.notice(
                    "nobody would have heard an approval: taken back once more", metadata: ["count": "\(unheard)"])
            }
            guard await acquirer.isSignedOn else { return }
            for day in try await store.untoldDays(known: memory.known) {
                guard let message = messages.reconciliation(day) else { continue }
                // Apart: a host that is silent must not keep other work waiting. Asked twice, it is done once.
                Task { await acquirer.submit(.day(day), message) }
            }
        } catch {
            // The books' own round comes again.
        }
    }

    private func erase() async {
        do throws(DatabaseError) {
            let erased = try await store.erase(cardDays: settings.cardDays, days: settings.days)
            let state = try await store.imbalance()
            if erased.cards + erased.payments > 0 {
                logger.info("erased", metadata: ["cards": "\(erased.cards)", "payments": "\(erased.payments)"])
            }
            if state.unbalanced > 0 || state.stuck > 0 {
                logger.critical(
                    "the books are wrong: a person has to look at them",
                    metadata: ["unbalanced": "\(state.unbalanced)", "undecided": "\(state.stuck)"])
            }
        } catch {
            // It comes again.
        }
    }
}
