// SPDX-License-Identifier: Apache-2.0
import Foundation
import LocalHTTP
import POSAPI
import PSPAPI
import PaymentValues
import ReaderVirtual
import TestSupport
import Testing

@testable import TapDaemon

@Suite("A payment that is captured later", .timeLimit(.minutes(10)))
struct ManualCaptureTests {
    private func shop(
        _ supports: String, _ body: (Shop, ScriptedAdapter) async throws -> Void
    ) async throws {
        let (folder, service) = (try TestFolder(), OperationService())
        let health = #"{"status":"ok","protocolVersions":["v1"],"supports":[\#(supports)]}"#
        try await withAdapter(in: folder, health: health) {
            service.answer($0)
        } _: { adapter in
            try await Shop.open(in: folder) { shop in
                _ = try await eventually("the service has said what it can") { shop.daemon.health.supports }
                try await body(shop, adapter)
            }
        }
    }

    private func pay(_ shop: Shop, _ more: String) async throws -> Answer {
        try shop.reader.obey("present visa")
        let answer = try await shop.post(purchase(5_000, order: UUID().uuidString, more: more), wait: 20)
        try shop.reader.obey("remove")
        return answer
    }

    @Test func `C1: capture manual is what preauthorized says, and its wishes reach the payment service`()
        async throws
    {
        try await shop(#""sale","preauth","capture","adjust""#) { shop, adapter in
            let wish = #","capture":{"mode":"manual","before":"2099-01-02T03:04:05.000Z","incremental":true}"#
            let answer = try await pay(shop, wish).transaction()
            #expect(answer.state == .approved && answer.details?.amountStatus == .preauthorized)
            let account = try #require(try await shop.get("/v1/transactions/\(answer.id)").transaction().account)
            #expect(account.capture == .manual && account.remaining == 5_000 && account.capturable == nil)
            let sent = try #require(adapter.requests.first { $0.path.last == "authorizations" })
            let request = try WireJSON.decode(AuthorizationRequest.self, from: sent.body)
            #expect(request.type == .preauth && request.hold?.incremental == true)
            #expect(request.hold?.before == Timestamp("2099-01-02T03:04:05.000Z"))
            let automatic = try await pay(shop, #","capture":{"mode":"automatic"}"#).transaction()
            #expect(automatic.details?.amountStatus == nil)
            let captured = try await shop.get("/v1/transactions/\(automatic.id)").transaction().account
            #expect(captured?.capture == .automatic && captured?.captured == 5_000)
        }
    }

    @Test func `C2: what the payment service cannot capture is refused before the tap`() async throws {
        try await shop(#""sale","preauth""#) { shop, adapter in
            let refused = try await shop.post(purchase(5_000, more: #","capture":{"mode":"manual"}"#))
            #expect(refused.status == 409)
            #expect(try refused.error().code == "capture.not_supported")
            #expect(adapter.requests.isEmpty)
            #expect(try shop.journal("SELECT count(*) FROM payment") == "0")
            // A service of before captures keeps working for whoever asks as before.
            let held = try await pay(shop, #","amountStatus":"preauthorized""#).transaction()
            #expect(held.state == .approved)
            #expect(try await shop.get("/v1/transactions/\(held.id)").transaction().account?.capturable == false)
        }
        try await shop(#""sale","preauth","capture""#) { shop, _ in
            let refused = try await shop.post(
                purchase(5_000, more: #","capture":{"mode":"manual","incremental":true}"#))
            #expect(refused.status == 409)
            #expect(try refused.error().code == "adjustment.not_supported")
        }
    }

    @Test(
        "What contradicts itself is refused by name",
        arguments: [
            (#""capture":{"mode":"manual"},"amountStatus":"final""#, "request.field_conflict", "capture"),
            (#""capture":{"mode":"automatic"},"amountStatus":"preauthorized""#, "request.field_conflict", "capture"),
            (
                #""capture":{"mode":"automatic","incremental":true}"#, "request.field_not_applicable",
                "capture.incremental"
            ),
            (#""capture":{"before":"2099-01-02T03:04:05.000Z"}"#, "request.missing_field", "capture.mode"),
            (#""capture":{"mode":"manual","onExpiry":"release"}"#, "request.unknown_field", "capture.onExpiry"),
        ])
    func contradictions(_ more: String, _ code: String, _ field: String) throws {
        let text = #"{"type":"purchase","amount":{"value":1,"currency":"EUR"},\#(more)}"#
        #expect(
            throws: WireError(try #require(ErrorCode(rawValue: code)), field: field)
        ) { try WireJSON.decode(TransactionRequest.self, from: Array(text.utf8)) }
    }
}
