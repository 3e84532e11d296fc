// SPDX-License-Identifier: Apache-2.0
import Foundation
import ISO8583
import Linux
import LocalHTTP
import PSPAPI
import PaymentValues
import PostgreSQL
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

    // MARK: - S3, S9

    /// A door without an acquirer before these keys. Its lease is renewed with each question.
    private struct Keyhole: Sendable {
        let path: String
        let server: PrivatePostgreSQL

        func send(_ method: HTTPMethod, _ target: String, _ till: String? = nil, body: [UInt8] = [], key: String = "k")
            async throws -> HTTPClientAnswer
        {
            var fields: HTTPFields = ["Content-Type": "application/json", "Idempotency-Key": key]
            if let till { fields.set("X-Till", till) }
            return try await HTTPClient(path: path).send(
                HTTPClientRequest(method, target, fields: fields, body: body), answerWithin: .seconds(300))
        }

        func ask(_ target: String, _ till: String? = nil) async throws -> Int {
            try await send(.get, target, till).status
        }
    }

    /// - Parameter waiting: what may wait for the database.
    private func withDoor(
        _ keys: FailingKeys, waiting: Int = 1_000, _ body: (Keyhole) async throws -> Void
    ) async throws {
        let database = try PrivatePostgreSQL()
        try await SwitchStore(database: try Database(database.address, connections: 1)).migrate()
        let store = SwitchStore(database: try Database(database.address, connections: 1, waiting: waiting))
        try database.sql(
            """
            insert into merchant (id, acceptor) values ('adapter-check', 'M');
            insert into terminal values ('adapter-check', '00000001', 'TERM0001');
            insert into till (name, merchant) values ('till-1', 'adapter-check')
            """)
        let (measures, book, lease) = (SwitchMeasures(), LogBook(), Lease())
        let service = SwitchService(
            store: store, roster: TillRoster(store: store, rate: 1_000), keys: WatchedKeys(keys, measures, book.logger),
            lease: lease, memory: try StoreMemory(path: nil),
            messages: HostMessages(packager: try Packager(.bcd1987), acquirer: ""), acquirer: nil, logger: book.logger,
            measures: measures, mode: .test, now: { .now })
        let routes = SwitchRoutes(service: service, tillField: "X-Till")
        let path = FileManager.default.temporaryDirectory.appending(path: "door-\(UUID().uuidString.prefix(8))").path()
        var limits = HTTPLimits()
        (limits.connections, limits.connectionsPerUser, limits.connectionsPerSecond) = (1_000, 1_000, 10_000)
        let server = HTTPServer(socket: try ListeningSocket(path: path), limits: limits, logger: book.logger) {
            lease.renewed(at: MachineClock.awake)
            return await routes.answer($0)
        }
        async let end: Void = server.run()
        var failure: (any Error)?
        do { try await body(Keyhole(path: path, server: database)) } catch { failure = error }
        server.shutDown(grace: .zero)
        try await end
        if let failure { throw failure }
    }

    @Test("S3: requests of one certificate beyond its share hear 429, and a place that was left is free")
    func share() async throws {
        let gate = Counter()
        let keys = try FailingKeys {
            while gate.count == 0 { try? await Task.sleep(for: .milliseconds(5)) }
            return nil
        }
        try await withDoor(keys) { door in
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<260 { group.addTask { try await door.ask("/v1/keys", "till-1") } }
                var statuses: [Int] = []
                for try await status in group {
                    statuses.append(status)
                    // Four are told at once; the others have their places until the keys are there.
                    if statuses.count == 4 { gate.add() }
                }
                return statuses
            }
            #expect(statuses.count { $0 == 429 } == 4 && statuses.count { $0 == 200 } == 256)
            #expect(try await door.ask("/v1/keys", "till-1") == 200)
        }
    }

    @Test("S9: neither health nor keys ask token and database for each question")
    func foundOnce() async throws {
        let (asked, well, begin) = (Counter(), Counter(), MachineClock.awake)
        let keys = try FailingKeys {
            asked.add()
            return .unavailable
        }
        try await withDoor(keys) { (door) async throws in
            for _ in 0..<50 {
                #expect(try await door.ask("/v1/health") == 503)
                #expect(try await door.ask("/v1/keys", "till-1") == 503)
            }
        }
        let seconds = Int((MachineClock.awake - begin) / 1_000_000_000)
        #expect(asked.count <= 2 * (1 + seconds), "\(asked.count) in \(seconds) s")
        let open = try FailingKeys {
            well.add()
            return nil
        }
        // S6: what was opened a moment ago says that it can be opened.
        try await withDoor(open) { (door) async throws in
            let begin = MachineClock.awake
            #expect(try await door.ask("/v1/keys", "till-1") == 200)
            #expect(try await door.ask("/v1/health") == 200)
            #expect(well.count == 1 || MachineClock.awake - begin > 5_000_000_000)
        }
    }

    /// A token that has too much to do, and one that is waited for by a till that goes.
    @Test("S6: what would come too late is refused with Retry-After and not begun, and what nobody waits for is left")
    func tooLate() async throws {
        let sale = try await TestTill("/nowhere").sale(900)
        let body = try WireJSON.encode(sale)
        try await withDoor(try FailingKeys { .busy }) { door in
            let answer = try await door.send(.post, "/v1/authorizations", "till-1", body: body, key: sale.id.text)
            #expect(answer.status == 503 && answer.fields.only("Retry-After") == "1")
            #expect(try door.server.sql("select count(*) from payment") == "0\n")
        }
        let (begun, left) = (Counter(), Counter())
        let slow = try FailingKeys {
            begun.add()
            while !Task.isCancelled { try? await Task.sleep(for: .milliseconds(5)) }
            left.add()
            return .unavailable
        }
        try await withDoor(slow) { door in
            let till = Task {
                try await door.send(.post, "/v1/authorizations", "till-1", body: body, key: sale.id.text)
            }
            try await eventually("an envelope that waits") { begun.count == 1 }
            till.cancel()
            try await eventually("its end") { left.count == 1 }
            _ = await till.result
        }
    }

    @Test("S6: what finds too much before the database was not begun, and may come again in a second")
    func tooMuch() async throws {
        try await withDoor(try FailingKeys { nil }, waiting: 0) { door in
            let answer = try await door.send(.get, "/v1/keys", "till-1")
            #expect(answer.status == 503 && answer.fields.only("Retry-After") == "1")
        }
    }

    @Test("S16: a refund to a card that cannot be read now is not refused, and nothing of it is written down")
    func unreadableNow() async throws {
        let fault = SharedFault(.unavailable)
        let payment = "01990000-0000-7000-8000-000000000001"
        let read = try await TestTill("/nowhere").sale(100, .refund)
        let refund = RefundRequest(
            id: read.id, mode: .test, amount: read.amount, card: .any, authorization: read)
        try await withDoor(try FailingKeys { fault.now }) { door in
            try door.server.sql(
                """
                insert into payment (id, merchant, body, kind, amount, currency, state, answer, authorised, captured)
                    values ('\(payment)', 'adapter-check', decode(repeat('00', 32), 'hex'), 'sale', 1000, 'EUR', 'approved', '{}', 1000, 1000)
                """)
            for refusal in [OpeningRefusal.unavailable, .busy] {
                fault.now = refusal
                let path = "/v1/authorizations/\(payment)/refunds"
                let body = try WireJSON.encode(refund)
                let answer = try await door.send(.post, path, "till-1", body: body, key: read.id.text)
                #expect(answer.status == 503, "\(refusal)")
            }
            #expect(try door.server.sql("select count(*) from operation") == "0\n")
        }
    }

    @Test("S19: payments and operations of another merchant are to a till as those that nobody has")
    func otherMerchant() async throws {
        try await withDoor(try FailingKeys { nil }) { door in
            let (payment, refund) = ("01990000-0000-7000-8000-000000000001", "01990000-0000-7000-8000-000000000003")
            try door.server.sql(
                """
                insert into payment (id, merchant, body, kind, amount, currency, state, answer, authorised, captured)
                    values ('\(payment)', 'other', decode(repeat('00', 32), 'hex'), 'sale', 1000, 'EUR', 'approved', '{}', 1000, 1000);
                insert into operation (id, payment, kind, body, amount, state, answer)
                    values ('\(refund)', '\(payment)', 'refund', decode(repeat('00', 32), 'hex'), 100, 'approved', '{}')
                """)
            #expect(try await door.ask("/v1/authorizations/\(payment)", "till-1") == 404)
            #expect(try await door.ask("/v1/operations/\(refund)", "till-1") == 404)
            let body = try WireJSON.encode(ReversalRequest(reason: .customerCancel))
            for id in [payment, refund, TransactionID().text] {
                let path = "/v1/authorizations/\(id)/reversals"
                let answer = try await door.send(.post, path, "till-1", body: body, key: id)
                #expect(answer.status == 200, "\(id)")
            }
            #expect(try door.server.sql("select state from payment where merchant = 'other'") == "approved\n")
            #expect(try door.server.sql("select state from operation") == "approved\n")
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
