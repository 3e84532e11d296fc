// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import LocalHTTP
import POSAPI
import PSPSandbox
import PaymentValues
import ReaderVirtual
import TestSupport
import Testing

@testable import TapDaemon

@Suite("One order, one charge; and what became of a request", .timeLimit(.minutes(10)))
struct RepeatTests {
    private func pay(
        _ shop: Shop, _ value: Int64 = 1_200, order: String? = nil, more: String = "", card: String = "visa",
        reader: Int = 0
    ) async throws -> Answer {
        try shop.readers[reader].obey("present \(card)")
        defer { _ = try? shop.readers[reader].obey("remove") }
        return try await shop.post(purchase(value, order: order, more: more), wait: 60)
    }

    @Test("E1 an order that has been paid is charged again only where the request says so, also after a restart")
    func paid() async throws {
        let folder = try TestFolder()
        try await withSandbox(in: folder) { sandbox in
            var first: TransactionID?
            try await Shop.open(in: folder) { shop in
                let transaction = try await pay(shop, order: "A-17").transaction()
                #expect(transaction.state == .approved)
                first = transaction.id
                try await refused(shop, first)
            }
            try await Shop.open(in: folder) { shop in
                try await refused(shop, first)
                let again = try await pay(shop, order: "A-17", more: #","allowRepeat":true"#).transaction()
                #expect(again.state == .approved)
                let refund = try await shop.post(
                    #"{"type":"refund","amount":{"value":100,"currency":"EUR"},"order":"A-17","dryRun":true}"#)
                #expect(refund.status == 200, "a refund of a paid order is none of it")
            }
            #expect(await sandbox.ledger.transactions.count == 2)
        }
    }

    private func refused(_ shop: Shop, _ first: TransactionID?) async throws {
        let second = try await shop.post(purchase(1_200, order: "A-17"))
        #expect(second.status == 409)
        #expect(try second.error().code == "order.paid")
        #expect(try second.error().transaction == first)
    }

    @Test("E1 what was declined, taken back or paid in part has not paid its order")
    func unpaid() async throws {
        try await Shop.withSandbox { shop, sandbox in
            #expect(try await pay(shop, 1_005, order: "B-1").transaction().state == .declined)
            let first = try await pay(shop, order: "B-1").transaction()
            #expect(first.state == .approved)
            let answer = try await shop.send(reversal(of: first.id))
            #expect(answer.status < 300, "\(answer.text)")
            _ = try await shop.reach([.reversed], first.id)
            #expect(try await pay(shop, order: "B-1").transaction().state == .approved)
            let half = try await pay(shop, 1_010, order: "B-2").transaction()
            #expect(half.result?.outcome == .partiallyApproved, "\(half)")
            #expect(try await pay(shop, 500, order: "B-2").transaction().state == .approved)
        }
    }

    private func reversal(of id: TransactionID) -> HTTPClientRequest {
        HTTPClientRequest(
            .post, "/v1/transactions/\(id)/reversal", fields: ["Content-Type": "application/json"],
            body: Array(#"{"reason":"customerCancel"}"#.utf8))
    }

    @Test("E1 the same card and amount on the same lane within minutes: the sale names the one before it")
    func named() async throws {
        let folder = try TestFolder()
        try await withSandbox(in: folder) { _ in
            var wish = Shop.Wish()
            wish.lanes = 2
            try await Shop.open(in: folder, wish) { shop in
                let lane = #","lane":"lane-0""#
                let first = try await pay(shop, more: lane).transaction()
                #expect(first.state == .approved && first.result?.repeats == nil)
                let other = try await pay(shop, more: lane, card: "mastercard").transaction()
                #expect(other.result?.repeats == nil, "another card")
                #expect(try await pay(shop, 1_300, more: lane).transaction().result?.repeats == nil, "another amount")
                let elsewhere = try await pay(shop, more: #","lane":"lane-1""#, reader: 1).transaction()
                #expect(elsewhere.result?.repeats == nil, "another lane")
                let second = try await pay(shop, more: lane).transaction()
                #expect(second.state == .approved && second.confirmation == nil, "a till that asks for nothing goes on")
                #expect(second.result?.repeats == first.id)
                let kept = try await shop.get("/v1/transactions/\(second.id)").transaction()
                #expect(kept.result?.repeats == first.id)
            }
        }
    }

    @Test("E1 a till that wants to confirm such a sale has to, and unconfirmed it is taken back")
    func confirmed() async throws {
        let folder = try TestFolder()
        try await withSandbox(in: folder) { sandbox in
            try await Shop.open(in: folder) { shop in
                let first = try await pay(shop, more: #","confirmRepeatWithin":600"#).transaction()
                #expect(first.state == .approved && first.confirmation == nil, "it repeats nothing")
                let second = try await pay(shop, more: #","confirmRepeatWithin":600"#).transaction()
                #expect(second.result?.repeats == first.id && second.confirmation?.confirmedAt == nil)
                #expect(second.confirmation != nil)
                let answer = try await shop.post(to: "/v1/transactions/\(second.id)/confirmation")
                #expect(try answer.transaction().confirmation?.confirmedAt != nil)
                let third = try await pay(shop, more: #","confirmRepeatWithin":5"#).transaction()
                #expect(third.result?.repeats == second.id)
                let end = try await shop.reach([.reversed], third.id)
                #expect(end.result?.reason == .notConfirmed)
                // What was taken back is not repeated by the next one.
                let fourth = try await pay(shop).transaction()
                #expect(fourth.result?.repeats == second.id)
            }
            #expect(await sandbox.ledger.transactions.map(\.outstanding) == [1_200, 1_200, 0, 1_200])
        }
    }

    @Test("E2 a till that has lost its answer finds the transaction by its own key, and nobody else's")
    func byKey() async throws {
        try await Shop.withSandbox { shop, _ in
            try shop.reader.obey("present visa")
            let made = try await shop.post(purchase(1_200, order: "C-1"), key: "till-1", wait: 60).transaction()
            let found = try await shop.get("/v1/transactions?key=till-1")
            #expect(found.status == 200)
            let list = try WireJSON.decode(TransactionList.self, from: found.body).transactions
            #expect(list.map(\.id) == [made.id] && list.first?.state == .approved)
            let never = try await shop.get("/v1/transactions?key=till-2")
            #expect(never.status == 404)
            #expect(try never.error().code == "idempotency.key_unknown")
            let same = try await shop.get("/v1/transactions?limit=50&key=till-1")
            #expect(same.status == 200 && same.body == found.body, "as programs made from the contract ask")
            for query in [
                "?key=", "?key=a%20b", "?key=till-1&order=C-1", "?order=C-1&key=till-1", "?key=till-1&limit=0",
            ] {
                let answer = try await shop.get("/v1/transactions\(query)")
                #expect(answer.status == 400, "\(query) \(answer.text)")
            }
        }
    }

    @Test(
        "E2 the key of another user has never arrived",
        .enabled(if: geteuid() == 0, "needs root, to become another user"))
    func othersKey() async throws {
        let folder = try TestFolder()
        try await withSandbox(in: folder) { _ in
            var wish = Shop.Wish()
            wish.access = Access(groups: [.cashier: 65_533])
            try await Shop.open(in: folder, wish) { shop in
                try FileManager.default.setAttributes(
                    [.posixPermissions: 0o666], ofItemAtPath: folder.path + "/pos.sock")
                try shop.reader.obey("present visa")
                _ = try await shop.post(purchase(1_200), key: "till-1", wait: 60)
                let other = try await curl(
                    folder, groups: "65533", ["http://localhost/v1/transactions?key=till-1"])
                #expect(other.status == "404" && other.body.contains("idempotency.key_unknown"), "\(other)")
            }
        }
    }
}
