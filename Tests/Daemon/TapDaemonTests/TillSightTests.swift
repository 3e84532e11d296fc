// SPDX-License-Identifier: Apache-2.0
import Configuration
import Foundation
import Glibc
import LocalHTTP
import POSAPI
import PaymentValues
import ReaderVirtual
import TestSupport
import Testing

@testable import TapDaemon

@Suite("What a till behind a gateway may see", .timeLimit(.minutes(5)))
struct TillSightTests {
    private func open(
        _ wish: Shop.Wish = .gateway(), _ body: (Shop, GatewayTill, GatewayTill) async throws -> Void
    ) async throws {
        try await Shop.withSandbox(wish) { shop, _ in
            try await body(shop, GatewayTill(shop: shop, name: "bar-1"), GatewayTill(shop: shop, name: "bar-2"))
        }
    }

    private func pay(_ till: GatewayTill, _ value: Int64, key: String, order: String? = nil) async throws -> Transaction
    {
        try till.shop.reader.obey("present visa")
        let sale = try await till.sell(value, order: order, key: key, wait: 20).transaction()
        try till.shop.reader.obey("remove")
        try #require(sale.state == .approved)
        return sale
    }

    @Test("Lists, the last of a lane, orders and totals have its own transactions only; a program's have all")
    func lists() async throws {
        try await open { shop, first, second in
            let one = try await pay(first, 500, key: "a", order: "A-17")
            let two = try await pay(second, 700, key: "a", order: "A-18")
            #expect(try await first.list() == [one.id])
            #expect(try await second.list() == [two.id])
            let changes = try await first.get("/v1/transactions?changedAfter=0")
            #expect(try WireJSON.decode(TransactionList.self, from: changes.body).transactions.map(\.id) == [one.id])
            let foreign = try await first.get("/v1/transactions?order=A-18&till=bar-2")
            #expect(try WireJSON.decode(TransactionList.self, from: foreign.body).transactions.isEmpty)
            #expect(try await first.get("/v1/lanes/lane-0/last").transaction().id == one.id)
            #expect(try await second.get("/v1/lanes/lane-0/last?uid=self").transaction().id == two.id)
            for (till, own) in [(first, one), (second, two)] {
                for query in ["", "?from=2020-01-01T00:00:00.000Z"] {
                    let totals = try WireJSON.decode(
                        Totals.self, from: try await till.get("/v1/totals\(query)").body)
                    #expect(totals.net.map(\.value) == [own.amount.value])
                }
            }
            let all = try WireJSON.decode(Totals.self, from: try await shop.get("/v1/totals").body)
            #expect(all.net.map(\.value) == [1_200])
            let list = try await shop.get("/v1/transactions")
            #expect(try WireJSON.decode(TransactionList.self, from: list.body).transactions.count == 2)
        }
    }

    @Test("Of another's lane it sees that it is busy, not by whom")
    func lanes() async throws {
        try await open { _, first, second in
            let id = try await first.sell(500, key: "a").transaction().id
            for (till, holder) in [(first, id), (second, nil)] {
                let list = try WireJSON.decode(LaneList.self, from: try await till.get("/v1/lanes").body)
                #expect(list.lanes.map(\.state) == [.busy] && list.lanes.map(\.holder?.transaction) == [holder])
                let status = try WireJSON.decode(Status.self, from: try await till.get("/v1/status").body)
                #expect(status.lanes.map(\.holder?.transaction) == [holder])
            }
            #expect(try await first.delete("/v1/transactions/\(id)").status == 200)
        }
    }

    @Test("Where the time of a tap went is told to the till whose it was and to programs, and to no other till")
    func taps() async throws {
        try await open { shop, first, second in
            let sale = try await pay(first, 500, key: "a")
            let seen = try WireJSON.decode(LaneStatus.self, from: try await first.get("/v1/lanes/lane-0").body)
            let tap = try #require(seen.lastTap)
            #expect(tap.transaction == sale.id && tap.till == TillName("bar-1") && tap.uid == geteuid())
            #expect(tap.card > 0 && tap.air > 1_000 && tap.sending != nil && tap.service ?? 0 > 0)
            #expect(tap.at >= sale.createdAt && tap.at <= sale.updatedAt)
            for path in ["/v1/lanes", "/v1/status", "/v1/lanes/lane-0"] {
                #expect(try await second.get(path).text.contains("lastTap") == false, "\(path)")
            }
            #expect(try await shop.get("/v1/lanes/lane-0").text.contains(#""lastTap""#))
            // The next one's place is its own, from its read on.
            let other = try await pay(second, 700, key: "a")
            let next = try WireJSON.decode(LaneStatus.self, from: try await second.get("/v1/lanes/lane-0").body)
            #expect(next.lastTap?.transaction == other.id)
            #expect(try await first.get("/v1/lanes/lane-0").text.contains("lastTap") == false)
        }
    }

    @Test("Of a card that was declined by itself nothing was sent")
    func tapThatDeclines() async throws {
        try await open { shop, first, _ in
            try shop.reader.obey("present visa-declines")
            let sale = try await first.sell(500, key: "a", wait: 20).transaction()
            try shop.reader.obey("remove")
            let seen = try WireJSON.decode(LaneStatus.self, from: try await first.get("/v1/lanes/lane-0").body)
            let tap = try #require(seen.lastTap)
            #expect(tap.transaction == sale.id && tap.sending == nil && tap.service == nil)
        }
    }

    @Test("Events: its own with their results, of others' only that a lane is used, as a loyalty till no amounts")
    func events() async throws {
        try await open { shop, first, second in
            let one = try await pay(first, 500, key: "a")
            let two = try await pay(second, 700, key: "a")
            let seen = try await first.events(until: .paymentApproved)
            #expect(seen.last?.transaction == one.id && seen.last?.result?.outcome == .approved)
            let others = try await second.events(until: .paymentApproved)
            #expect(others.last?.transaction == two.id && others.last?.till == TillName("bar-2"))
            let stripped = others.filter { $0.transaction == nil && $0.name.rawValue.hasPrefix("read.") }
            #expect(stripped.count == 4, "of bar-1's sale: ready, detected, remove, completed")
            #expect(stripped.allSatisfy { $0.till == nil && $0.amount == nil && $0.card == nil && $0.lane == "lane-0" })
            #expect(!others.contains { $0.transaction == one.id || $0.till == TillName("bar-1") })
            let loyalty = try await GatewayTill(shop: shop, name: "bar-1", roles: "loyalty")
                .events(until: .paymentApproved)
            #expect(loyalty.allSatisfy { $0.amount == nil && $0.result == nil && $0.card == nil })
            let monitor = try await GatewayTill(shop: shop, name: "bar-3", roles: nil).events(until: .paymentApproved)
            #expect(monitor.last?.transaction == one.id && monitor.allSatisfy { $0.result == nil && $0.amount == nil })
        }
    }

    @Test(
        "A gateway without a till has all tills' events to pass on, and of programs only that a lane is used",
        .enabled(if: geteuid() == 0, "needs root, to become another user"))
    func fanOut() async throws {
        var wish = Shop.Wish()
        wish.access = Access(groups: [.cashier: 20], owner: 500, gateway: GatewaySettings(group: 50))
        try await open(wish) { shop, _, _ in
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o666], ofItemAtPath: shop.folder.path + "/pos.sock")
            try shop.reader.obey("present visa")
            let program = try await shop.post(purchase(900), wait: 20).transaction()
            try shop.reader.obey("swap visa")
            let sale = try await curl(
                shop.folder, groups: "50",
                [
                    "-H", "NFC-Tap-On-Behalf-Of: bar-1", "-H", "NFC-Tap-Roles: cashier", "-H", "Idempotency-Key: k",
                    "-H", "Content-Type: application/json", "-H", "Prefer: wait=20", "-d", purchase(500),
                    "http://d/v1/transactions",
                ])
            let paid = try WireJSON.decode(Transaction.self, from: Array(sale.body.utf8))
            #expect(program.state == .approved && paid.state == .approved)
            let stream = try await curl(
                shop.folder, groups: "50", ["-N", "-m", "2", "-H", "Last-Event-ID: 0", "http://d/v1/events"])
            let events = try stream.body.split(separator: "\n").filter { $0.hasPrefix("data: ") }.map {
                try WireJSON.decode(Event.self, from: Array($0.dropFirst(6).utf8))
            }
            let approved = events.filter { $0.name == .paymentApproved }
            #expect(approved.map(\.transaction) == [paid.id] && approved.first?.till == TillName("bar-1"))
            #expect(approved.first?.result?.outcome == .approved && approved.first?.lane == "lane-0")
            #expect(events.filter { $0.name == .readCompleted }.map(\.till) == [nil, TillName("bar-1")])
            #expect(!stream.body.contains(program.id.text))
        }
    }

    @Test("A till closes the day and gets that report again, and nobody else's; its key is its own")
    func days() async throws {
        try await open { shop, first, second in
            _ = try await pay(first, 500, key: "a")
            let closed = try await first.post("/v1/days", #"{"label":"one"}"#, key: "d")
            #expect(closed.status == 201)
            let end = try WireJSON.decode(EndOfDay.self, from: closed.body)
            #expect(end.day.till == TillName("bar-1") && end.day.uid == geteuid())
            let again = try await first.post("/v1/days", #"{"label":"one"}"#, key: "d")
            #expect(again.fields.only("Idempotency-Replayed") == "true")
            let other = try await second.post("/v1/days", #"{"label":"two"}"#, key: "d")
            #expect(other.status == 201, "the same key of another till")
            let number = end.day.number
            #expect(try await first.get("/v1/days/\(number)").status == 200)
            for path in ["", "/report"] {
                let refused = try await second.get("/v1/days/\(number)\(path)")
                #expect(try refused.error().code == "session.not_owner")
            }
            let list = try WireJSON.decode(DayList.self, from: try await first.get("/v1/days").body)
            #expect(list.days.map(\.number) == [number + 2, number], "the open one and its own")
            #expect(
                try shop.journal("SELECT detail FROM audit WHERE kind = 'dayEnd' ORDER BY sequence LIMIT 1")
                    == "day \(number) closed uid \(geteuid()) till bar-1")
        }
    }

    @Test("A linked refund is for the till whose payment it was, and keys of captures and refunds are its own")
    func operations() async throws {
        try await open(.gateway { $0.types = Set(TransactionType.allCases) }) { shop, first, second in
            var held: [Transaction] = []
            for till in [first, second] {
                try shop.reader.obey("present visa")
                let sale = try await till.sell(
                    5_000, key: "a", more: #","amountStatus":"preauthorized""#, wait: 20
                ).transaction()
                try shop.reader.obey("remove")
                try #require(sale.state == .approved)
                let capture = try await till.post(
                    "/v1/transactions/\(sale.id)/captures", #"{"final":true}"#, key: "c", wait: 20)
                #expect(capture.status == 201, "\(capture.text)")
                held.append(sale)
            }
            let operation = try WireJSON.decode(
                OperationList.self,
                from: try await first.get("/v1/transactions/\(held[0].id)/operations").body
            ).operations[0].id
            #expect(try await first.get("/v1/operations/\(operation)").status == 200)
            #expect(try await second.get("/v1/operations/\(operation)").error().code == "session.not_owner")
            #expect(try await second.delete("/v1/operations/\(operation)").error().code == "session.not_owner")
            func refund(_ till: GatewayTill, _ sale: Transaction) async throws -> Answer {
                try await till.post(
                    "/v1/transactions",
                    #"{"type":"refund","of":"\#(sale.id)","amount":{"value":100,"currency":"EUR"}}"#, key: "r", wait: 20
                )
            }
            #expect(try await refund(second, held[0]).error().code == "session.not_owner")
            let refunds = [try await refund(first, held[0]), try await refund(second, held[1])]
            #expect(try refunds.map { try $0.transaction().state } == [.approved, .approved])
            #expect(try refunds.map { try $0.transaction().till?.text } == ["bar-1", "bar-2"])
        }
    }

    @Test("The queue and what is open are its own", arguments: [true, false])
    func open(isOwn: Bool) async throws {
        let folder = try TestFolder()
        try await withAdapter(in: folder) { _ in
            .text(503, "")
        } _: { _ in
            try await Shop.open(in: folder, .gateway()) { shop in
                try shop.reader.obey("present visa")
                let till = GatewayTill(shop: shop, name: "bar-1")
                let doubtful = try await till.sell(500, key: "k", wait: 20).transaction()
                #expect(doubtful.state == .reversing)
                let asking = GatewayTill(shop: shop, name: isOwn ? "bar-1" : "bar-2")
                let totals = try WireJSON.decode(Totals.self, from: try await asking.get("/v1/totals").body)
                #expect(totals.open.map(\.transaction) == (isOwn ? [doubtful.id] : []))
                let items = try WireJSON.decode(OpenItemList.self, from: try await asking.get("/v1/open-items").body)
                #expect(items.items.count == items.count && (isOwn || items.count == 0))
                let queue = try WireJSON.decode(QueueStatus.self, from: try await asking.get("/v1/queue").body)
                #expect(queue.count == 0)
            }
        }
    }

    @Test(
        "Whatever two tills do in whatever order with the same keys, neither sees nor stops what is the other's",
        arguments: 1...4)
    func interleavings(seed: UInt64) async throws {
        var wish = Shop.Wish.gateway()
        // One for each transaction that can be live, and one more.
        wish.lanes = 3
        try await open(wish) { shop, first, second in
            var generator = SeededGenerator(seed: seed)
            let tills = [first, second]
            var keys: [[String: TransactionID]] = [[:], [:]]
            var live: [TransactionID?] = [nil, nil]
            for step in 0..<120 {
                let own = Int.random(in: 0...1, using: &generator)
                let (till, other) = (tills[own], 1 - own)
                let key = "K-\(Int.random(in: 0..<12, using: &generator))"
                let known = keys[own][key]
                switch Int.random(in: 0..<6, using: &generator) {
                case 0, 1:
                    guard known != nil || live[own] == nil else { continue }
                    // The same bytes at both tills.
                    let answer = try await till.sell(500, key: key)
                    let transaction = try answer.transaction()
                    #expect((answer.fields.only("Idempotency-Replayed") == "true") == (known != nil), "step \(step)")
                    #expect(known == nil || transaction.id == known)
                    #expect(transaction.till?.text == till.name)
                    if known == nil { (keys[own][key], live[own]) = (transaction.id, transaction.id) }
                case 2:
                    guard let id = live[own] else { continue }
                    #expect(try await till.delete("/v1/transactions/\(id)").cancel().outcome == .cancelled)
                    live[own] = nil
                case 3:
                    guard let id = keys[other].values.sorted().randomElement(using: &generator) else { continue }
                    let target = "/v1/transactions/\(id)"
                    #expect(try await till.delete(target).error().code == "session.not_owner", "step \(step)")
                    #expect(try await till.get(target).error().code == "session.not_owner", "step \(step)")
                case 4:
                    let answer = try await till.get("/v1/transactions?key=\(key)")
                    if let known {
                        let list = try WireJSON.decode(TransactionList.self, from: answer.body)
                        #expect(list.transactions.map(\.id) == [known], "step \(step)")
                    } else {
                        #expect(try answer.error().code == "idempotency.key_unknown", "step \(step)")
                    }
                default:
                    #expect(try await Set(till.list()) == Set(keys[own].values), "step \(step)")
                }
                for id in live.compactMap(\.self) {
                    let state = try await shop.runner.transaction(id)?.state
                    #expect(state?.isCancellable == true, "step \(step): \(id) is stopped")
                }
            }
            for (own, ids) in keys.enumerated() {
                for id in ids.values where id != live[own] {
                    #expect(try await shop.runner.transaction(id)?.cancelledBy == .client)
                }
            }
            #expect(Set(keys[0].values).isDisjoint(with: keys[1].values))
        }
    }
}
