// SPDX-License-Identifier: Apache-2.0
import Foundation
import LocalHTTP
import PSPAPI
import PaymentValues
import Testing

@testable import PSPSandbox

@Suite("The sandbox's links")
struct SandboxLinkTests {
    private func request(_ value: Int64, expires: Int64 = 900, to: String? = nil) throws -> LinkRequest {
        LinkRequest(
            id: TransactionID(), mode: .test, amount: Money(value: value, currency: try #require(Currency("EUR"))),
            terminal: "1", expiresAt: Timestamp.now.advanced(bySeconds: expires), to: to)
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

    @Test
    func `At a terminal the amount decides as well: paid, declined, or nobody comes; another terminal there is not`()
        async throws
    {
        try await SandboxBench.run { bench in
            let name = try #require(SandboxLinks.terminals.first)
            for (value, end, money) in [
                (Int64(1_200), LinkAnswer.State.paid, Int64?(1_200)), (1_251, .declined, 0), (1_299, .open, nil),
            ] {
                let handover = try request(value, to: name)
                func look() async throws -> LinkAnswer {
                    let answer = try await bench.get("/v1/handovers/\(handover.id)")
                    return try WireJSON.decode(LinkAnswer.self, from: answer.body)
                }
                let opened = try await bench.post("/v1/handovers", WireJSON.encode(handover), key: handover.id.text)
                #expect(opened.status == 200)
                let first = try await look()
                #expect(first.state == .open && first.url == nil)
                let last = try await look()
                #expect(try await look() == last && last.state == end, "\(value)")
                #expect(last.payment?.responseCode == [.paid: "00", .declined: "51"][end])
                let booked = try await bench.ledger().transactions.first { $0.id == handover.id }
                #expect(booked?.money == money, "\(value)")
            }
            for to in [nil, "elsewhere"] {
                let handover = try request(1_200, to: to)
                let refused = try await bench.post("/v1/handovers", WireJSON.encode(handover), key: handover.id.text)
                #expect(refused.status == 403)
                #expect(try await bench.get("/v1/handovers/\(handover.id)").status == 404)
            }
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
