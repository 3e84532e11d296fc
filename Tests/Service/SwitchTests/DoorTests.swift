// SPDX-License-Identifier: Apache-2.0
import Linux
import LocalHTTP
import PSPAPI
import PaymentValues
import Synchronization
import TestSupport
import Testing

@testable import Switch
@testable import rig_tills

/// Health, keys, and who gets in.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct DoorTests {
    private func ask(_ rig: SwitchRig, _ path: String, _ till: String? = nil) async throws -> HTTPClientAnswer {
        var fields: HTTPFields = [:]
        if let till { fields.set("X-Till", till) }
        return try await HTTPClient(path: rig.sockets[0]).send(
            HTTPClientRequest(.get, path, fields: fields), answerWithin: .seconds(20))
    }

    private func status(_ rig: SwitchRig, _ path: String, _ till: String? = nil) async throws -> Int {
        try await ask(rig, path, till).status
    }

    // MARK: - S6

    /// The table of terminals is locked for a moment; until then nothing of the payment is written.
    @Test("S6: a payment whose till has gone before it was begun is not begun")
    func left() async throws {
        try await SwitchRig.run(replicas: 1) { rig in
            func begun() throws -> String { try rig.server.sql("select count(*) from payment") }
            var sale = try await TestTill(rig.sockets[0]).sale(900)
            // A machine without a processor to spare may see too late that the till has gone.
            for attempt in 1... {
                let before = try begun()
                try await leave(rig, sale)
                if try begun() == before { break }
                try #require(attempt < 6, "begun each time")
                sale = try await TestTill(rig.sockets[0]).sale(900)
            }
            // It asks again, hears that nobody has it, and sends it once more.
            #expect(try #require(try await TestTill(rig.sockets[0]).post(sale).answer).outcome == .approved)
        }
    }

    /// A till that is gone before the switch may write.
    private func leave(_ rig: SwitchRig, _ sale: AuthorizationRequest) async throws {
        let locks = "pg_locks where relation = 'terminal'::regclass and mode = 'AccessExclusiveLock' and granted"
        // Given up by the end of its session: on a busy machine nobody sees a lock of a second and a half.
        async let lock = Task.detached {
            try? rig.server.sql("begin; lock table terminal; select pg_sleep(100); commit")
        }.value
        try await eventually("the lock") { try rig.server.sql("select count(*) from \(locks)") == "1\n" }
        let fields: HTTPFields = ["Content-Type": "application/json", "Idempotency-Key": sale.id.text]
        await #expect(throws: HTTPClientError.self) {
            try await HTTPClient(path: rig.sockets[0]).send(
                HTTPClientRequest(.post, "/v1/authorizations", fields: fields, body: try WireJSON.encode(sale)),
                answerWithin: .milliseconds(400))
        }
        // The switch waits two seconds for a lock.
        try await Task.sleep(for: .seconds(1))
        try rig.server.sql("select pg_terminate_backend(pid) from \(locks)")
        _ = await lock
        try await Task.sleep(for: .seconds(2))
    }

    // MARK: - S7

    @Test("S7: a replica that has not renewed its lease for six seconds writes no sale")
    func lease() {
        let lease = Lease()
        #expect(!lease.isFresh(at: 0))
        lease.renewed(at: 1_000_000_000)
        #expect(lease.isFresh(at: 6_900_000_000))
        #expect(!lease.isFresh(at: 7_000_000_000))
    }

    /// As a full disk: reads go on.
    @Test("S7: health says that no sale can be written")
    func readOnly() async throws {
        try await SwitchRig.run(replicas: 1) { rig in
            #expect(try await status(rig, "/v1/health") == 200)
            try rig.server.sql("alter system set default_transaction_read_only = on")
            try rig.server.sql("select pg_reload_conf()")
            try await eventually("a health that is down") {
                let answer = try await ask(rig, "/v1/health")
                guard answer.status == 503 else { return false }
                return try WireJSON.decode(AdapterHealth.self, from: answer.body).status == .down
            }
        }
    }

    // MARK: - S9

    @Test("S9: an answer is found once in a second, however many ask")
    func cached() async throws {
        let cache = CachedAnswer()
        let counter = Counter()
        let begin = MachineClock.awake
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<500 {
                group.addTask {
                    _ = await cache.answer {
                        counter.add()
                        return .running
                    }
                }
            }
        }
        let seconds = Int((MachineClock.awake - begin) / 1_000_000_000)
        #expect(counter.count <= 1 + seconds)
    }

    @Test("S9: health and keys are behind the door: a blocked till hears 403, and the proxy's own question is served")
    func blocked() async throws {
        try await SwitchRig.run(replicas: 1, sources: ["--till-field", "X-Till", "--till-requests", "2"]) { rig in
            try rig.server.sql(
                """
                insert into till (name, merchant, blocked) values ('till-1', 'adapter-check', false), ('till-2', 'adapter-check', true)
                """)
            for path in ["/v1/health", "/v1/keys"] {
                #expect(try await status(rig, path, "till-1") == 200)
                #expect(try await status(rig, path, "till-2") == 403)
                #expect(try await status(rig, path, "nobody") == 403)
                #expect(try await status(rig, path, "") == 403)
            }
            #expect(try await status(rig, "/v1/health") == 200)
            #expect(try await status(rig, "/v1/keys") == 403)
            var told: [HTTPClientAnswer] = []
            for _ in 0..<200 { told.append(try await ask(rig, "/v1/health", "till-1")) }
            let refused = try #require(told.first { $0.status == 429 })
            #expect(refused.fields.only("Retry-After").flatMap { Int($0) } ?? 0 >= 1)
        }
    }

    // MARK: - S15

    /// The lock is held by a session of its own for ten seconds; one connection serves all tills.
    @Test("S15: a locked table keeps neither lease nor health waiting")
    func locked() async throws {
        try await SwitchRig.run(replicas: 1, sources: ["--trust-requests", "--connections", "1"]) { rig in
            async let lock = Task.detached {
                try rig.server.sql("begin; lock table payment; select pg_sleep(10); commit")
            }.value
            let till = TestTill(rig.sockets[0])
            let sale = try await till.sale(900)
            async let answer = try? till.post(sale)
            for _ in 0..<36 {
                #expect(try await status(rig, "/v1/health") == 200)
                try await Task.sleep(for: .milliseconds(250))
            }
            _ = try await lock
            _ = await answer
        }
    }
}

/// How often something was done.
final class Counter: Sendable {
    private let state = Mutex(0)

    func add() { state.withLock { $0 += 1 } }
    var count: Int { state.withLock { $0 } }
}
