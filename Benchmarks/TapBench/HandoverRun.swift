import CardBytes
import CardSim
import Foundation
import LocalHTTP
import Logging
import Rigs
import Synchronization
import Wire

/// Card and payment service in this process, the daemon between them: one clock sees the card's last byte and the request.
struct HandoverRun {
    private static let reader = "ACS ACR122U PICC Interface 00 00"

    /// When the card answered last, and what it took from there.
    private final class Clock: Sendable {
        private let answered = Mutex<UInt64>(0)
        private let times = Mutex<[Double]>([])

        func cardAnswers() { answered.withLock { $0 = Stopwatch.wallTime() } }

        func requestArrives() {
            let start = answered.withLock { $0 }
            times.withLock { $0.append(Double(Stopwatch.wallTime() - start)) }
        }

        var sorted: [Double] { times.withLock { $0.dropFirst(10).sorted() } }
    }

    private struct TimedCard: VirtualCard {
        var card: any VirtualCard
        let clock: Clock

        var activation: CardActivation { card.activation }

        mutating func powerOn() { card.powerOn() }

        mutating func answer(_ command: [UInt8]) -> VirtualCardReply {
            let reply = card.answer(command)
            clock.cardAnswers()
            return reply
        }
    }

    /// - Returns: nanoseconds, sorted.
    func times(taps: Int) async throws -> [Double] {
        let clock = Clock()
        let rig = FakePCSCD(path: NSTemporaryDirectory() + "/bench-\(UUID().uuidString.prefix(8)).comm")
        try rig.start()
        defer { rig.die() }
        try rig.plug(Self.reader)
        let programs = try Programs(
            readers: ["pcsc:\(Self.reader)"], environment: ["PCSCLITE_CSOCK_NAME": rig.path], startsSandbox: false)
        defer { programs.stop() }
        let adapter = HTTPServer(
            socket: try ListeningSocket(path: programs.adapterSocket),
            logger: Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() }
        ) { request in
            guard request.path.last == "authorizations" else { return .json(200, HandoverRun.health) }
            clock.requestArrives()
            return .json(200, HandoverRun.approval)
        }
        let serving = Task { try await adapter.run() }
        defer { serving.cancel() }
        guard let card = CardCatalogue.card(named: "visa") else { throw BenchmarkError.missing("the card visa") }
        let client = HTTPClient(path: programs.posSocket)
        for number in 0..<taps {
            try rig.insert(TimedCard(card: card, clock: clock), into: Self.reader)
            let body = #"{"type":"purchase","amount":{"value":1200,"currency":"EUR"}}"#
            let fields: HTTPFields = [
                "Content-Type": "application/json", "Idempotency-Key": "handover-\(number)", "Prefer": "wait=30",
            ]
            let answer = try await client.send(
                HTTPClientRequest(.post, "/v1/transactions", fields: fields, body: Array(body.utf8)),
                answerWithin: .seconds(40))
            let state = try WireJSON.decode(Transaction.self, from: answer.body).state
            guard state == .approved else { throw BenchmarkError.wrongResult("a tap ended \(state)") }
            try rig.remove(from: Self.reader)
            // An idle machine is what is asked about.
            try await Task.sleep(for: .milliseconds(20))
        }
        return clock.sorted
    }

    private static var approval: [UInt8] { Array(#"{"outcome":"approved","responseCode":"00"}"#.utf8) }
    private static var health: [UInt8] { Array(#"{"status":"ok","protocolVersions":["v1"],"supports":["sale"]}"#.utf8) }
}
