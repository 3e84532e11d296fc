// SPDX-License-Identifier: Apache-2.0
import Glibc
import LocalHTTP
import PaymentValues
import TestSupport
import Testing

@testable import TapDaemon

@Suite("What a gateway has refused", .timeLimit(.minutes(5)))
struct RefusalCallTests {
    private func report(_ body: String) -> HTTPClientRequest {
        HTTPClientRequest(
            .post, "/v1/refusals", fields: ["Content-Type": "application/json"], body: Array(body.utf8))
    }

    private static let two =
        #"{"refusals":[{"code":"origin.refused","count":3},{"code":"token.unknown","till":"bar-1","count":40}]}"#

    private func open(_ wish: Shop.Wish, _ body: (Shop) async throws -> Void) async throws {
        let folder = try TestFolder()
        try await withSandbox(in: folder) { _ in
            try await Shop.open(in: folder, wish) { shop in try await body(shop) }
        }
    }

    @Test func `stands in the audit chain, counted, and in one line for each report`() async throws {
        try await open(.gateway()) { shop in
            #expect(try await shop.send(report(Self.two)).status == 204)
            let said = try shop.journal("SELECT detail FROM audit WHERE kind = 'refusal'")
            #expect(said == "by uid \(geteuid()): origin.refused 3, token.unknown 40 till bar-1")
        }
    }

    @Test func `is a gateway's to say, and no till's and nobody else's`() async throws {
        try await open(.gateway()) { shop in
            let till = GatewayTill(shop: shop, name: "bar-1")
            let answer = try await till.post("/v1/refusals", Self.two)
            #expect(answer.status == 403)
        }
        try await open(Shop.Wish()) { shop in
            let answer = try await shop.send(report(Self.two))
            #expect(answer.status == 403)
            #expect(try shop.journal("SELECT count(*) FROM audit WHERE kind = 'refusal'") == "0")
        }
    }

    @Test(arguments: [
        "{}", #"{"refusals":[]}"#, #"{"refusals":[{"code":"4111111111111111","count":1}]}"#,
        #"{"refusals":[{"code":"origin.refused","count":0}]}"#,
        #"{"refusals":[{"code":"origin.refused","count":1,"note":"x"}]}"#,
        #"{"refusals":[{"code":"origin.refused","till":"Bar 1","count":1}]}"#,
    ])
    func `says nothing in words of its own`(body: String) async throws {
        try await open(.gateway()) { shop in
            let answer = try await shop.send(report(body))
            #expect(answer.status == 400)
            #expect(try shop.journal("SELECT count(*) FROM audit WHERE kind = 'refusal'") == "0")
        }
    }

    @Test func `is taken ten times at once and once a minute after that`() {
        let minute: UInt64 = 60 * 1_000_000_000
        let pace = RefusalPace()
        for _ in 0..<10 { #expect(pace.take(at: minute) == 0) }
        #expect(pace.take(at: minute) == nil)
        #expect(pace.take(at: minute + minute - 1) == nil)
        #expect(pace.take(at: minute + minute) == 2, "what was left out is counted")
        #expect(pace.take(at: minute + minute) == nil)
    }
}
