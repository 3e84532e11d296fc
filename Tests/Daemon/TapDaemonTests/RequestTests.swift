// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Crypto
import Foundation
import Journal
import LocalHTTP
import POSAPI
import PSPSandbox
import PaymentValues
import ReaderVirtual
import TestSupport
import Testing

@testable import TapDaemon

@Suite("Requests on the POS socket", .timeLimit(.minutes(5)))
struct RequestTests {
    @Test("The same key gives the first answer again and charges once; another body with it is refused")
    func idempotency() async throws {
        try await Shop.withSandbox { shop, sandbox in
            try shop.reader.obey("present visa")
            let first = try await shop.post(purchase(1_200), key: "sale-1", wait: 20)
            let reordered = #"{"amount": {"currency":"EUR","value":1200}, "type":"purchase"}"#
            let again = try await shop.post(reordered, key: "sale-1")
            #expect(again.status == 201 && again.fields.only("Idempotency-Replayed") == "true")
            #expect(again.body == first.body)
            let other = try await shop.post(purchase(1_300), key: "sale-1")
            #expect(other.status == 422)
            #expect(try other.error().code == "idempotency.key_reused")
            #expect(await sandbox.ledger.transactions.count == 1)
        }
    }

    @Test("K6: a repetition that says a default in words is the same request, also one that was kept as it was written")
    func defaultsInWords() async throws {
        try await Shop.withSandbox { shop, sandbox in
            try shop.reader.obey("present visa")
            let first = try await shop.post(purchase(1_200), key: "sale-1", wait: 20)
            let spelt = #"""
                {"type": "purchase", "amount": {"value": 1200, "currency": "EUR"}, "allowRepeat": false, "detached": false,
                 "deadline": 60, "store": false, "dryRun": false, "amountStatus": "final", "capture": {"mode": "automatic"}}
                """#
            let again = try await shop.post(spelt, key: "sale-1")
            #expect(again.status == 201 && again.fields.only("Idempotency-Replayed") == "true")
            #expect(again.body == first.body)
            let other = try await shop.post(
                spelt.replacing(#""allowRepeat": false"#, with: #""allowRepeat": true"#), key: "sale-1")
            #expect(try other.error().code == "idempotency.key_reused")
            // A daemon before this one wrote down the digest of the body as it came.
            let body = try WireJSON.encode(WireJSON.decode(TransactionRequest.self, from: Array(spelt.utf8)))
            let kept = NewTransaction(
                id: TransactionID(), owner: Principal(uid: getuid()), idempotencyKey: "sale-0",
                requestHash: Hex.string(SHA256.hash(data: body)), type: .purchase, mode: .test, lane: "lane-0",
                amount: Money(value: 1_200, currency: try #require(Currency("EUR"))), order: nil, at: .now)
            let created = try await shop.runner.journal.use { (journal) throws(JournalError) in
                try journal.create(kept)
            }
            guard case .created = created else {
                Issue.record("\(created)")
                return
            }
            let known = try await shop.post(spelt, key: "sale-0")
            #expect(known.fields.only("Idempotency-Replayed") == "true")
            #expect(try known.transaction().id == kept.id)
            #expect(await sandbox.ledger.transactions.count == 1)
        }
    }

    @Test("A10: a key whose first request is still running is answered with the transaction in progress")
    func running() async throws {
        try await Shop.open(in: try TestFolder()) { shop in
            async let first = shop.post(purchase(900), key: "sale-1", wait: 20)
            while await shop.runner.books.live.isEmpty { await Task.yield() }
            let second = try await shop.post(purchase(900), key: "sale-1")
            #expect(second.status == 409)
            #expect(try second.error().code == "idempotency.in_progress")
            let id = try #require(try second.error().transaction)
            _ = try await shop.delete("/v1/transactions/\(id)")
            #expect(try await first.transaction().state == .cancelled)
        }
    }

    static let refusals:
        [(method: HTTPMethod, target: String, fields: HTTPFields, body: String, status: Int, code: String)] = [
            (.get, "/", [:], "", 404, "request.unknown_path"),
            (.get, "/v2/status", [:], "", 404, "request.unknown_path"),
            (.get, "/v1/transactions/", [:], "", 404, "transaction.unknown"),
            (.put, "/v1/status", [:], "", 405, "request.method_not_allowed"),
            (.post, "/v1/lanes", [:], "", 405, "request.method_not_allowed"),
            (.get, "/v1/lanes/nowhere", [:], "", 404, "lane.unknown"),
            (.get, "/v1/status?verbose=1", [:], "", 400, "request.invalid_parameter"),
            (.get, "/v1/transactions?limit=0", [:], "", 400, "request.invalid_parameter"),
            (.get, "/v1/transactions?order=", [:], "", 400, "request.invalid_parameter"),
            (.get, "/v1/transactions?order=a&order=b", [:], "", 400, "request.invalid_parameter"),
            (.get, "/v1/transactions/0192f3a4-5b6c-7d8e-9f01-23456789abcd", [:], "", 404, "transaction.unknown"),
            (
                .get, "/v1/transactions/0192f3a4-5b6c-7d8e-9f01-23456789abcd?wait=x", [:], "", 400,
                "request.invalid_parameter"
            ),
            (.get, "/v1/events", ["Last-Event-ID": "-1"], "", 400, "request.invalid_parameter"),
            (.get, "/v1/events", ["Last-Event-ID": "9223372036854775808"], "", 400, "request.invalid_parameter"),
            (.post, "/v1/transactions", [:], purchase(1), 400, "idempotency.key_missing"),
            (.post, "/v1/transactions", ["Idempotency-Key": "a b"], purchase(1), 400, "idempotency.key_invalid"),
            (.post, "/v1/transactions", ["Idempotency-Key": "k"], purchase(1), 415, "request.not_json"),
            (
                .post, "/v1/transactions", ["Idempotency-Key": "k", "Content-Type": "application/json"], "", 400,
                "request.body_missing"
            ),
            (
                .post, "/v1/transactions",
                ["Idempotency-Key": "k", "Content-Type": "application/json", "Prefer": "wait=601"],
                purchase(1), 400, "request.invalid_parameter"
            ),
            (
                .post, "/v1/transactions", ["Idempotency-Key": "k", "Content-Type": "application/json; charset=utf-8"],
                #"{"type":"purchase","amount":{"value":0,"currency":"EUR"}}"#, 422, "amount.total_not_positive"
            ),
            (
                .post, "/v1/transactions", ["Idempotency-Key": "k", "Content-Type": "application/json"],
                #"{"type":"purchase","amount":{"value":5,"currency":"EUR"},"lane":"far"}"#, 404, "lane.unknown"
            ),
            (
                .post, "/v1/transactions", ["Idempotency-Key": "k", "Content-Type": "application/json"],
                #"{"type":"purchase","amount":{"value":5,"currency":"XYZ"}}"#, 422, "amount.currency_unknown"
            ),
            (
                .post, "/v1/transactions", ["Idempotency-Key": "k", "Content-Type": "application/json"],
                String(repeating: "x", count: 70_000), 413, "request.body_too_large"
            ),
        ]

    @Test("Each wrong request gets its answer from the catalogue, and nothing is written")
    func refused() async throws {
        try await Shop.open(in: try TestFolder()) { shop in
            for wrong in Self.refusals {
                let request = HTTPClientRequest(
                    wrong.method, wrong.target, fields: wrong.fields, body: Array(wrong.body.utf8))
                let answer = try await shop.send(request)
                #expect(answer.status == wrong.status, "\(wrong.method.rawValue) \(wrong.target): \(answer.text)")
                #expect(try answer.error().code == wrong.code)
                #expect(answer.status != 405 || answer.fields.only("Allow") == "GET", "\(wrong.target)")
            }
            #expect(try shop.journal("SELECT count(*) FROM payment") == "0")
            #expect(await shop.runner.laneStatuses().first?.holder == nil)
        }
    }

    @Test("Status and lanes say what there is")
    func status() async throws {
        try await Shop.withSandbox { shop, _ in
            let connection = try await shop.client.connect()
            let id = try await shop.post(purchase(700), over: connection).transaction().id
            _ = try await shop.reach([.armed], id)
            let status = try WireJSON.decode(Status.self, from: try await shop.get("/v1/status").body)
            #expect(status.mode == .test && status.terms == .notRequired && status.accepting)
            #expect(status.lanes.first?.holder?.transaction == id && status.lanes.first?.state == .busy)
            #expect(status.lanes.first?.reader?.driver == "virtual")
            let lanes = try WireJSON.decode(LaneList.self, from: try await shop.get("/v1/lanes").body)
            #expect(lanes.lanes == status.lanes)
        }
    }

    @Test("Transactions of an order are listed, newest first")
    func orders() async throws {
        try await Shop.withSandbox { shop, _ in
            try shop.reader.obey("present visa")
            let first = try await shop.post(purchase(1_251, order: "E-1"), wait: 20).transaction()
            let second = try await shop.post(purchase(1_200, order: "E-1"), wait: 20).transaction()
            let list = try WireJSON.decode(
                TransactionList.self, from: try await shop.get("/v1/transactions?order=E-1").body)
            #expect(list.transactions.map(\.id) == [second.id, first.id])
            #expect(first.result?.reason == .insufficientFunds && second.state == .approved)
        }
    }

    @Test("Events come with growing numbers, and Last-Event-ID replays what was missed, once")
    func events() async throws {
        try await Shop.withSandbox { shop, _ in
            let live = try await shop.client.events(
                HTTPClientRequest(.get, "/v1/events"), answerWithin: hangLimit)
            try shop.reader.obey("present visa")
            let id = try await shop.post(purchase(900), wait: 20).transaction().id
            var seen: [Event] = []
            for try await event in live {
                let decoded = try WireJSON.decode(Event.self, from: Array(event.data.utf8))
                #expect(event.id == String(decoded.id) && event.name == decoded.name.rawValue)
                if decoded.transaction == id { seen.append(decoded) }
                if decoded.name == .paymentApproved { break }
            }
            #expect(
                seen.map(\.name) == [
                    .readReadyForTap, .readCardDetected, .readRemoveCard, .readCompleted, .paymentAuthorizing,
                    .paymentApproved,
                ])
            #expect(seen.map(\.id) == seen.map(\.id).sorted())
            let missed = try await shop.client.events(
                HTTPClientRequest(.get, "/v1/events", fields: ["Last-Event-ID": String(seen[2].id)]),
                answerWithin: hangLimit)
            var replayed: [Event] = []
            for try await event in missed {
                replayed.append(try WireJSON.decode(Event.self, from: Array(event.data.utf8)))
                if replayed.count == 3 { break }
            }
            #expect(replayed == Array(seen[3...]))
            #expect(try await shop.get("/v1/transactions/\(id)").transaction().events == seen)
        }
    }
}
