// SPDX-License-Identifier: Apache-2.0
import Foundation
import LocalHTTP
import Logging
import PaymentValues
import Synchronization
import TestSupport
import Testing

@testable import Gateway

/// What tills ask at once, against a daemon that answers a wait when its client has gone and everything else at once.
@Suite("The way to the daemon", .timeLimit(.minutes(10)))
struct UpstreamTests {
    private struct Seen: Equatable {
        var method: HTTPMethod
        var path: String
        var waits: Bool
        /// The connection, by its number.
        var on: UInt64
    }

    private final class Daemon: Sendable {
        private let requests = Mutex<[Seen]>([])
        private let running = Mutex(Set<UInt64>())
        private let most = Mutex(0)
        /// What was sent and answered, as the test counts it.
        private let ended = Mutex(0)
        private let isHolding = Mutex(false)

        var seen: [Seen] { requests.withLock { $0 } }
        var waiting: Set<UInt64> { running.withLock { $0 } }
        var mostWaiting: Int { most.withLock { $0 } }
        var answered: Int { ended.withLock { $0 } }

        func countAnswer() { ended.withLock { $0 += 1 } }

        /// From now on a question without a wait has its answer once nobody holds it any more.
        func hold(_ holds: Bool) { isHolding.withLock { $0 = holds } }

        func answer(_ request: HTTPRequest) async -> HTTPResponse {
            let waits = request.fields.contains("Prefer") || request.query.contains { $0.name == "wait" }
            let connection = request.connection
            let path = "/" + request.path.joined(separator: "/")
            requests.withLock { $0.append(Seen(method: request.method, path: path, waits: waits, on: connection.id)) }
            if waits {
                let count = running.withLock { running in
                    running.insert(connection.id)
                    return running.count
                }
                most.withLock { $0 = max($0, count) }
                await connection.closed()
                _ = running.withLock { $0.remove(connection.id) }
            }
            while request.method == .get, isHolding.withLock({ $0 }) { try? await Task.sleep(for: .milliseconds(5)) }
            return HTTPResponse(status: 200)
        }
    }

    private static let till = Till(
        till: "bar-1", hash: "", roles: [.cashier], lanes: ["main"], types: [.purchase], origins: [],
        createdAt: DoorTests.now)
    private static let path = "/v1/transactions/01a2037f-7168-7d2c-9e61-5263e834c583"

    private static func question(waits: Bool, _ method: HTTPMethod = .get, query: Bool = false) -> HTTPClientRequest {
        var request = HTTPClientRequest(method, query && waits ? path + "?wait=600" : path)
        if waits, !query { request.fields.set("Prefer", "respond-async, wait=600") }
        return request
    }

    private func run(_ body: (Upstream, Daemon) async throws -> Void) async throws {
        let folder = NSTemporaryDirectory() + "gw-" + UUID().uuidString.prefix(8)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let daemon = Daemon()
        var limits = HTTPLimits()
        (limits.connections, limits.connectionsPerUser) = (64, 64)
        let server = HTTPServer(
            socket: try ListeningSocket(path: folder + "/s"), limits: limits, logger: Logger(label: "test"),
            handler: { await daemon.answer($0) })
        let upstream = Upstream(path: folder + "/s")
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run() }
            defer { group.cancelAll() }
            await upstream.enter("bar-1")
            try await body(upstream, daemon)
            await upstream.drop("bar-1")
        }
    }

    @Test("A3: a cancel beside thirty waits is answered, and a wait too many is answered as things are")
    func cancelBesideWaits() async throws {
        try await run { upstream, daemon in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<30 {
                    group.addTask {
                        _ = try? await upstream.send(
                            Self.question(waits: true, query: number.isMultiple(of: 2)), for: Self.till)
                        daemon.countAnswer()
                    }
                }
                try await eventually("those beyond the till's waits") {
                    daemon.answered == 30 - Upstream.waitsPerTill
                        && daemon.waiting.count == Upstream.waitsPerTill
                }
                for _ in 0..<10 {
                    let answer = try await upstream.send(Self.question(waits: false, .delete), for: Self.till)
                    #expect(answer.status == 200)
                }
                #expect(daemon.mostWaiting == Upstream.waitsPerTill)
                #expect(daemon.answered == 30 - Upstream.waitsPerTill, "the waits go on")
                #expect(
                    daemon.seen.allSatisfy { $0.waits || !daemon.waiting.contains($0.on) }, "nothing stands behind one")
                group.cancelAll()
                try await group.waitForAll()
            }
        }
    }

    @Test(
        "A3: where a till's lines are all in use, a question stands behind what ends soon, and a cancel behind nothing")
    func behindWhatEnds() async throws {
        try await run { upstream, daemon in
            try await withThrowingTaskGroup(of: Void.self) { group in
                func ask(waits: Bool) {
                    group.addTask {
                        _ = try? await upstream.send(Self.question(waits: waits), for: Self.till)
                        daemon.countAnswer()
                    }
                }
                for _ in 0..<Upstream.waitsPerTill { ask(waits: true) }
                try await eventually("the waits") { daemon.waiting.count == Upstream.waitsPerTill }
                daemon.hold(true)
                let others = Upstream.connectionsPerTill - Upstream.waitsPerTill
                for _ in 0..<others { ask(waits: false) }
                try await eventually("all lines in use") { daemon.seen.count { !$0.waits } == others }
                ask(waits: false)
                // Should it come later, it finds a line that is free, and nothing is shown.
                try await Task.sleep(for: .milliseconds(200))
                #expect(try await upstream.send(Self.question(waits: false, .delete), for: Self.till).status == 200)
                daemon.hold(false)
                try await eventually("the answers") { daemon.answered == others + 1 }
                #expect(daemon.waiting.count == Upstream.waitsPerTill, "the waits go on")
                group.cancelAll()
                try await group.waitForAll()
            }
        }
    }

    @Test("A3: a wait ends with its client, the next one has its place, and the till does not leave its payment")
    func waitEndsWithClient() async throws {
        try await run { upstream, daemon in
            for round in 1...3 {
                let waits = (0..<Upstream.waitsPerTill).map { _ in
                    Task { try? await upstream.send(Self.question(waits: true), for: Self.till) }
                }
                try await eventually("every wait, round \(round)") { daemon.waiting.count == Upstream.waitsPerTill }
                let before = daemon.seen.count { !$0.waits }
                for wait in waits { wait.cancel() }
                for wait in waits { #expect(await wait.value == nil) }
                try await eventually("the end of the waits, round \(round)") { daemon.waiting.isEmpty }
                // Without one that asked for it the daemon would cancel the payment two seconds later.
                try await eventually("the payment to be asked for, round \(round)") {
                    daemon.seen.count { !$0.waits } >= before + Upstream.waitsPerTill
                }
            }
        }
    }

    @Test("A3: what waits is told from what does not, and asks the same without waiting")
    func waits() {
        for (target, prefer, waits, plain) in [
            ("/v1/a", nil, false, "/v1/a"), ("/v1/a?wait=5", nil, true, "/v1/a"),
            ("/v1/a?key=wait%3D5", nil, false, "/v1/a?key=wait%3D5"),
            ("/v1/a?x=1&wait=5&y=2", nil, true, "/v1/a?x=1&y=2"), ("/v1/a", "wait=5", true, "/v1/a"),
            ("/v1/a", "return=minimal, Wait = 5", true, "/v1/a"), ("/v1/a", "return=minimal", false, "/v1/a"),
        ] {
            var request = HTTPClientRequest(.get, target)
            if let prefer { request.fields.set("Prefer", prefer) }
            #expect(request.waits == waits, "\(target) \(prefer ?? "-")")
            #expect(request.withoutWait.target == plain && !request.withoutWait.waits)
        }
    }
}
