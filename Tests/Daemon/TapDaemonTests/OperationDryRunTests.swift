// SPDX-License-Identifier: Apache-2.0
import Foundation
import LocalHTTP
import POSAPI
import PaymentValues
import ReaderVirtual
import Synchronization
import TestSupport
import Testing

@testable import TapDaemon

@Suite("Operations that are only tried", .timeLimit(.minutes(5)))
struct OperationDryRunTests {
    private func attempt(
        _ shop: Shop, _ id: TransactionID, _ call: String, _ body: String, key: String = UUID().uuidString
    ) async throws -> Answer {
        try await shop.send(
            HTTPClientRequest(
                .post, "/v1/transactions/\(id)/\(call)",
                fields: ["Content-Type": "application/json", "Idempotency-Key": key], body: Array(body.utf8)))
    }

    private func trial(_ answer: Answer) throws -> OperationDryRun {
        #expect(answer.status == 200)
        return try WireJSON.decode(OperationDryRun.self, from: answer.body)
    }

    private func written(_ shop: Shop) throws -> String {
        try shop.journal(
            "SELECT (SELECT count(*) FROM operation), (SELECT count(*) FROM payment), (SELECT count(*) FROM ledger), (SELECT max(change) FROM payment)"
        )
    }

    @Test func `A capture, an adjustment and a release say what they would do, and nothing is done`() async throws {
        try await withOperations { shop, service in
            let id = try await shop.approved(20_000, held: true).id
            let before = try written(shop)
            let capture = try trial(
                try await attempt(
                    shop, id, "captures", #"{"amount":{"value":13400,"currency":"EUR"},"dryRun":true}"#, key: "k"))
            #expect(capture.kind == .capture && capture.amount?.value == 13_400 && capture.transaction == id)
            #expect(capture.account.captured == 13_400 && capture.account.released == 6_600)
            let all = try trial(try await attempt(shop, id, "captures", #"{"dryRun":true}"#))
            #expect(all.amount?.value == 20_000 && all.account.remaining == 0)
            let adjustment = try trial(
                try await attempt(
                    shop, id, "adjustments", #"{"total":{"value":25000,"currency":"EUR"},"dryRun":true}"#))
            #expect(adjustment.amount?.value == 25_000 && adjustment.account.remaining == 25_000)
            let extension_ = try trial(
                try await attempt(shop, id, "adjustments", #"{"extend":true,"dryRun":true}"#))
            #expect(extension_.amount == nil && extension_.account.remaining == 20_000)
            let release = try trial(try await attempt(shop, id, "releases", #"{"dryRun":true}"#))
            #expect(release.kind == .release && release.account.released == 20_000)
            #expect(try written(shop) == before && service.state.withLock { $0.posts } == 0)
            // The key was not used up, and `false` is a request like any other.
            let real = try await attempt(
                shop, id, "captures", #"{"amount":{"value":100,"currency":"EUR"},"dryRun":false}"#, key: "k")
            #expect(real.status == 201 || real.status == 202)
        }
    }

    @Test func `What would be refused is refused with the same word and limit`() async throws {
        try await withOperations { shop, _ in
            let held = try await shop.approved(5_000, held: true).id
            let body = #"{"amount":{"value":5001,"currency":"EUR"},"dryRun":"#
            let tried = try await attempt(shop, held, "captures", body + "true}")
            let real = try await attempt(shop, held, "captures", body + "false}")
            #expect(tried.status == 422 && real.status == 422)
            #expect(try tried.error().code == "capture.too_much" && real.error().code == "capture.too_much")
            let sale = try await shop.approved(1_250, held: false).id
            let other = try await attempt(shop, sale, "captures", #"{"dryRun":true}"#)
            #expect(try other.error().code == "capture.automatic")
            #expect(try await attempt(shop, held, "captures", #"{"dryRun":1}"#).status == 400)
        }
    }

    @Test func `A refund of a payment is tried against what is left of it`() async throws {
        try await withOperations { shop, service in
            let sale = try await shop.approved(1_250, held: false).id
            let before = try written(shop)
            func body(_ value: Int64) -> String {
                #"{"type":"refund","of":"\#(sale)","amount":{"value":\#(value),"currency":"EUR"},"dryRun":true}"#
            }
            let part = try trial(try await shop.post(body(500)))
            #expect(part.kind == .refund && part.amount?.value == 500)
            #expect(part.account.refunded == 500 && part.account.refundable == 750)
            let more = try await shop.post(body(1_251))
            #expect(try more.error().code == "refund.too_much" && more.status == 422)
            let yen = #"{"type":"refund","of":"\#(sale)","amount":{"value":5,"currency":"JPY"},"dryRun":true}"#
            #expect(try await shop.post(yen).error().code == "amount.currency_mismatch")
            #expect(try written(shop) == before && service.state.withLock { $0.posts } == 0)
        }
    }
}
