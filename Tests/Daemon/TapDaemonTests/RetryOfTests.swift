// SPDX-License-Identifier: Apache-2.0
import Foundation
import LocalHTTP
import POSAPI
import PaymentValues
import ReaderVirtual
import TestSupport
import Testing

@testable import TapDaemon

@Suite("A sale that is tried once more", .timeLimit(.minutes(5)))
struct RetryOfTests {
    private func shop(_ body: (Shop) async throws -> Void) async throws {
        let folder = try TestFolder()
        try await withSandbox(in: folder) { _ in try await Shop.open(in: folder) { try await body($0) } }
    }

    private func tap(_ shop: Shop, _ body: String) async throws -> Transaction {
        try shop.reader.obey("present visa")
        let answer = try await shop.post(body, wait: 20)
        try shop.reader.obey("remove")
        return try answer.transaction()
    }

    private func retry(_ id: TransactionID, _ more: String = "") -> String {
        #"{"type":"purchase","retryOf":"\#(id)"\#(more)}"#
    }

    @Test func `What is left out is that of the sale before, and the payment service is told of it`() async throws {
        let folder = try TestFolder()
        let declined = #"{"outcome":"declined","responseCode":"51"}"#
        let approved = #"{"outcome":"approved","responseCode":"00","approvalCode":"123456"}"#
        try await withAdapter(in: folder) { seen in
            .text(200, seen.earlier(.post) == 0 ? declined : approved)
        } _: { adapter in
            try await Shop.open(in: folder) { shop in
                let items = #","items":[{"label":"tea","amount":{"value":1200,"currency":"EUR"}}]"#
                let first = try await tap(shop, purchase(1_200, order: "A-1", more: items))
                #expect(first.state == .declined)
                let kinds = first.alternatives?.map(\.kind)
                #expect(kinds == [.otherCard] && first.alternatives?.first?.request.retryOf == first.id)
                let second = try await tap(shop, retry(first.id))
                #expect(second.state == .approved && second.retryOf == first.id && second.order == "A-1")
                #expect(second.amount == first.amount && second.details?.items == first.details?.items)
                #expect(second.alternatives == nil)
                let sent = adapter.requests.filter { $0.path.last == "authorizations" }.map(\.text)
                #expect(sent.count == 2 && !sent[0].contains("retryOf"))
                #expect(sent[1].contains(#""retryOf":"\#(first.id)""#))
                // The one that paid stands in the way of a third.
                let third = try await shop.post(retry(first.id))
                #expect(third.status == 409)
                #expect(try third.error().code == "retry.not_possible" && third.error().transaction == second.id)
            }
        }
    }

    @Test func `The request that the answer offers is one that is taken`() async throws {
        try await shop { shop in
            let first = try await tap(shop, purchase(5_051, order: "A-2"))
            let answer = try await shop.get("/v1/transactions/\(first.id)")
            let text = String(decoding: answer.body, as: UTF8.self)
            let offered = try #require(first.alternatives?.first)
            let body = try WireJSON.encode(offered.request)
            #expect(text.contains(String(decoding: body, as: UTF8.self)))
            #expect(try await shop.post(String(decoding: body, as: UTF8.self)).status == 201)
        }
    }

    @Test func `A sale that is paid, runs, is of another order or is not known is not tried again`() async throws {
        try await shop { shop in
            let paid = try await tap(shop, purchase(1_200, order: "A-3"))
            #expect(try await shop.post(retry(paid.id)).error().code == "retry.not_possible")
            let declined = try await tap(shop, purchase(5_051, order: "A-4"))
            let other = try await shop.post(retry(declined.id, #","order":"A-5""#))
            #expect(try other.error().code == "retry.not_possible")
            #expect(try await shop.post(retry(TransactionID())).error().code == "transaction.unknown")
            let running = try await shop.post(retry(declined.id)).transaction()
            let second = try await shop.post(retry(declined.id))
            #expect([409].contains(second.status))
            _ = try await shop.delete("/v1/transactions/\(running.id)")
        }
    }

    @Test func `Another amount may be asked for, and what hangs on an amount needs one`() async throws {
        try await shop { shop in
            let declined = try await tap(shop, purchase(5_051, order: "A-6"))
            let items = #","items":[{"label":"tea","amount":{"value":1200,"currency":"EUR"}}]"#
            #expect(try await shop.post(retry(declined.id, items)).error().code == "request.missing_field")
            let refund = #"{"type":"refund","retryOf":"\#(declined.id)","amount":{"value":1,"currency":"EUR"}}"#
            #expect(try await shop.post(refund).error().code == "request.field_not_applicable")
            let less = try await tap(shop, retry(declined.id, #","amount":{"value":900,"currency":"EUR"}"#))
            #expect(less.state == .approved && less.amount.value == 900 && less.order == "A-6")
        }
    }
}
