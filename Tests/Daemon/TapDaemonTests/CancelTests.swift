// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
import POSAPI
import PSPSandbox
import PaymentValues
import ReaderVirtual
import TestSupport
import Testing
import Transactions

@testable import TapDaemon

@Suite("Acceptance test 3 (requirement 50): cancelling, disconnecting, and the lane after", .timeLimit(.minutes(5)))
struct CancelTests {
    @Test("An armed transaction is cancelled, the lane is free, and the next one works")
    func armed() async throws {
        try await Shop.withSandbox { shop, sandbox in
            let connection = try await shop.client.connect()
            let id = try await shop.post(purchase(700), over: connection).transaction().id
            _ = try await shop.reach([.armed], id)
            let answer = try await shop.delete("/v1/transactions/\(id)")
            #expect(answer.status == 200)
            #expect(try answer.cancel().outcome == .cancelled)
            #expect(try answer.cancel().transaction.cancelledBy == .client)
            try shop.reader.obey("present visa")
            #expect(try await shop.post(purchase(700), wait: 20).transaction().state == .approved)
            #expect(await sandbox.ledger.transactions.count == 1)
        }
    }

    @Test("A card in the field makes a cancel too late, and the payment goes on")
    func reading() async throws {
        try await Shop.withSandbox { shop, _ in
            // The card is read for so long that nobody comes too late to see it.
            try shop.reader.obey("delay 2000")
            try shop.reader.obey("present visa")
            let connection = try await shop.client.connect()
            let id = try await shop.post(purchase(700), over: connection).transaction().id
            _ = try await shop.reach([.reading], id)
            let answer = try await shop.delete("/v1/transactions/\(id)").cancel()
            #expect(answer.outcome == .tooLate && answer.phase == .reading)
            try shop.reader.obey("delay 0")
            #expect(try await shop.reach([.approved], id).result?.outcome == .approved)
        }
    }

    @Test("R3 a phone that asks for its holder for ever, and stays where it is, keeps no cancel waiting")
    func phone() async throws {
        try await Shop.open(in: try TestFolder()) { shop in
            try shop.reader.obey("present see-phone-forever")
            let id = try await shop.post(purchase(700, more: #","detached":true"#)).transaction().id
            try await eventually("the phone asks") {
                let events = try await shop.get("/v1/transactions/\(id)").transaction().events ?? []
                return events.contains { $0.name == .readRetry && $0.message == .seePhone }
            }
            let answer = try await shop.delete("/v1/transactions/\(id)").cancel()
            #expect(answer.outcome == .cancelled && answer.transaction.state == .cancelled)
            try await shop.lanes(are: .ready)
        }
    }

    @Test("Cancelling what is over answers that there is nothing to cancel, and changes nothing")
    func over() async throws {
        try await Shop.withSandbox { shop, _ in
            try shop.reader.obey("present visa")
            let id = try await shop.post(purchase(700), wait: 20).transaction().id
            let answer = try await shop.delete("/v1/transactions/\(id)").cancel()
            #expect(answer.outcome == .nothingToCancel && answer.transaction.state == .approved)
        }
    }

    @Test("Cancelling what does not exist is refused")
    func unknown() async throws {
        try await Shop.open(in: try TestFolder()) { shop in
            for name in [TransactionID().text, "nonsense", "..%2f..%2fetc"] {
                let answer = try await shop.delete("/v1/transactions/\(name)")
                #expect(answer.status == 404)
                #expect(try answer.error().code == "transaction.unknown")
            }
        }
    }

    @Test("A client that disconnects cancels its armed transaction, and the lane is free")
    func disconnected() async throws {
        let folder = try TestFolder()
        try await Shop.open(in: folder) { shop in
            let connection = try await shop.client.connect()
            let id = try await shop.post(purchase(700), over: connection).transaction().id
            _ = try await shop.reach([.armed], id)
            await connection.close()
            let end = try await shop.reach([.cancelled], id)
            #expect(end.cancelledBy == .disconnect)
            let lane = try await shop.get("/v1/lanes/lane-0")
            #expect(try WireJSON.decode(LaneStatus.self, from: lane.body).state == .ready)
        }
    }

    @Test("A client that asks again on another connection keeps its transaction")
    func askedAgain() async throws {
        try await Shop.open(in: try TestFolder()) { shop in
            let connection = try await shop.client.connect()
            let id = try await shop.post(purchase(700), over: connection).transaction().id
            _ = try await shop.reach([.armed], id)
            let own = try #require(await shop.runner.books.holders.connections(of: id).first)
            #expect(await shop.runner.change({ $0.hold(id, by: 1_000_001) }))
            #expect(await shop.runner.change({ $0.letGo(id, by: own) }) == nil)
            let first = try #require(await shop.runner.change({ $0.letGo(id, by: 1_000_001) }))
            #expect(await shop.runner.books.isAbandoned(id, since: first))
            #expect(await shop.runner.change({ $0.hold(id, by: 1_000_002) }))
            let second = try #require(await shop.runner.change({ $0.letGo(id, by: 1_000_002) }))
            #expect(await !shop.runner.books.isAbandoned(id, since: first))
            #expect(await shop.runner.books.isAbandoned(id, since: second))
        }
    }

    @Test("A detached transaction goes on without any client")
    func detachedTransaction() async throws {
        try await Shop.withSandbox { shop, _ in
            let connection = try await shop.client.connect()
            let body = purchase(700, more: #","detached":true"#)
            let id = try await shop.post(body, over: connection).transaction().id
            let own = try #require(await shop.runner.books.holders.connections(of: id).first)
            #expect(await shop.runner.change({ $0.letGo(id, by: own) }) == nil)
            await connection.close()
            try shop.reader.obey("present visa")
            #expect(try await shop.reach([.approved, .cancelled], id).state == .approved)
        }
    }

    @Test("A second transaction on a busy lane is told which one is in progress")
    func busy() async throws {
        try await Shop.open(in: try TestFolder()) { shop in
            let connection = try await shop.client.connect()
            let id = try await shop.post(purchase(700), over: connection).transaction().id
            let answer = try await shop.post(purchase(800))
            #expect(answer.status == 409)
            #expect(try answer.error().code == "reader.busy" && answer.error().transaction == id)
            #expect(try shop.journal("SELECT count(*) FROM payment") == "1")
        }
    }

    @Test("No card in time fails with what to offer, and frees the lane")
    func timedOut() async throws {
        try await Shop.open(in: try TestFolder()) { shop in
            let transaction = try await shop.post(purchase(700, more: #","deadline":1"#), wait: 20).transaction()
            #expect(transaction.state == .failed && transaction.error?.code == "read.timed_out")
            #expect(await shop.runner.laneStatuses().first?.state == .ready)
        }
    }

    @Test("A reader that goes away while armed fails the transaction, and the lane works again once it is back")
    func detached() async throws {
        try await Shop.withSandbox { shop, _ in
            let connection = try await shop.client.connect()
            let id = try await shop.post(purchase(700), over: connection).transaction().id
            _ = try await shop.reach([.armed], id)
            try shop.reader.obey("detach")
            #expect(try await shop.reach([.failed], id).error?.code == "reader.detached")
            let refused = try await shop.post(purchase(700))
            #expect(refused.status == 503)
            #expect(try refused.error().code == "reader.detached")
            try shop.reader.obey("attach")
            try shop.reader.obey("present visa")
            while await shop.runner.laneStatuses().first?.state != .ready {
                try await Task.sleep(for: .milliseconds(20))
            }
            #expect(try await shop.post(purchase(700), wait: 20).transaction().state == .approved)
        }
    }

    @Test("A stop of the daemon cancels an armed transaction and says so")
    func shutDown() async throws {
        let folder = try TestFolder()
        var id: TransactionID?
        try await Shop.open(in: folder) { shop in
            id = try await shop.post(purchase(700, more: #","detached":true"#)).transaction().id
            _ = try await shop.reach([.armed], try #require(id))
        }
        let state = try sqlite(folder.path + "/state/journal.sqlite", "SELECT state, cancelled_by FROM payment")
        #expect(state == "cancelled|shutdown")
    }
}
