// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
import POSAPI
import PSPAPI
import PSPSandbox
import PaymentValues
import ReaderVirtual
import TestSupport
import Testing

@testable import TapDaemon

/// The sandbox opens what is sealed for it, and refuses an address of another transaction, an old one and none.
@Suite("Receipts to a customer's address", .timeLimit(.minutes(10)))
struct ReceiptSendingTests {
    private func paid(_ shop: Shop) async throws -> TransactionID {
        try shop.reader.obey("present visa")
        let paid = try await shop.post(purchase(1_200), wait: 20).transaction()
        try shop.reader.obey("remove")
        #expect(paid.state == .approved)
        return paid.id
    }

    @Test("Row 24 of the guidance: the payment service gets the address sealed, and sends the receipt")
    func sent() async throws {
        try await Shop.withSandbox { shop, _ in
            _ = try await eventually("the service has said what it can") { shop.daemon.health.supports }
            #expect(try await shop.get("/v1/status").text.contains(#""sendsReceipts":true"#))
            let place = "/v1/transactions/\(try await paid(shop))/receipt"
            for wish in [#"{"email":"ada@example.com"}"#, #"{"phone":"+4915112345678"}"#] {
                let answer = try await shop.post(to: place, wish)
                #expect(answer.status == 204, "\(answer.text)")
            }
            let wrong = try await shop.post(to: place, #"{"email":"lovelace"}"#)
            #expect(try wrong.status == 400 && wrong.error().field == "email" && !wrong.text.contains("lovelace"))
            let open = try await shop.post(purchase(1_250)).transaction().id
            let early = try await shop.post(to: "/v1/transactions/\(open)/receipt", #"{"email":"ada@example.com"}"#)
            #expect(try early.status == 409 && early.error().code == "receipt.not_available")
            _ = try await shop.delete("/v1/transactions/\(open)")
        }
    }

    /// The payment service has taken it, and its answer was lost.
    @Test("S28: a receipt whose answer was lost is sent again with the same key and the same bytes, and once")
    func lostAnswer() async throws {
        let folder = try TestFolder()
        let health = #"{"status":"ok","protocolVersions":["v1"],"supports":["sale","receipt"]}"#
        try await withAdapter(in: folder, health: health) { seen in
            guard seen.path.last == "receipts" else { return .text(200, #"{"outcome":"approved","approvalCode":"1"}"#) }
            guard seen.earlier(.post, "receipts") > 0 else { return .text(502, "{}") }
            let id = try? WireJSON.decode(ReceiptDelivery.self, from: seen.body).id
            return .text(200, #"{"id":"\#(id?.text ?? "")"}"#)
        } _: { adapter in
            try await Shop.open(in: folder) { shop in
                _ = try await eventually("the service has said what it can") { shop.daemon.health.supports }
                let answer = try await shop.post(
                    to: "/v1/transactions/\(try await paid(shop))/receipt", #"{"email":"ada@example.com"}"#)
                #expect(answer.status == 204, "\(answer.text)")
            }
            let sent = adapter.requests.filter { $0.path.last == "receipts" }
            #expect(sent.count == 2 && Set(sent.map(\.body)).count == 1 && Set(sent.map(\.key)).count == 1)
            #expect(sent.allSatisfy { $0.key != nil })
        }
    }

    @Test func `A service that sends none is asked for none`() async throws {
        let folder = try TestFolder()
        let features = Set(AdapterFeature.allCases).subtracting([.receipt])
        let sandbox = Sandbox(key: try TestRecipient.privateKey(), features: features)
        try await serve(sandbox, in: folder) {
            try await Shop.open(in: folder) { shop in
                _ = try await eventually("the service has said what it can") { shop.daemon.health.supports }
                #expect(try await !shop.get("/v1/status").text.contains("sendsReceipts"))
                let answer = try await shop.post(
                    to: "/v1/transactions/\(try await paid(shop))/receipt", #"{"email":"ada@example.com"}"#)
                #expect(try answer.status == 409 && answer.error().code == "receipt.sending_not_supported")
            }
        }
    }
}
