// SPDX-License-Identifier: Apache-2.0
import Foundation
import LocalHTTP
import Testing
import Wire

@testable import PSPSandbox

@Suite("The sandbox's links")
struct SandboxLinkTests {
    private func request(_ value: Int64, expires: Int64 = 900) throws -> LinkRequest {
        LinkRequest(
            id: TransactionID(), mode: .test, amount: Money(value: value, currency: try #require(Currency("EUR"))),
            terminal: "1", expiresAt: Timestamp.now.advanced(bySeconds: expires))
    }

    @Test func `What a card would be approved for is paid at the second look, booked once, and given back`()
        async throws
    {
        try await SandboxBench.run { bench in
            let link = try request(1_200)
            func look() async throws -> LinkAnswer {
                try WireJSON.decode(LinkAnswer.self, from: try await bench.get("/v1/links/\(link.id)").body)
            }
            #expect(try await bench.get("/v1/links/\(link.id)").status == 404)
            let opened = try await bench.post("/v1/links", WireJSON.encode(link), key: link.id.text)
            #expect(opened.status == 200)
            #expect(try WireJSON.decode(LinkAnswer.self, from: opened.body).url == "https://pay.example/\(link.id)")
            #expect(try await look().state == .open)
            let paid = try await look()
            #expect(paid.state == .paid && paid.payment?.outcome == .approved && paid.card?.last4 == "1111")
            #expect(try await look() == paid)
            let booked = try await bench.ledger().transactions
            #expect(booked.map(\.money) == [1_200] && booked.map(\.id) == [link.id])
            let reversal = try WireJSON.encode(ReversalRequest(reason: .customerCancel, amount: link.amount))
            #expect(
                try await bench.post(
                    "/v1/authorizations/\(link.id)/reversals", reversal, key: link.id.text
                ).status == 200)
            #expect(try await bench.ledger().transactions.map(\.money) == [0])
        }
    }

    @Test func `Any other amount stays open, and nobody pays after the time is over`() async throws {
        try await SandboxBench.run { bench in
            for (link, end) in [
                (try request(1_251), LinkAnswer.State.open), (try request(1_200, expires: -1), .expired),
            ] {
                _ = try await bench.post("/v1/links", WireJSON.encode(link), key: link.id.text)
                for _ in 0..<3 {
                    let answer = try await bench.get("/v1/links/\(link.id)")
                    #expect(try WireJSON.decode(LinkAnswer.self, from: answer.body).state == end)
                }
            }
            #expect(try await bench.ledger().transactions.isEmpty)
        }
    }
}
