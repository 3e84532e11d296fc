// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import Foundation
import LocalHTTP
import Logging
import POSAPI
import PaymentValues
import Rigs
import Synchronization

/// Card and payment service in this process, the daemon between them: one clock sees the card's last byte and the request.
struct HandoverRun {
    /// When the card of a transaction answered last, and what it took from there.
    private final class Clock: Sendable {
        private let answered = Mutex<[String: UInt64]>([:])
        private let times = Mutex<[Double]>([])

        func cardAnswers(_ transaction: String) { answered.withLock { $0[transaction] = Stopwatch.wallTime() } }

        func requestArrives(_ transaction: String) {
            let now = Stopwatch.wallTime()
            guard let start = answered.withLock({ $0.removeValue(forKey: transaction) }) else { return }
            times.withLock { $0.append(Double(now - start)) }
        }

        var sorted: [Double] { times.withLock { $0.dropFirst(10).sorted() } }
    }

    /// Says when it has answered.
    struct TimedCard: VirtualCard {
        var card: any VirtualCard
        let pause: useconds_t
        let answered: @Sendable () -> Void

        var activation: CardActivation { card.activation }

        mutating func powerOn() { card.powerOn() }

        mutating func answer(_ command: [UInt8]) -> VirtualCardReply {
            let reply = card.answer(command)
            if pause > 0 { usleep(pause) }
            answered()
            return reply
        }
    }

    /// - Parameters:
    ///   - taps: of all lanes.
    ///   - pause: microseconds that the card takes for each command.
    /// - Returns: nanoseconds, sorted.
    func times(taps: Int, pause: useconds_t, lanes: Int = 1) async throws -> [Double] {
        let readers = (0..<lanes).map { "ACS ACR122U PICC Interface 0\($0) 00" }
        let clock = Clock()
        let rig = FakePCSCD(path: NSTemporaryDirectory() + "/bench-\(UUID().uuidString.prefix(8)).comm")
        try rig.start()
        defer { rig.die() }
        for reader in readers { try rig.plug(reader) }
        let programs = try Programs(
            readers: readers.map { "pcsc:\($0)" }, environment: ["PCSCLITE_CSOCK_NAME": rig.path], startsSandbox: false)
        defer { programs.stop() }
        let adapter = HTTPServer(
            socket: try ListeningSocket(path: programs.adapterSocket),
            logger: Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() }
        ) { request in
            guard request.path.last == "authorizations" else { return .json(200, HandoverRun.health) }
            clock.requestArrives(request.fields.only("Idempotency-Key") ?? "")
            return .json(200, HandoverRun.approval)
        }
        let serving = Task { try await adapter.run() }
        defer { serving.cancel() }
        guard let card = CardCatalogue.card(named: "visa") else { throw BenchmarkError.missing("the card visa") }
        let client = HTTPClient(path: programs.posSocket)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (lane, reader) in readers.enumerated() {
                let name = programs.laneName(lane)
                group.addTask {
                    for number in 0..<taps / lanes {
                        let id = try await armed(client, name, number)
                        try rig.insert(TimedCard(card: card, pause: pause) { clock.cardAnswers(id.text) }, into: reader)
                        let state = try await transaction(client, id, "?wait=30").state
                        guard state == .approved else { throw BenchmarkError.wrongResult("a tap ended \(state)") }
                        try rig.remove(from: reader)
                    }
                }
            }
            try await group.waitForAll()
        }
        return clock.sorted
    }

    /// Asks for a tap, and returns once the reader waits for a card: one that is there before would have to leave first.
    private func armed(_ client: HTTPClient, _ lane: String, _ number: Int) async throws -> TransactionID {
        let body = #"{"type":"purchase","amount":{"value":1200,"currency":"EUR"},"lane":"\#(lane)"}"#
        let fields: HTTPFields = ["Content-Type": "application/json", "Idempotency-Key": "handover-\(lane)-\(number)"]
        let answer = try await client.send(
            HTTPClientRequest(.post, "/v1/transactions", fields: fields, body: Array(body.utf8)),
            answerWithin: .seconds(10))
        let id = try WireJSON.decode(Transaction.self, from: answer.body).id
        for _ in 0..<1_000 {
            // An idle machine is what is asked about.
            try await Task.sleep(for: .milliseconds(10))
            if try await transaction(client, id).state == .armed { return id }
        }
        throw BenchmarkError.wrongResult("a reader does not wait for a card")
    }

    private func transaction(
        _ client: HTTPClient, _ id: TransactionID, _ query: String = ""
    ) async throws -> Transaction {
        let answer = try await client.send(
            HTTPClientRequest(.get, "/v1/transactions/\(id)\(query)"), answerWithin: .seconds(40))
        return try WireJSON.decode(Transaction.self, from: answer.body)
    }

    static var approval: [UInt8] { Array(#"{"outcome":"approved","responseCode":"00"}"#.utf8) }
    static var health: [UInt8] { Array(#"{"status":"ok","protocolVersions":["v1"],"supports":["sale"]}"#.utf8) }
}
