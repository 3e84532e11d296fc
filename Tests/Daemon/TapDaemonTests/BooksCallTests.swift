// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
import POSAPI
import PaymentValues
import ReaderVirtual
import TestSupport
import Testing

@testable import TapDaemon

@Suite("Lists, totals and day ends over the POS socket", .timeLimit(.minutes(5)))
struct BooksCallTests {
    private func get(_ shop: Shop, _ target: String) async throws -> Answer {
        try await shop.send(HTTPClientRequest(.get, target))
    }

    private func close(_ shop: Shop, _ key: String, _ body: String) async throws -> Answer {
        let fields: HTTPFields = ["Content-Type": "application/json", "Idempotency-Key": key]
        return try await shop.send(HTTPClientRequest(.post, "/v1/days", fields: fields, body: Array(body.utf8)))
    }

    @Test("A sale is in the list, in the totals and in the report of its day, and in no other")
    func day() async throws {
        try await Shop.withSandbox { shop, _ in
            try shop.reader.obey("present visa")
            let sale = try await shop.post(purchase(1_200), wait: 20).transaction()
            #expect(sale.state == .approved)
            let list = try WireJSON.decode(
                TransactionList.self, from: try await get(shop, "/v1/transactions?state=approved&limit=1").body)
            #expect(list.transactions.map(\.id) == [sale.id] && list.next == nil)
            #expect(list.transactions.first?.account?.captured == 1_200)
            let last = try await get(shop, "/v1/lanes/\(sale.lane)/last?settled=true").transaction()
            #expect(last.id == sale.id)
            let none = try await get(shop, "/v1/lanes/nowhere/last")
            #expect(none.status == 404)
            let totals = try WireJSON.decode(
                Totals.self, from: try await get(shop, "/v1/totals?by=scheme,type").body)
            #expect(totals.net.map(\.value) == [1_200] && totals.openCount == 0)
            let first = try await close(shop, "d-1", #"{"label":"today"}"#)
            #expect(first.status == 201)
            let end = try WireJSON.decode(EndOfDay.self, from: first.body)
            #expect(end.day.label == "today" && end.totals.net.map(\.value) == [1_200])
            let again = try await close(shop, "d-1", #"{"label":"today"}"#)
            let repeated = try WireJSON.decode(EndOfDay.self, from: again.body)
            #expect(again.fields.only("Idempotency-Replayed") == "true")
            #expect(repeated.day.number == end.day.number && repeated.totals == end.totals)
            #expect(try await close(shop, "d-1", "{}").status == 422)
            let report = try await get(shop, "/v1/days/\(end.day.number)/report?width=32&copy=true")
            let text = String(decoding: report.body, as: UTF8.self)
            #expect(text.contains("COPY") && text.contains("12.00") && text.contains("TEST"))
            #expect(text.split(separator: "\n").allSatisfy { $0.count <= 32 })
            let next = try WireJSON.decode(Totals.self, from: try await get(shop, "/v1/totals").body)
            #expect(next.lines.isEmpty && next.day?.number == end.day.number + 1)
        }
    }

    @Test("A transaction has its number from the first answer on, whatever becomes of it", arguments: [1_200, 5_091])
    func number(value: Int64) async throws {
        try await Shop.withSandbox { shop, _ in
            let first = try await shop.post(purchase(value)).transaction()
            let number = try #require(first.number)
            try shop.reader.obey("present visa")
            let end = try await shop.get("/v1/transactions/\(first.id)?wait=20").transaction()
            #expect(end.state.isSettled && end.number == number)
            let list = try WireJSON.decode(
                TransactionList.self, from: try await get(shop, "/v1/transactions?limit=1").body)
            #expect(list.transactions.first?.number == number)
        }
    }

    @Test(
        "A parameter that means nothing is refused by its name",
        arguments: [
            ("/v1/transactions?amount=5", "currency"), ("/v1/transactions?state=done", "state"),
            ("/v1/transactions?after=1-ab", "after"), ("/v1/transactions?limit=0", "limit"),
            ("/v1/totals?by=card", "by"), ("/v1/totals?from=2026-01-01T00:00:00.000Z&day=1", "day"),
            ("/v1/lanes/main/last?uid=7", "uid"),
        ])
    func refused(target: String, field: String) async throws {
        let folder = try TestFolder()
        try await Shop.open(in: folder) { shop in
            let answer = try await get(shop, target)
            #expect(answer.status == 400)
            #expect(try answer.error().field == field)
        }
    }
}
