// SPDX-License-Identifier: Apache-2.0
import Foundation
import LocalHTTP
import POSAPI
import PSPAPI
import PSPSandbox
import PaymentValues
import ReaderVirtual
import Synchronization
import TestSupport
import Testing

@testable import TapDaemon

/// The examples of captures and refunds with the sandbox as payment service: what it is sent, to the member, and what both sides
/// have in their books. `OperationTests` plays the same against a service of a few lines.
@Suite("Worked examples, message by message", .timeLimit(.minutes(10)))
struct WorkedExampleMessageTests {
    /// What is on the way from the daemon to the service.
    private final class Way: Sendable {
        enum Fault: Sendable, Equatable {
            /// Lost on the way there, or its answer on the way back.
            case lostBefore, lostAfter
            case declined
        }

        private let faults = Mutex<[Fault]>([])
        /// Questions about an operation get no answer.
        let isSilent = Atomic(false)

        func fail(_ next: Fault...) { faults.withLock { $0 = next } }

        func turn(_ request: HTTPRequest, _ pass: @Sendable () async -> HTTPResponse) async -> HTTPResponse {
            if request.method == .get, request.path.contains("operations"), isSilent.load(ordering: .relaxed) {
                return .text(503, "{}")
            }
            let calls: Set<String> = ["captures", "adjustments", "releases", "refunds"]
            guard request.method == .post, calls.contains(request.path.last ?? "") else { return await pass() }
            switch faults.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
            case .lostBefore: return .nothing
            case .lostAfter:
                _ = await pass()
                return .nothing
            case .declined:
                let id = request.fields.only("Idempotency-Key") ?? ""
                return .text(200, #"{"id":"\#(id)","outcome":"declined","responseCode":"51"}"#)
            case nil: return await pass()
            }
        }
    }

    private struct Named: Decodable { let id: String }

    private struct Bench {
        let shop: Shop
        let way: Way
        let passage: Passage
        let sandbox: Sandbox

        func sale(_ value: Int64, held: Bool) async throws -> Transaction {
            let sale = try await shop.approved(value, held: held)
            #expect(sale.result?.pspReference != nil)
            return sale
        }

        func operate(_ id: TransactionID, _ call: String, _ body: String, wait: Int = 20) async throws -> Answer {
            try await shop.send(
                HTTPClientRequest(
                    .post, "/v1/transactions/\(id)/\(call)",
                    fields: [
                        "Content-Type": "application/json", "Idempotency-Key": UUID().uuidString,
                        "Prefer": "wait=\(wait)",
                    ],
                    body: Array(body.utf8)))
        }

        func done(_ answer: Answer) throws -> PaymentOperation {
            #expect(answer.status == 201, "\(answer.text)")
            return try WireJSON.decode(PaymentOperation.self, from: answer.body)
        }

        func refund(_ id: TransactionID, _ value: Int64, wait: Int = 20) async throws -> Answer {
            try await shop.post(
                #"{"type":"refund","of":"\#(id)","amount":{"value":\#(value),"currency":"EUR"}}"#, wait: wait)
        }

        /// What the service was sent about a payment by one call, each under its own key.
        func sent<Message: Decodable>(_ call: String, _ id: TransactionID, as: Message.Type) throws -> [Message] {
            let exchanges = passage.exchanges.filter { $0.method == .post && $0.path.last == call }
            return try exchanges.filter { $0.path == ["v1", "authorizations", id.text, call] }.map {
                #expect(try JSONDecoder().decode(Named.self, from: Data($0.request.utf8)).id == $0.key)
                return try WireJSON.decode(Message.self, from: Array($0.request.utf8))
            }
        }

        func entry(_ id: TransactionID) async throws -> LedgerEntry {
            try #require(await sandbox.ledger.transactions.first { $0.id == id })
        }

        func rows(_ id: TransactionID) throws -> String {
            try shop.journal(
                "SELECT group_concat(entry || ' ' || hold || '/' || money, '; ') FROM (SELECT * FROM ledger WHERE payment = '\(id)' OR payment IN (SELECT id FROM payment WHERE of = '\(id)') ORDER BY sequence)"
            )
        }

        func account(_ id: TransactionID) async throws -> PaymentAccount {
            try #require(try await shop.get("/v1/transactions/\(id)").transaction().account)
        }
    }

    private func withBench(_ body: (Bench) async throws -> Void) async throws {
        let (folder, way) = (try TestFolder(), Way())
        var wish = Shop.Wish()
        wish.adapterSocket = "way.sock"
        try await withSandbox(in: folder) { sandbox in
            try await withPassage(
                at: folder.path + "/way.sock", to: folder.path + "/psp.sock", { await way.turn($0, $1) },
                { passage in
                    try await Shop.open(in: folder, wish) { shop in
                        _ = try await eventually("the service has said what it can") { shop.daemon.health.supports }
                        try await body(Bench(shop: shop, way: way, passage: passage, sandbox: sandbox))
                    }
                })
        }
    }

    private func euros(_ value: Int64) throws -> Money {
        Money(value: value, currency: try #require(Currency("EUR")))
    }

    @Test func `Example 1: a final capture of a part`() async throws {
        try await withBench { bench in
            let sale = try await bench.sale(20_000, held: true)
            let capture = try bench.done(
                try await bench.operate(
                    sale.id, "captures", #"{"amount":{"value":13400,"currency":"EUR"},"final":true}"#))
            #expect(capture.state == .done)
            #expect(
                try bench.sent("captures", sale.id, as: PSPAPI.CaptureRequest.self) == [
                    PSPAPI.CaptureRequest(
                        id: capture.id, mode: .test, amount: try euros(13_400), final: true, order: sale.order,
                        pspReference: sale.result?.pspReference)
                ])
            #expect(try bench.rows(sale.id) == "authorised 20000/0; captured -13400/13400; released -6600/0")
            let entry = try await bench.entry(sale.id)
            #expect(entry.captured == 13_400 && entry.released == 6_600 && entry.held == 0)
            #expect(try await bench.account(sale.id).refundable == 13_400)
        }
    }

    @Test func `Examples 2 and 3: captures and a release; adjustments, of which one is declined`() async throws {
        try await withBench { bench in
            let sale = try await bench.sale(10_000, held: true)
            for value in [4_000, 3_000] {
                _ = try bench.done(
                    try await bench.operate(
                        sale.id, "captures", #"{"amount":{"value":\#(value),"currency":"EUR"},"final":false}"#))
            }
            _ = try bench.done(try await bench.operate(sale.id, "releases", "{}"))
            let captures = try bench.sent("captures", sale.id, as: PSPAPI.CaptureRequest.self)
            #expect(captures.map(\.amount.value) == [4_000, 3_000] && captures.allSatisfy { !$0.final })
            let releases = try bench.sent("releases", sale.id, as: PSPAPI.ReleaseRequest.self)
            #expect(
                releases.map(\.amount.value) == [3_000] && releases.first?.pspReference == sale.result?.pspReference)
            #expect(
                try bench.rows(sale.id)
                    == "authorised 10000/0; captured -4000/4000; captured -3000/3000; released -3000/0")
            #expect(try await bench.account(sale.id).captured == 7_000)
            #expect(try await bench.account(sale.id).remaining == 0)
            let entry = try await bench.entry(sale.id)
            #expect(entry.captured == 7_000 && entry.released == 3_000 && entry.held == 0)

            let hotel = try await bench.sale(5_000, held: true)
            let raise = #"{"total":{"value":8000,"currency":"EUR"}}"#
            #expect(try bench.done(try await bench.operate(hotel.id, "adjustments", raise)).state == .done)
            bench.way.fail(.declined)
            let more = #"{"total":{"value":12000,"currency":"EUR"}}"#
            let declined = try await bench.operate(hotel.id, "adjustments", more)
            #expect(try WireJSON.decode(PaymentOperation.self, from: declined.body).state == .refused)
            #expect(try bench.done(try await bench.operate(hotel.id, "captures", "{}")).state == .done)
            let adjustments = try bench.sent("adjustments", hotel.id, as: PSPAPI.AdjustmentRequest.self)
            #expect(adjustments.map(\.total?.value) == [8_000, 12_000] && adjustments.allSatisfy { $0.extend == nil })
            let all = try bench.sent("captures", hotel.id, as: PSPAPI.CaptureRequest.self)
            #expect(all.map(\.amount.value) == [8_000] && all.map(\.final) == [true])
            #expect(try bench.rows(hotel.id) == "authorised 5000/0; adjusted 3000/0; captured -8000/8000")
            #expect(try await bench.entry(hotel.id).captured == 8_000)
        }
    }

    /// The sandbox allows twice the hold for amounts that end in 20.
    @Test func `Example 4: a tip beyond the hold`() async throws {
        try await withBench { bench in
            let sale = try await bench.sale(4_020, held: true)
            let above = try await bench.operate(
                sale.id, "captures", #"{"amount":{"value":8041,"currency":"EUR"}}"#)
            #expect(try above.status == 422 && above.error().limit?.value == 8_040)
            let capture = try bench.done(
                try await bench.operate(
                    sale.id, "captures",
                    #"{"amount":{"value":4620,"currency":"EUR"},"tip":{"value":600,"currency":"EUR"}}"#))
            #expect(
                try bench.sent("captures", sale.id, as: PSPAPI.CaptureRequest.self) == [
                    PSPAPI.CaptureRequest(
                        id: capture.id, mode: .test, amount: try euros(4_620), tip: try euros(600), final: true,
                        order: sale.order, pspReference: sale.result?.pspReference)
                ])
            #expect(try bench.rows(sale.id) == "authorised 4020/0; captured -4020/4620")
            let entry = try await bench.entry(sale.id)
            #expect(entry.captured == 4_620 && entry.tips == 600 && entry.held == 0)
        }
    }

    @Test func `Example 5: refunds end where the capture ends`() async throws {
        try await withBench { bench in
            let sale = try await bench.sale(1_250, held: false)
            var ids: [TransactionID] = []
            for value: Int64 in [500, 750] {
                let refund = try await bench.refund(sale.id, value).transaction()
                #expect(refund.state == .approved)
                ids.append(refund.id)
            }
            let third = try await bench.refund(sale.id, 1)
            #expect(try third.status == 422 && third.error().code == "refund.too_much")
            #expect(try third.error().limit?.value == 0)
            let asked = try bench.sent("refunds", sale.id, as: RefundRequest.self)
            #expect(asked.map(\.id) == ids && asked.map(\.amount.value) == [500, 750])
            #expect(asked.allSatisfy { $0.card == .none && $0.authorization == nil })
            #expect(asked.allSatisfy { $0.pspReference == sale.result?.pspReference })
            #expect(try bench.rows(sale.id) == "captured 0/1250; refunded 0/-500; refunded 0/-750")
            #expect(try await bench.account(sale.id).state == .refunded)
            #expect(try await bench.entry(sale.id).refunded == 1_250)
        }
    }

    @Test func `Examples 6 and 7: a refund without an answer counts, until it was declined`() async throws {
        try await withBench { bench in
            let sale = try await bench.sale(1_250, held: false)
            bench.way.isSilent.store(true, ordering: .relaxed)
            bench.way.fail(.lostBefore, .declined)
            let open = try await bench.refund(sale.id, 1_000, wait: 0).transaction()
            let account = try await bench.account(sale.id)
            #expect(account.pendingRefund == 1_000 && account.refundable == 250)
            let second = try await bench.refund(sale.id, 300)
            #expect(try second.status == 422 && second.error().limit?.value == 250)
            #expect(try bench.rows(sale.id) == "captured 0/1250")

            bench.way.isSilent.store(false, ordering: .relaxed)
            let end = try await bench.shop.reach([.declined], open.id)
            #expect(end.of == sale.id)
            let asked = try bench.sent("refunds", sale.id, as: RefundRequest.self)
            #expect(asked.count == 2 && asked[0] == asked[1] && asked[0].id == open.id)
            #expect(
                bench.passage.exchanges.contains { $0.path == ["v1", "operations", open.id.text] && $0.status == 404 })
            #expect(try bench.rows(sale.id) == "captured 0/1250")
            let after = try await bench.account(sale.id)
            #expect(after.pendingRefund == 0 && after.refundable == 1_250)
            #expect(try await bench.entry(sale.id).refunded == 0)
        }
    }

    @Test func `Example 9: a capture whose answer is lost is asked about, and a release waits for it`() async throws {
        try await withBench { bench in
            let sale = try await bench.sale(3_000, held: true)
            bench.way.isSilent.store(true, ordering: .relaxed)
            bench.way.fail(.lostAfter)
            let answer = try await bench.operate(
                sale.id, "captures", #"{"amount":{"value":1000,"currency":"EUR"}}"#, wait: 0)
            let capture = try WireJSON.decode(PaymentOperation.self, from: answer.body)
            #expect(answer.status == 202)
            let release = try await bench.operate(sale.id, "releases", "{}")
            #expect(try release.status == 409 && release.error().code == "operation.pending")
            #expect(try release.error().operation == capture.id)

            bench.way.isSilent.store(false, ordering: .relaxed)
            let end = try await bench.shop.get("/v1/operations/\(capture.id)?wait=60")
            #expect(try WireJSON.decode(PaymentOperation.self, from: end.body).state == .done)
            let asked = try bench.sent("captures", sale.id, as: PSPAPI.CaptureRequest.self)
            #expect(Set(asked.map(\.id)) == [capture.id] && asked.map(\.final) == [true])
            #expect(try bench.sent("releases", sale.id, as: PSPAPI.ReleaseRequest.self).isEmpty)
            #expect(try bench.rows(sale.id) == "authorised 3000/0; captured -1000/1000; released -2000/0")
            let entry = try await bench.entry(sale.id)
            #expect(entry.captured == 1_000 && entry.released == 2_000 && entry.held == 0)
        }
    }
}
