// SPDX-License-Identifier: Apache-2.0
import POSAPI
import PaymentValues
import ReaderVirtual
import TestSupport
import Testing
import Transactions

@testable import TapDaemon

@Suite("A cancel that names a key", .timeLimit(.minutes(5)))
struct KeyCancelTests {
    private func cancel(_ shop: Shop, _ key: String) async throws -> Answer {
        try await shop.delete("/v1/transactions?key=\(key)")
    }

    private func outcome(_ shop: Shop, _ key: String) async throws -> KeyCancelAnswer {
        try WireJSON.decode(KeyCancelAnswer.self, from: try await cancel(shop, key).body)
    }

    private func detached(_ value: Int64) -> String { purchase(value, more: #","detached":true"#) }

    @Test("N2: it cancels what the key has begun and nothing else, and says what a cancel by id says")
    func own() async throws {
        let folder = try TestFolder()
        var wish = Shop.Wish()
        wish.lanes = 2
        try await withSandbox(in: folder) { _ in
            try await Shop.open(in: folder, wish) { shop in
                let first = try await shop.post(detached(500), key: "first").transaction()
                let latest = try await shop.post(detached(700), key: "latest").transaction()
                for id in [first.id, latest.id] { _ = try await shop.reach([.armed], id) }
                let answer = try await outcome(shop, "first")
                #expect(answer.outcome == .cancelled && answer.transaction?.id == first.id && answer.neverBegan == nil)
                #expect(try await shop.reach([.cancelled], first.id).cancelledBy == .client)
                #expect(await shop.runner.books.live[latest.id]?.transaction.state == .armed)
                #expect(try await outcome(shop, "first").outcome == .nothingToCancel)
                let lane = latest.lane == "lane-0" ? 0 : 1
                try shop.readers[lane].obey("present visa")
                _ = try await shop.reach([.approved], latest.id)
                let late = try await outcome(shop, "latest")
                #expect(late.outcome == .nothingToCancel && late.transaction?.state == .approved)
            }
        }
    }

    @Test("N3: a cancel that comes before its start is final: the start is refused, also after a restart")
    func before() async throws {
        let folder = try TestFolder()
        try await withSandbox(in: folder) { _ in
            try await Shop.open(in: folder) { shop in
                for _ in 1...2 {
                    let answer = try await outcome(shop, "never")
                    #expect(answer.outcome == .cancelled && answer.neverBegan == true && answer.transaction == nil)
                }
                #expect(try await shop.post(purchase(500), key: "never").error().code == "request.cancelled")
            }
            try await Shop.open(in: folder) { shop in
                let refused = try await shop.post(purchase(700), key: "never")
                #expect(refused.status == 409)
                #expect(try refused.error().code == "request.cancelled")
                let look = try await shop.get("/v1/transactions?key=never")
                #expect(try look.status == 409 && look.error().code == "request.cancelled")
                #expect(try await outcome(shop, "never").neverBegan == true)
                #expect(try shop.journal("SELECT count(*) FROM payment") == "0")
                for target in ["", "?key=", "?key=a%20b", "?key=a&wait=1"] {
                    let wrong = try await shop.delete("/v1/transactions\(target)")
                    #expect(try wrong.status == 400 && wrong.error().code == "request.invalid_parameter", "\(target)")
                }
            }
        }
    }

    @Test("N3: of a start and a cancel that cross, either nothing begins or what began is cancelled")
    func race() async throws {
        try await Shop.withSandbox { shop, _ in
            var began = 0
            for round in 0..<40 {
                let key = "race-\(round)"
                async let start = shop.post(detached(500), key: key)
                for _ in 0..<(round * 9) { await Task.yield() }
                let answer = try await outcome(shop, key)
                let started = try await start
                #expect(answer.outcome == .cancelled)
                if answer.neverBegan == true {
                    #expect(try started.error().code == "request.cancelled")
                } else {
                    began += 1
                    let id = try #require(answer.transaction?.id)
                    #expect(try await shop.reach([.cancelled], id).state == .cancelled)
                }
                #expect(try await shop.post(detached(500), key: key).transactionState != .armed)
                // The lane is free for the next round.
                try await eventually("a free lane") { await shop.runner.laneStatuses().first?.holder == nil }
            }
            #expect(try shop.journal("SELECT count(*) FROM payment WHERE state <> 'cancelled'") == "0")
            #expect(try shop.journal("SELECT count(*) FROM payment") == "\(began)")
        }
    }

    @Test("N3: another's key of the same name is another key")
    func others() async throws {
        try await Shop.withSandbox(.gateway()) { shop, _ in
            let (bar, other) = (GatewayTill(shop: shop, name: "bar-1"), GatewayTill(shop: shop, name: "bar-2"))
            let sale = try await bar.sell(500, key: "k").transaction()
            let answer = try await other.delete("/v1/transactions?key=k")
            #expect(try WireJSON.decode(KeyCancelAnswer.self, from: answer.body).neverBegan == true)
            _ = try await shop.reach([.armed], sale.id)
            let watcher = GatewayTill(shop: shop, name: "bar-3", roles: "monitor")
            #expect(try await watcher.delete("/v1/transactions?key=k").error().code == "auth.role_missing")
            _ = try await bar.delete("/v1/transactions?key=k")
            _ = try await shop.reach([.cancelled], sale.id)
        }
    }
}

extension Answer {
    fileprivate var transactionState: TransactionState? { try? transaction().state }
}
