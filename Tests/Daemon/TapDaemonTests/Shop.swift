// SPDX-License-Identifier: Apache-2.0
import CardSim
import Configuration
import Envelope
import Foundation
import Journal
import LocalHTTP
import Logging
import POSAPI
import PSPAPI
import PSPSandbox
import PaymentValues
import ReaderCore
import ReaderVirtual
import Settings
import TapSession
import TerminalFile
import TestSupport
import Testing

@testable import TapDaemon

/// A folder that goes with the test.
final class TestFolder: Sendable {
    let path: String

    init() throws {
        path = "/tmp/shop-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// A daemon with a virtual reader, as a shop would have it: everything is real but the card and its reader.
final class Shop: Sendable {
    /// What differs between shops.
    struct Wish: Sendable {
        var access = Access.ownerOnly
        var remote: RemoteSettings?
        var offline: ConfigurationFile.Offline?
        var formerServices: [String: ConfigurationFile.FormerService] = [:]
        /// Name of the adapter's socket in the folder.
        var adapterSocket = "psp.sock"
        var terminal = Terminal.test
        var boot = "boot-1"
        var lanes = 1
        var times = AdapterTimes()
        var patience: Duration = .seconds(3)
        var groups: [String: [String]] = [:]
        /// The PIN device of every lane.
        var pinDevice: PINDeviceSettings?
        /// Lanes whose reader hangs, or is not there, from the start.
        var hanging: [Int] = []
        var unplugged: [Int] = []
        /// Whether every lane is ready before anything is asked for.
        var awaitsLanes = true
        var loyalty = LoyaltyOffer.test
        /// In place of the virtual readers.
        var sources: [ReaderSource] = []
        var mode = Mode.test
        /// Of every lane, where they stand alone.
        var standing: StandingSettings?
        var profile: ProfileSettings?
        var merchant: Merchant?
        var allowsCardCommands = false
        var clock: @Sendable () -> Timestamp = { .now }
        var logger = Shop.quiet
        var healthInterval: Duration = .seconds(30)

        init() {
            // A busy machine is no silent payment service.
            times.connect = .seconds(5)
            times.answer = .seconds(5)
            times.query = .seconds(5)
            times.handover = .seconds(2)
            times.pause = .milliseconds(20)
            times.attempts = RetrySchedule(.milliseconds(20), .milliseconds(50), .milliseconds(100))
        }

        /// For tests whose payment service never gives the answer that is waited for.
        static var hasty: Wish {
            var wish = Wish()
            wish.times.answer = .milliseconds(1_500)
            return wish
        }
    }

    let folder: TestFolder
    let readers: [VirtualReaderControl]
    let client: HTTPClient
    let daemon: Daemon

    var runner: TransactionRunner { daemon.runner }
    var profiles: ProfileStore { daemon.profiles }
    var reader: VirtualReaderControl { readers[0] }

    private init(folder: TestFolder, readers: [VirtualReaderControl], daemon: Daemon) {
        self.folder = folder
        self.readers = readers
        self.daemon = daemon
        var client = HTTPClient(path: folder.path + "/pos.sock")
        // As the CLI's: a whole batch is larger than any adapter's answer.
        client.maximumAnswerBytes = 4 << 20
        self.client = client
    }

    /// Runs `body` in a shop whose daemon stops afterwards.
    static func open(
        in folder: TestFolder, _ wish: Wish = Wish(), _ body: (Shop) async throws -> Void
    ) async throws {
        var readers: [VirtualReaderControl] = []
        for index in 0..<wish.lanes {
            readers.append(
                try VirtualReaderControl(name: "virtual-\(index)", cardNames: CardCatalogue.names) {
                    CardCatalogue.card(named: $0)
                })
        }
        for index in wish.hanging { try readers[index].obey("hang") }
        for index in wish.unplugged { try readers[index].obey("detach") }
        var configuration = try DaemonConfiguration(in: folder)
        configuration.lanes = (wish.sources.isEmpty ? readers.map { .virtual($0) } : wish.sources).enumerated()
            .map { .init(name: "lane-\($0.offset)", reader: $0.element) }
        configuration.access = wish.access
        configuration.remote = wish.remote
        configuration.offline = wish.offline
        configuration.formerServices = wish.formerServices
        configuration.adapter.socket = "\(folder.path)/\(wish.adapterSocket)"
        configuration.terminal = wish.terminal
        configuration.surroundings.boot = wish.boot
        configuration.merchant = wish.merchant
        configuration.diagnostics.cardCommands = wish.allowsCardCommands
        configuration.support.url = "https://example.com/help"
        configuration.adapter.times = wish.times
        configuration.laneGroups = wish.groups
        if let device = wish.pinDevice {
            configuration.file.pinDevices = ["pad": device]
            configuration.file.lanes = configuration.lanes.map {
                var lane = ConfigurationFile.Lane(name: $0.name, reader: .virtual("unused"))
                lane.pinDevice = "pad"
                return lane
            }
        }
        if let standing = wish.standing {
            configuration.file.lanes = configuration.lanes.map {
                var lane = ConfigurationFile.Lane(name: $0.name, reader: .virtual("unused"))
                lane.standing = standing
                return lane
            }
        }
        configuration.surroundings.patience = wish.patience
        configuration.offer = wish.loyalty
        (configuration.mode, configuration.profile) = (wish.mode, wish.profile)
        configuration.surroundings.clock = wish.clock
        configuration.surroundings.healthInterval = wish.healthInterval
        let daemon = try await Daemon(
            configuration, socket: try ListeningSocket(path: folder.path + "/pos.sock"), logger: wish.logger)
        let shop = Shop(folder: folder, readers: readers, daemon: daemon)
        async let end: Void = daemon.run()
        var failure: (any Error)?
        do {
            if wish.awaitsLanes { try await shop.lanes(are: .ready) }
            try await body(shop)
        } catch {
            failure = error
        }
        for reader in readers { try reader.obey("resume") }
        daemon.shutDown(grace: .milliseconds(200))
        try await end
        if let failure { throw failure }
    }

    /// Runs `body` in a shop with the sandbox behind it, in a folder of its own.
    static func withSandbox(_ wish: Wish = Wish(), _ body: (Shop, Sandbox) async throws -> Void) async throws {
        let folder = try TestFolder()
        try await TapDaemonTests.withSandbox(in: folder) { sandbox in
            try await open(in: folder, wish) { try await body($0, sandbox) }
        }
    }

    /// The test terminal with a floor limit below which cards may approve by themselves.
    static func offlineTerminal() throws -> TerminalFile {
        let text = try Checkout.text("docs/examples/terminal-test.json")
            .replacing(#""floor": 0"#, with: #""floor": 100000"#)
        return try TerminalFile(json: Array(text.utf8))
    }

    static var quiet: Logger { Logger(label: "test") { _ in SwiftLogNoOpLogHandler() } }

    /// A request for a payment.
    @discardableResult
    func post(
        _ body: String, key: String = UUID().uuidString, wait: Int? = nil, over connection: HTTPClientConnection? = nil
    ) async throws -> Answer {
        var fields: HTTPFields = ["Content-Type": "application/json", "Idempotency-Key": key]
        if let wait { fields.set("Prefer", "wait=\(wait)") }
        let request = HTTPClientRequest(.post, "/v1/transactions", fields: fields, body: Array(body.utf8))
        return try await send(request, over: connection)
    }

    /// A call that changes something but is no request for a transaction.
    func post(to target: String, _ body: String = "") async throws -> Answer {
        let fields: HTTPFields = body.isEmpty ? [:] : ["Content-Type": "application/json"]
        return try await send(HTTPClientRequest(.post, target, fields: fields, body: Array(body.utf8)))
    }

    func get(_ target: String) async throws -> Answer { try await send(HTTPClientRequest(.get, target)) }

    func prepare(_ lane: String, wait: Int? = nil) async throws -> Answer {
        var request = HTTPClientRequest(.post, "/v1/lanes/\(lane)/prepare")
        if let wait { request.fields.set("Prefer", "wait=\(wait)") }
        return try await send(request)
    }

    func delete(_ target: String) async throws -> Answer { try await send(HTTPClientRequest(.delete, target)) }

    /// Any request; its answer has to be one that docs/openapi.yaml knows.
    func send(_ request: HTTPClientRequest, over connection: HTTPClientConnection? = nil) async throws -> Answer {
        let answer =
            if let connection { try await connection.send(request, answerWithin: hangLimit) } else {
                try await client.send(request, answerWithin: hangLimit)
            }
        if let complaint = WrittenContract.current.complaint(request, answer) { Issue.record("\(complaint)") }
        return Answer(answer)
    }

    /// Waits until a transaction is in one of these states, however long it takes within reason.
    func reach(_ states: Set<TransactionState>, _ id: TransactionID) async throws -> Transaction {
        try await eventually("\(states.map(\.rawValue))") {
            try await runner.transaction(id).flatMap { states.contains($0.state) ? $0 : nil }
        }
    }

    /// Waits until every lane is in this state.
    func lanes(are state: LaneStatus.State) async throws {
        try await eventually("lanes in state \(state.rawValue)") {
            await runner.laneStatuses().allSatisfy { $0.state == state }
        }
    }

    /// What `sqlite3`, an independent program, finds in the journal.
    func journal(_ sql: String) throws -> String { try sqlite(folder.path + "/state/journal.sqlite", sql) }
}

extension DaemonConfiguration {
    /// Without lanes and profile, in a test's folder.
    init(in folder: TestFolder) throws(ConfigurationError) {
        var host = ConfigurationHost()
        (host.runtimeDirectory, host.stateDirectory) = (folder.path, folder.path + "/state")
        try self.init(defaultsOf: host, readers: [])
        file.profile = nil
    }
}

/// A whole answer, to look into.
struct Answer: Sendable {
    let status: Int
    let fields: HTTPFields
    let body: [UInt8]

    init(_ answer: HTTPClientAnswer) {
        status = answer.status
        fields = answer.fields
        body = answer.body
    }

    var text: String { String(decoding: body, as: UTF8.self) }

    func transaction() throws -> Transaction { try WireJSON.decode(Transaction.self, from: body) }

    func cancel() throws -> CancelAnswer { try WireJSON.decode(CancelAnswer.self, from: body) }

    func preparation() throws -> PrepareAnswer { try WireJSON.decode(PrepareAnswer.self, from: body) }

    func error() throws -> ErrorDetail { try WireJSON.decode(ErrorBody.self, from: body).error }
}

func sqlite(_ path: String, _ sql: String) throws -> String {
    try Peer.sqlite(path, sql, "-readonly")
}

/// The sandbox adapter on the shop's adapter socket, for the length of `body`.
func withSandbox(
    in folder: TestFolder, _ timing: SandboxTiming = SandboxTiming(slow: .milliseconds(300), late: .seconds(3)),
    key: RecipientPrivateKey? = nil, _ body: (Sandbox) async throws -> Void
) async throws {
    let sandbox = Sandbox(key: try key ?? TestRecipient.privateKey(), timing: timing)
    try await serve(sandbox, in: folder) { try await body(sandbox) }
}

/// A sandbox that answers for the length of `body`, and keeps its books beyond it.
func serve(_ sandbox: Sandbox, in folder: TestFolder, _ body: () async throws -> Void) async throws {
    let server = try SandboxServer(path: folder.path + "/psp.sock", sandbox: sandbox, logger: Shop.quiet)
    async let end: Void = server.run()
    var failure: (any Error)?
    do { try await body() } catch { failure = error }
    server.shutDown()
    try await end
    if let failure { throw failure }
}

func purchase(_ value: Int64, order: String? = nil, more: String = "") -> String {
    let order = order.map { #","order":"\#($0)""# } ?? ""
    return #"{"type":"purchase","amount":{"value":\#(value),"currency":"EUR"}\#(order)\#(more)}"#
}

extension Shop {
    /// Everything that was said up to an event, by a stream of vocabulary 2.
    ///
    /// - Parameter id: of the transaction that it has to be about; `nil` for any.
    func events(until last: EventName, of id: TransactionID? = nil) async throws -> [Event] {
        let stream = try await client.events(
            HTTPClientRequest(.get, "/v1/events?vocabulary=2", fields: ["Last-Event-ID": "0"]), answerWithin: hangLimit)
        var events: [Event] = []
        for try await next in stream {
            let event = try WireJSON.decode(Event.self, from: Array(next.data.utf8))
            events.append(event)
            if event.name == last, id == nil || event.transaction == id { break }
        }
        return events
    }
}

/// What a hand that is not the daemon's does to a journal, while the daemon runs or not.
func alterJournal(in folder: TestFolder, _ sql: String) throws {
    try Peer.alter(folder.path + "/state/journal.sqlite", sql)
}
