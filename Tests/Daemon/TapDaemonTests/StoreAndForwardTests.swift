// SPDX-License-Identifier: Apache-2.0
import Configuration
import Foundation
import Journal
import LocalHTTP
import POSAPI
import PSPAPI
import PSPSandbox
import PaymentValues
import ReaderVirtual
import StoreAndForward
import TestSupport
import Testing
import Transactions

@testable import TapDaemon

@Suite("Store and forward", .timeLimit(.minutes(10)))
struct StoreAndForwardTests {
    /// A shop that stores, whose cards may approve by themselves. It has been online in this run of the machine.
    private func offline(
        in folder: TestFolder, _ change: (inout Shop.Wish) -> Void = { _ in }, _ body: (Shop) async throws -> Void
    ) async throws {
        let wish = try Self.wish(change)
        try await withSandbox(in: folder) { _ in
            try await Shop.open(in: folder, wish) { shop in
                while try await queue(shop).expires == nil { try await Task.sleep(for: .milliseconds(5)) }
            }
        }
        try await Shop.open(in: folder, wish, body)
    }

    static func wish(_ change: (inout Shop.Wish) -> Void = { _ in }) throws -> Shop.Wish {
        var wish = Shop.Wish()
        wish.terminal.file = try Shop.offlineTerminal()
        wish.offline = .init(rules: OfflineRules(currencies: ["EUR": .init(amount: 2_000, total: 20_000)], count: 10))
        wish.times.forwarding = .milliseconds(20)
        change(&wish)
        return wish
    }

    private func queue(_ shop: Shop) async throws -> QueueStatus {
        try WireJSON.decode(QueueStatus.self, from: try await shop.get("/v1/queue").body)
    }

    /// A payment with a card that approves by itself.
    private func pay(_ shop: Shop, _ value: Int64 = 500, card: String = "visa-afl", more: String = "") async throws
        -> Transaction
    {
        try shop.reader.obey("present \(card)")
        let transaction = try await shop.post(purchase(value, more: more), wait: 20).transaction()
        try shop.reader.obey("remove")
        return transaction
    }

    private func batch(_ shop: Shop, _ body: String = "") async throws -> QueueBatch {
        try WireJSON.decode(QueueBatch.self, from: try await shop.post(to: "/v1/queue/batches", body).body)
    }

    @Test("A card's approval is stored while the adapter is away, and forwarded once it is back, once")
    func stored() async throws {
        let folder = try TestFolder()
        try await offline(in: folder) { shop in
            let stored = try await pay(shop)
            #expect(stored.state == .stored && stored.result?.outcome == .stored)
            #expect(!stored.history.contains { $0.state == .sent })
            let status = try await queue(shop)
            #expect(status.count == 1 && status.totals.map(\.value) == [500] && status.refusal == nil)
            // Said when the reader has let the card go, which may be after the answer.
            try await eventually("payment.stored") {
                shop.runner.events.kept(about: stored.id).contains { $0.name == .paymentStored }
            }
            try await withSandbox(in: folder) { sandbox in
                let end = try await shop.reach([.approved], stored.id)
                #expect(end.result?.outcome == .approved && end.result?.approvalCode != nil)
                let ledger = await sandbox.ledger
                #expect(ledger.transactions.map(\.outstanding) == [500])
                #expect(ledger.transactions.map(\.offline) == [true])
                #expect(try await queue(shop).count == 0)
                let events = shop.runner.events.kept(about: stored.id)
                #expect(events.count { $0.name == .queueForwarded } == 1)
            }
            #expect(try shop.journal("SELECT authorization IS NULL FROM payment") == "1")
            #expect(try shop.journal("SELECT count(*) FROM queue_record") == "0")
        }
    }

    @Test("A card that wants to ask its bank is not stored, nor what the rules refuse; each has its reason")
    func refused() async throws {
        let folder = try TestFolder()
        try await offline(in: folder) { shop in
            let online = try await pay(shop, card: "mastercard-online")
            #expect(online.state == .failed && online.error?.code == "offline.card_asks_online")
            #expect(try await pay(shop, 2_001).error?.code == "offline.amount_exceeded")
            #expect(try await pay(shop, more: #","confirmWithin":60"#).error?.code == "offline.not_allowed")
            for _ in 0..<3 { #expect(try await pay(shop, 100).state == .stored) }
            #expect(try await pay(shop, 100).error?.code == "offline.card_too_often")
            #expect(try shop.journal("SELECT count(*) FROM payment WHERE authorization IS NOT NULL") == "3")
        }
    }

    @Test("Without rules nothing is stored")
    func off() async throws {
        let folder = try TestFolder()
        try await Shop.open(in: folder, try Self.wish { $0.offline = nil }) { shop in
            let transaction = try await pay(shop)
            let status = try await queue(shop)
            #expect(transaction.error?.code == "psp.unreachable")
            #expect(status.refusal?.code == "offline.not_allowed")
        }
    }

    @Test("Acceptance test 5: another start of the machine ends storing, and what is stored is still forwarded")
    func rebooted() async throws {
        let folder = try TestFolder()
        var first: TransactionID?
        try await offline(in: folder) { shop in first = try await pay(shop).id }
        let id = try #require(first)
        try await Shop.open(in: folder, try Self.wish { $0.boot = "another" }) { shop in
            #expect(try await pay(shop).error?.code == "offline.invalidated")
            try await withSandbox(in: folder) { sandbox in
                _ = try await shop.reach([.approved], id)
                #expect(await sandbox.ledger.transactions.map(\.outstanding) == [500])
            }
        }
    }

    @Test("Acceptance test 5: a read that asks for authorisation and is too old is never sent")
    func oldRead() async throws {
        let folder = try TestFolder()
        try await withSandbox(in: folder) { sandbox in
            try await Shop.open(in: folder, try Self.wish { $0.times.readLife = .seconds(-1) }) { shop in
                let transaction = try await pay(shop, card: "visa")
                #expect(transaction.state == .failed && transaction.error?.code == "read.expired")
                #expect(await sandbox.ledger.transactions.isEmpty)
                #expect(try shop.journal("SELECT authorization IS NULL FROM payment") == "1")
            }
        }
    }

    @Test("A stored payment can be declined at once, and is then never sent")
    func declined() async throws {
        let folder = try TestFolder()
        try await offline(in: folder) { shop in
            let stored = try await pay(shop)
            let target = "/v1/transactions/\(stored.id)/decline"
            let answer = try await shop.post(to: target)
            #expect(answer.status == 200)
            #expect(try answer.transaction().state == .declined)
            let again = try await shop.post(to: target)
            #expect(again.status == 409)
            #expect(try again.error().code == "queue.not_stored")
            try await withSandbox(in: folder) { sandbox in
                _ = try await shop.post(to: "/v1/queue/flush")
                let next = try await pay(shop, 700)
                #expect(next.state == .approved)
                #expect(await sandbox.ledger.transactions.map(\.id) == [next.id])
            }
        }
    }

    @Test("Acceptance test 9: one batch is open at a time, keeps its payments from the forwarder, and gives them back")
    func reset() async throws {
        let folder = try TestFolder()
        try await offline(in: folder) { shop in
            let ids = [try await pay(shop, 100).id, try await pay(shop, 200).id]
            let batch = try await batch(shop, #"{"size":1}"#)
            #expect(batch.count == 1 && batch.records.count == 1)
            #expect(try await shop.post(to: "/v1/queue/batches").error().code == "queue.batch_open")
            #expect(try await shop.post(to: "/v1/transactions/\(ids[0])/decline").error().code == "queue.in_batch")
            let again = try await shop.get("/v1/queue/batches/\(batch.id)")
            #expect(try WireJSON.decode(QueueBatch.self, from: again.body) == batch)
            try await withSandbox(in: folder) { sandbox in
                _ = try await shop.reach([.approved], ids[1])
                _ = try await shop.post(to: "/v1/queue/flush")
                #expect(await sandbox.ledger.transactions.map(\.id) == [ids[1]])
                let left = try await shop.post(to: "/v1/queue/batches/\(batch.id)/reset")
                #expect(left.text == #"{"left":1}"#)
                _ = try await shop.reach([.approved], ids[0])
                #expect(await sandbox.ledger.transactions.map(\.outstanding) == [200, 100])
            }
            #expect(try await shop.get("/v1/queue/batches/\(batch.id)").error().code == "queue.batch_closed")
        }
    }

    @Test("Acceptance test 9: only the payment service's receipt lets a batch go, and what is left is counted")
    func resolved() async throws {
        let folder = try TestFolder()
        try await offline(in: folder) { shop in
            let ids = [try await pay(shop, 100).id, try await pay(shop, 200).id]
            let batch = try await batch(shop, #"{"size":1}"#)
            let target = "/v1/queue/batches/\(batch.id)/resolve"
            let wrong = try await shop.post(to: target, #"{"token":"a.b.c"}"#)
            #expect(try wrong.error().code == "queue.token_invalid")
            let expired = BatchReceipt(batch: batch.id, count: 1, hash: batch.hash, expiresAt: .now)
            let stale = try expired.token(key: TestReceiptKey.signingKey())
            #expect(try await shop.post(to: target, #"{"token":"\#(stale)"}"#).error().code == "queue.token_expired")
            #expect(try await queue(shop).count == 2)
            try await withSandbox(in: folder) { sandbox in
                let token = try await deliver(batch, to: folder)
                let answer = try await shop.post(to: target, #"{"token":"\#(token)"}"#)
                #expect(answer.status == 200)
                let end = try await shop.get("/v1/transactions/\(ids[0])").transaction()
                #expect(end.state == .delivered && end.result?.outcome == .stored)
                _ = try await shop.reach([.approved], ids[1])
                #expect(await sandbox.ledger.transactions.map(\.outstanding).sorted() == [100, 200])
                #expect(try await queue(shop).count == 0)
                #expect(try await shop.post(to: target, #"{"token":"\#(token)"}"#).error().code == "queue.batch_closed")
            }
            #expect(try shop.journal("SELECT count(*) FROM payment WHERE authorization IS NOT NULL") == "0")
        }
    }

    @Test("A batch that was received and then reset charges nobody twice")
    func receivedAndReset() async throws {
        let folder = try TestFolder()
        try await offline(in: folder) { shop in
            let id = try await pay(shop, 100).id
            let batch = try await batch(shop)
            try await withSandbox(in: folder) { sandbox in
                _ = try await deliver(batch, to: folder)
                _ = try await shop.post(to: "/v1/queue/batches/\(batch.id)/reset")
                _ = try await shop.reach([.approved], id)
                #expect(await sandbox.ledger.transactions.map(\.outstanding) == [100])
            }
        }
    }

    @Test("A batch of as many payments as one may have is exported, received and let go")
    func wholeBatch() async throws {
        let folder = try TestFolder()
        let many = Limits.batchSize.upperBound
        let change = { (wish: inout Shop.Wish) in
            wish.offline?.rules.count = many + 1
            wish.offline?.rules.perCard = many + 1
        }
        try await offline(in: folder, change) { shop in
            for _ in 0...many { #expect(try await pay(shop, 100).state == .stored) }
            let batch = try await batch(shop)
            #expect(batch.count == many && batch.records.count == many)
            try await withSandbox(in: folder) { sandbox in
                let token = try await deliver(batch, to: folder)
                let answer = try await shop.post(
                    to: "/v1/queue/batches/\(batch.id)/resolve", #"{"token":"\#(token)"}"#)
                #expect(answer.status == 200)
                while try await queue(shop).count > 0 { try await Task.sleep(for: .milliseconds(5)) }
                #expect(await sandbox.ledger.transactions.count { $0.outstanding == 100 } == many + 1)
            }
        }
    }

    private func deliver(_ batch: QueueBatch, to folder: TestFolder) async throws -> String {
        struct Receipt: Decodable { let token: String }
        let request = HTTPClientRequest(
            .post, "/debug/batches", fields: ["Content-Type": "application/json"], body: try WireJSON.encode(batch))
        let client = HTTPClient(path: folder.path + "/psp.sock")
        let answer = try await client.send(request, answerWithin: hangLimit)
        return try WireJSON.decode(Receipt.self, from: answer.body).token
    }

    @Test(
        "A forwarded payment whose answer is lost is asked for, charged once and never reversed",
        arguments: [Int64](94...96))
    func lostAnswer(digits: Int64) async throws {
        let folder = try TestFolder()
        try await offline(in: folder) { shop in
            let id = try await pay(shop, 1_000 + digits).id
            try await withSandbox(in: folder) { sandbox in
                let end = try await shop.reach([.approved], id)
                #expect(!end.history.contains { $0.state == .reversing })
                #expect(await sandbox.ledger.transactions.map(\.outstanding) == [1_000 + digits])
            }
        }
    }

    @Test("A daemon that ended while it forwarded asks what became of it, and does not reverse")
    func interrupted() async throws {
        let folder = try TestFolder()
        var first: TransactionID?
        try await offline(in: folder) { shop in first = try await pay(shop).id }
        let id = try #require(first)
        do {
            let journal = try Journal(directory: folder.path + "/state")
            let isTaken = try journal.beginForward(id, StateChange(.sent))
            #expect(isTaken)
        }
        try await withSandbox(in: folder) { sandbox in
            try await Shop.open(in: folder, try Self.wish()) { shop in
                let end = try await shop.reach([.approved], id)
                #expect(end.history.map(\.state).suffix(4) == [.stored, .sent, .unknown, .approved])
                #expect(await sandbox.ledger.transactions.map(\.outstanding) == [500])
            }
        }
    }

    @Test("What the adapter refuses goes back into the queue and is not lost")
    func refusedByAdapter() async throws {
        let folder = try TestFolder()
        try await offline(in: folder) { shop in
            let id = try await pay(shop).id
            try await withAdapter(in: folder) { request in
                request.earlier(.post) == 0 ? .text(422, "{}") : .text(200, #"{"outcome":"approved"}"#)
            } _: { adapter in
                let end = try await shop.reach([.approved], id)
                #expect(end.history.map(\.state).suffix(4) == [.sent, .stored, .sent, .approved])
                let posts = adapter.requests.filter { $0.method == .post }
                #expect(Set(posts.map(\.key)) == [id.text] && Set(posts.map(\.body)).count == 1)
                #expect(posts.allSatisfy { $0.text.contains(#""offline":true"#) })
                #expect(shop.runner.events.kept(about: id).contains { $0.name == .queueFailed })
            }
        }
    }

    @Test("The oldest goes first")
    func order() async throws {
        let folder = try TestFolder()
        try await offline(in: folder) { shop in
            var ids: [TransactionID] = []
            for value in [300, 100, 200] as [Int64] { ids.append(try await pay(shop, value).id) }
            try await withSandbox(in: folder) { sandbox in
                _ = try await shop.reach([.approved], ids[2])
                #expect(await sandbox.ledger.transactions.map(\.id) == ids)
            }
        }
    }

    @Test("Acceptance test 9: a record that was altered in the journal is never sent")
    func altered() async throws {
        let folder = try TestFolder()
        var first: TransactionID?
        try await offline(in: folder) { shop in first = try await pay(shop).id }
        let id = try #require(first)
        try alterJournal(in: folder, "UPDATE queue_record SET record = replace(record, 'a', 'b')")
        try await withSandbox(in: folder) { sandbox in
            try await Shop.open(in: folder, try Self.wish()) { shop in
                while !shop.runner.events.kept(about: id).contains(where: { $0.name == .queueFailed }) {
                    try await Task.sleep(for: .milliseconds(5))
                }
                #expect(await sandbox.ledger.transactions.isEmpty)
                // What the books have of it is not as it was written, and is said to be so.
                #expect(try await shop.get("/v1/transactions/\(id)").error().code == "transaction.damaged")
            }
        }
    }
}
