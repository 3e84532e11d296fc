// SPDX-License-Identifier: Apache-2.0
import Foundation
import Linux
import LocalHTTP
import PSPAPI
import PaymentValues
import PostgreSQL
import TestSupport
import Testing

@testable import Switch
@testable import rig_tills

/// Books that are older than what tills were told.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct RestoreTests {
    private func status(_ rig: SwitchRig, _ request: AuthorizationRequest) async throws -> Int {
        let fields: HTTPFields = ["Content-Type": "application/json", "Idempotency-Key": request.id.text]
        return try await HTTPClient(path: rig.sockets[0]).send(
            HTTPClientRequest(.post, "/v1/authorizations", fields: fields, body: try WireJSON.encode(request)),
            answerWithin: .seconds(30)
        ).status
    }

    private func health(_ rig: SwitchRig) async throws -> Int {
        let answer = try? await HTTPClient(path: rig.sockets[0]).send(
            HTTPClientRequest(.get, "/v1/health"), answerWithin: .seconds(20))
        return answer?.status ?? 0
    }

    private func copy(_ from: String, _ to: String) throws {
        let isDone = try StartedProgram("/bin/cp", ["-a", from, to], output: nil).waitUntilEnded()
        #expect(isDone)
    }

    private func approvals(_ rig: SwitchRig) throws -> Int {
        try String(contentsOf: rig.book, encoding: .utf8).split(separator: "\n").count { $0.contains(#""0200""#) }
    }

    /// The folder of the database as it was before a payment takes the place of the one after it. The host has the payment.
    @Test(
        "S18: after a restore to before a payment its till is told that nobody has it, until a person has compared the books"
    )
    func restored() async throws {
        let marks = FileManager.default.temporaryDirectory.appending(path: "marks-\(UUID().uuidString)").path()
        defer { try? FileManager.default.removeItem(atPath: marks) }
        try await SwitchRig.run(replicas: 1, sources: ["--trust-requests", "--marks", marks]) { rig in
            let till = TestTill(rig.sockets[0])
            try rig.server.crash()
            try copy(rig.server.data, rig.server.data + ".before")
            try rig.server.start()
            try await eventually("health") { try await health(rig) == 200 }
            let sale = try await till.sale(900)
            try await eventually("the sale") { try await till.post(sale).answer?.outcome == .approved }
            #expect(try approvals(rig) == 1)
            // A renewal of the lease after it.
            try await Task.sleep(for: .seconds(3))
            try rig.server.crash()
            try FileManager.default.removeItem(atPath: rig.server.data)
            try copy(rig.server.data + ".before", rig.server.data)
            // No restore is faster than a lease that is not renewed.
            try await Task.sleep(for: .seconds(7))
            try rig.server.start()
            #expect(try rig.server.sql("select count(*) from payment") == "0\n")
            for _ in 0..<40 {
                #expect(try await status(rig, sale) == 421)
                try await Task.sleep(for: .milliseconds(100))
            }
            // Also after its own death, from the file.
            rig.kill(0)
            try await eventually("the replica") { try await health(rig) == 503 }
            #expect(try await status(rig, sale) == 421)
            #expect(try rig.server.sql("select count(*) from payment") == "0\n")
            #expect(try approvals(rig) == 1)
            let metrics = try await till.text(rig.desks[0], "/metrics")
            #expect(metrics.contains("nfc_tap_switch_books_behind 1\n"))
            #expect(try rig.run(["compared", "--database", rig.server.address]))
            try await eventually("health after the comparison") { try await health(rig) == 200 }
            let next = try await till.sale(800)
            #expect(try #require(try await till.post(next).answer).outcome == .approved)
        }
    }

    @Test(
        "S18: books are behind that have a smaller transaction or generation, and stay so until the generation is counted up"
    )
    func memory() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "marks-\(UUID().uuidString)").path()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let second: UInt64 = 1_000_000_000
        let memory = try StoreMemory(path: path)
        #expect(try !memory.see(StoreMark(generation: 1, transaction: 700), at: 0))
        #expect(try !memory.see(StoreMark(generation: 1, transaction: 710), at: 20 * second))
        #expect(!memory.isBehind)
        #expect(try memory.see(StoreMark(generation: 1, transaction: 705), at: 21 * second))
        // They go on, past where the former ones were.
        #expect(try !memory.see(StoreMark(generation: 1, transaction: 900), at: 40 * second))
        #expect(memory.isBehind)
        let again = try StoreMemory(path: path)
        #expect(again.isBehind)
        #expect(try !again.see(StoreMark(generation: 2, transaction: 901), at: 0))
        #expect(!again.isBehind)
        #expect(try !StoreMemory(path: path).isBehind)
        #expect(try again.see(StoreMark(generation: 1, transaction: 950), at: second))
        try Data("2 9".utf8).write(to: URL(filePath: path))
        #expect(throws: StoreMemory.Unreadable.self) { _ = try StoreMemory(path: path) }
    }

    @Test("S18: a loss between two renewals of the lease is noticed by who was told of more, and known to all replicas")
    func heardBetweenRenewals() async throws {
        let memory = try StoreMemory(path: nil)
        #expect(try !memory.see(StoreMark(generation: 1, transaction: 700), at: 0))
        // A renewal is under way while a payment of a greater number is told: that is no loss.
        memory.beginLook()
        memory.hear(706)
        #expect(try !memory.see(StoreMark(generation: 1, transaction: 705), at: 1))
        // Restored to before it, which the last renewal had not seen.
        memory.beginLook()
        #expect(try memory.see(StoreMark(generation: 1, transaction: 705), at: 2))
        #expect(try !memory.see(StoreMark(generation: 2, transaction: 707), at: 3))
        #expect(!memory.isBehind)
        memory.beginLook()
        #expect(try !memory.see(StoreMark(generation: 2, transaction: 708), at: 4))
        // What one replica knows.
        let other = try StoreMemory(path: nil)
        #expect(try !other.see(StoreMark(generation: 2, transaction: 709), at: 0))
        #expect(try other.see(StoreMark(generation: 2, transaction: 710, isDoubted: true), at: 1))
        let new = try StoreMemory(path: nil)
        _ = try new.see(StoreMark(generation: 2, transaction: 711, isDoubted: true), at: 0)
        #expect(new.isBehind)
        #expect(try !new.see(StoreMark(generation: 3, transaction: 712), at: 1))
        #expect(!new.isBehind)
        let server = try PrivatePostgreSQL()
        let store = SwitchStore(database: try Database(server.address, connections: 1))
        try await store.migrate()
        let seat = try #require(try await store.takeSeat())
        let mark = try #require(try await store.keepSeat(seat, trace: 1))
        #expect(!mark.isDoubted)
        try await store.doubt(mark)
        #expect(try await store.keepSeat(seat, trace: 1)?.isDoubted == true)
        #expect(try await store.beginGeneration() == 2)
        #expect(try await store.keepSeat(seat, trace: 1)?.isDoubted == false)
        // Of a generation that is over.
        try await store.doubt(mark)
        #expect(try await store.keepSeat(seat, trace: 1)?.isDoubted == false)
    }

    /// A replica looks at the books every two seconds, and for work eight times as often: what restored books call open was decided in the time that is gone.
    @Test("S31: no work is taken from books that were restored a moment ago, before anybody has looked at them")
    func workOfRestoredBooks() async throws {
        let server = try PrivatePostgreSQL()
        let store = SwitchStore(database: try Database(server.address, connections: 1))
        try await store.migrate()
        let seat = try #require(try await store.takeSeat())
        let memory = try StoreMemory(path: nil)
        let mark = try #require(try await store.keepSeat(seat, trace: 1))
        _ = try memory.see(mark, at: 0)
        try server.sql(
            """
            insert into payment (id, merchant, body, kind, amount, currency, state)
                values ('01990000-0000-7000-8000-000000000001', 'm', decode(repeat('00', 32), 'hex'), 'sale', 1000, 'EUR', 'running');
            insert into exchange (id, payment, kind, owner, stage, type, trace, transmitted, sealed, changed)
                select id, id, 'payment', null, 'awaiting', '0200', '000001', '1124123456', 'x', now() - interval '1 minute' from payment;
            insert into day_end (id, day, currency, credits, credit_reversals, debits, debit_reversals, credit_amount,
                credit_reversal_amount, debit_amount, debit_reversal_amount)
                select gen_random_uuid(), day, 'EUR', 0, 0, 0, 0, 0, 0, 0, 0 from day
            """)
        let isUntold = try await store.untoldDays(known: nil).count == 1
        #expect(isUntold)
        // This replica was told of what these books have not had yet.
        memory.hear(mark.transaction + 1_000_000)
        for known in [memory.known, StoreMark(generation: mark.generation + 1, transaction: 1)] {
            #expect(try await store.takeWork(seat.owner, known: known).isEmpty)
            #expect(try await store.untoldDays(known: known).isEmpty)
        }
        try await store.doubt(mark)
        #expect(try await store.takeWork(seat.owner, known: mark).isEmpty)
        try server.sql("update generation set is_behind = false")
        #expect(try await store.takeWork(seat.owner, known: mark).count == 1)
        try server.sql("update exchange set changed = now() - interval '1 minute'")
        #expect(try await store.ownWork(seat.owner, known: memory.known).isEmpty)
        #expect(try await store.ownWork(seat.owner, known: mark).count == 1)
        #expect(try await store.untoldDays(known: mark).count == 1)
    }
}
