// SPDX-License-Identifier: Apache-2.0
import Foundation
import LocalHTTP
import ReaderVirtual
import TestSupport
import Testing
import Wire

@testable import TapDaemon

/// The examples of a payment's life that `OperationTests` does not play: a partial approval, an approval that nobody confirms,
/// and a refund on the next day. Each with the messages that a till and a payment service exchange.
@Suite("Worked examples of a payment's life, from till to service", .timeLimit(.minutes(3)))
struct WorkedExampleTests {
    private func pay(_ shop: Shop, _ value: Int64, _ more: String = "") async throws -> Transaction {
        try shop.reader.obey("present visa")
        let sale = try await shop.post(purchase(value, order: UUID().uuidString, more: more), wait: 20).transaction()
        try shop.reader.obey("remove")
        return sale
    }

    private func rows(_ shop: Shop, _ id: TransactionID) throws -> String {
        try shop.journal(
            "SELECT group_concat(entry || ' ' || hold || '/' || money, '; ') FROM (SELECT * FROM ledger WHERE payment = '\(id)' ORDER BY sequence)"
        )
    }

    private func withShop(_ body: (Shop) async throws -> Void) async throws {
        let folder = try TestFolder()
        try await withSandbox(in: folder) { _ in
            try await Shop.open(in: folder) { shop in
                _ = try await eventually("the service has said what it can") { shop.daemon.health.supports }
                try await body(shop)
            }
        }
    }

    @Test func `Example 8: after a partial approval what was approved is the limit of a refund`() async throws {
        try await withShop { shop in
            let sale = try await pay(shop, 1_210)
            #expect(sale.result?.outcome == .partiallyApproved && sale.result?.amountApproved?.value == 605)
            #expect(try rows(shop, sale.id) == "captured 0/605")
            let refund = try await shop.post(
                #"{"type":"refund","of":"\#(sale.id)","amount":{"value":1210,"currency":"EUR"}}"#)
            #expect(refund.status == 422)
            let error = try refund.error()
            #expect(error.code == "refund.too_much" && error.limit == Money(value: 605, currency: sale.amount.currency))
        }
    }

    @Test func `Example 10: an approval that nobody confirms is taken back, and is open until that is acknowledged`()
        async throws
    {
        try await withShop { shop in
            let sale = try await pay(shop, 700, #","confirmWithin":1"#)
            let end = try await shop.reach([.reversed], sale.id)
            #expect(end.history.map(\.state).suffix(3) == [.approved, .reversing, .reversed])
            #expect(try rows(shop, sale.id) == "captured 0/700; reversed 0/-700")
            #expect(try await shop.get("/v1/transactions/\(sale.id)").transaction().account?.state == .reversed)
        }
    }

    @Test func `Example 12: a refund of yesterday's sale is of today, and yesterday's report stays as it was`()
        async throws
    {
        try await withShop { shop in
            let sale = try await pay(shop, 1_000)
            func close(_ label: String) async throws -> DayEnd {
                let answer = try await shop.send(
                    HTTPClientRequest(
                        .post, "/v1/day-ends",
                        fields: ["Content-Type": "application/json", "Idempotency-Key": UUID().uuidString],
                        body: Array(#"{"label":"\#(label)"}"#.utf8)))
                #expect(answer.status == 201, "\(answer.text)")
                return try WireJSON.decode(DayEnd.self, from: answer.body)
            }
            let first = try await close("day-1")
            #expect(first.totals.net.map(\.value) == [1_000])
            let refund = try await shop.post(
                #"{"type":"refund","of":"\#(sale.id)","amount":{"value":1000,"currency":"EUR"}}"#, wait: 20)
            #expect(try refund.transaction().state == .approved)
            let second = try await close("day-2")
            #expect(second.totals.net.map(\.value) == [-1_000])
            let again = try WireJSON.decode(
                DayEnd.self, from: try await shop.get("/v1/day-ends/\(first.day.number)").body)
            #expect(again.totals == first.totals && again.day.label == "day-1")
        }
    }
}
