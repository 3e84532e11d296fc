// SPDX-License-Identifier: Apache-2.0
import CardSim
import Foundation
import LocalHTTP
import Logging
import POSAPI
import PaymentValues
import Rigs
import Synchronization

/// From a card's last byte to what a machine or a till hears of it: a gate's decision on a lane that stands alone, by offline
/// authentication and deny list and without a network; beside it, in the same run and in turns, a sale that is stored because its
/// payment service is away, and a sale whose service answers at once.
enum GateBenchmark {
    /// Of the whole time of the sale that is stored.
    private static let target = 0.5

    static func run(taps: Int) async throws {
        Table.section("From a card's last byte to its event, one lane each, in turns, \(taps) taps")
        let gate = try await GateLane(standing: true)
        defer { gate.stop() }
        let till = try await GateLane(standing: false)
        defer { till.stop() }
        var (asked, stored, offered): ([Double], [Double], [Double]) = ([], [], [])
        try await till.withService {
            for _ in 0..<taps { asked.append(try await till.time(to: .paymentAuthorizing, endsWith: .paymentApproved)) }
        }
        for _ in 0..<taps {
            stored.append(try await till.time(to: .paymentStored))
            offered.append(try await gate.time(to: .tapOffered))
        }
        let skip = min(10, taps / 2)
        asked = asked.dropFirst(skip).sorted()
        stored = stored.dropFirst(skip).sorted()
        offered = offered.dropFirst(skip).sorted()
        let whole = stored.percentile(50)
        Table.yardstick("payment.stored of a sale without its service", p50: whole, p99: stored.percentile(99))
        let ratio = offered.percentile(50) / whole
        Table.row(
            "tap.offered of a gate", ratio: ratio, p50: offered.percentile(50), p99: offered.percentile(99),
            target: target)
        Table.row(
            "payment.authorizing of a sale with its service", p50: asked.percentile(50), p99: asked.percentile(99),
            beside: whole)
        let apart = offered.percentile(99) - asked.percentile(99)
        Table.note("tap.offered is later than payment.authorizing by \(Table.duration(max(0, apart))) at p99, aim 1 ms")
    }
}

/// One daemon with one reader of a pcscd in this process, and the stream of its events.
private final class GateLane {
    private static let reader = "ACS ACR122U PICC Interface 00 00"
    private let rig: FakePCSCD
    private let programs: Programs
    private let client: HTTPClient
    private let standing: Bool
    private var events: EventStream.AsyncIterator
    private let lastByte = Shared()
    private var sales = 0

    private final class Shared: Sendable {
        let time = Mutex<UInt64>(0)
    }

    init(standing: Bool) async throws {
        self.standing = standing
        rig = FakePCSCD(path: NSTemporaryDirectory() + "/gate-\(UUID().uuidString.prefix(8)).comm")
        try rig.start()
        try rig.plug(Self.reader)
        let terminal = try String(contentsOfFile: "docs/examples/terminal-test.json", encoding: .utf8)
        var file = """
            mode = "test"
            [terminal]
            id = "00000001"
            merchant = "TEST MERCHANT"
            country = 276
            file = "FOLDER/terminal.json"
            [deny-list]
            entries = "FOLDER/deny-list"
            file = "FOLDER/deny-list.key"
            [offline]
            count = 1000
            per-card = 1000
            [[offline.currency]]
            code = "EUR"
            amount = 2000
            total = 2000000
            [[lane]]
            name = "main"
            reader = "pcsc:\(Self.reader)"

            """
        if standing {
            file += """
                [lane.standing]
                mode = "ask"
                amount = 500
                currency = "EUR"
                debounce-seconds = 0
                open-sessions = 64
                taps-per-hour = 3600
                test = true

                """
        }
        let denied = (0..<1_000).map { String(repeating: "0", count: 60) + String(format: "%04x", $0) }
        programs = try Programs(
            readers: [], environment: ["PCSCLITE_CSOCK_NAME": rig.path], startsSandbox: false,
            files: [
                "nfc-tapd.toml": file, "deny-list": denied.joined(separator: "\n"),
                "deny-list.key": String(repeating: "k", count: 32),
                "terminal.json": terminal.replacing(#""floor": 0"#, with: #""floor": 100000"#),
            ])
        client = HTTPClient(path: programs.posSocket)
        events = try await client.events(
            HTTPClientRequest(.get, "/v1/events?vocabulary=3"), answerWithin: .seconds(10)
        ).makeAsyncIterator()
    }

    func stop() {
        programs.stop()
        rig.die()
    }

    /// A payment service that approves at once, for as long as `body` runs.
    func withService(_ body: () async throws -> Void) async throws {
        let socket = try ListeningSocket(path: programs.adapterSocket)
        let adapter = HTTPServer(socket: socket, logger: Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() }) {
            $0.path.last == "authorizations"
                ? .json(200, HandoverRun.approval) : .json(200, HandoverRun.health)
        }
        let serving = Task { try await adapter.run() }
        try await body()
        serving.cancel()
        _ = await serving.result
        _ = unsafe unlink(programs.adapterSocket)
    }

    /// - Returns: nanoseconds from the card's last byte to the event.
    func time(to name: EventName, endsWith last: EventName? = nil) async throws -> Double {
        if !standing { try await arm() }
        // An idle machine is what is asked about, and a reader that has seen the card before leave.
        try await Task.sleep(for: .milliseconds(60))
        guard let card = CardCatalogue.card(named: "visa-afl") else {
            throw BenchmarkError.missing("the card visa-afl")
        }
        let lastByte = lastByte
        let timed = HandoverRun.TimedCard(card: card, pause: 0) {
            lastByte.time.withLock { $0 = Stopwatch.wallTime() }
        }
        try rig.insert(timed, into: Self.reader)
        let (event, time) = try await heard(name)
        let taken = Double(time) - Double(lastByte.time.withLock(\.self))
        if let last { _ = try await heard(last) }
        try rig.remove(from: Self.reader)
        if standing, let id = event.transaction {
            let answer = try await client.send(
                HTTPClientRequest(.post, "/v1/sessions/\(id)/release"), answerWithin: .seconds(10))
            guard answer.status == 200 else { throw BenchmarkError.wrongResult("a release: \(answer.status)") }
        }
        return taken
    }

    private func arm() async throws {
        sales += 1
        let body = #"{"type":"purchase","amount":{"value":500,"currency":"EUR"},"detached":true}"#
        let fields: HTTPFields = ["Content-Type": "application/json", "Idempotency-Key": "gate-\(sales)"]
        let answer = try await client.send(
            HTTPClientRequest(.post, "/v1/transactions", fields: fields, body: Array(body.utf8)),
            answerWithin: .seconds(10))
        guard [200, 201, 202].contains(answer.status) else {
            throw BenchmarkError.wrongResult("a sale: \(String(decoding: answer.body, as: UTF8.self))")
        }
        _ = try await heard(.readReadyForTap)
    }

    private func heard(_ name: EventName) async throws -> (event: Event, time: UInt64) {
        while let next = try await events.next() {
            let time = Stopwatch.wallTime()
            let event = try WireJSON.decode(Event.self, from: Array(next.data.utf8))
            if event.name == name { return (event, time) }
            if [.readNotCompleted, .tapRefused, .paymentDeclined].contains(event.name) {
                throw BenchmarkError.wrongResult("\(event.name.rawValue): \(event.error?.code ?? "no reason")")
            }
        }
        throw BenchmarkError.failed("no more events")
    }
}
