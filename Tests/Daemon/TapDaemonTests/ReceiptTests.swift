// SPDX-License-Identifier: Apache-2.0
import CardSim
import LocalHTTP
import POSAPI
import PSPSandbox
import PaymentValues
import ReaderVirtual
import Receipt
import TestSupport
import Testing
import Transactions

@testable import TapDaemon

@Suite("Receipts over the POS socket", .timeLimit(.minutes(5)))
struct ReceiptTests {
    private func receipt(
        _ shop: Shop, _ id: String, _ query: String = "", _ fields: HTTPFields = HTTPFields()
    ) async throws -> Answer {
        let request = HTTPClientRequest(.get, "/v1/transactions/\(id)/receipt\(query)", fields: fields)
        return try await shop.send(request)
    }

    @Test("A paid sale has both copies, in JSON and as text, also after a restart")
    func copies() async throws {
        let folder = try TestFolder()
        try await withSandbox(in: folder) { _ in
            var id = ""
            try await Shop.open(in: folder) { shop in
                try shop.reader.obey("present visa")
                let transaction = try await shop.post(purchase(1_250, more: #","language":"de""#), wait: 20)
                    .transaction()
                #expect(transaction.state == .approved)
                id = transaction.id.text
            }
            try await Shop.open(in: folder) { shop in
                let answer = try await receipt(shop, id)
                #expect(answer.status == 200 && answer.fields.only("Content-Language") == "de")
                let customer = try WireJSON.decode(Receipt.self, from: answer.body)
                #expect(customer.status == .approved && customer.mode == .test && customer.copy == .customer)
                #expect(customer.emv?.cryptogram?.count == 16 && customer.emv?.tvr?.count == 10)
                #expect(customer.emv?.approvalCode?.count == 6 && customer.emv?.aid == "A0000000031010")
                #expect(customer.qr == "https://receipts.example/\(id)")
                let text = try await receipt(shop, id, "?copy=merchant&width=32", ["Accept": "text/plain"])
                #expect(text.fields.only("Content-Type") == "text/plain; charset=utf-8")
                #expect(text.text.contains("Merchant copy") && text.text.contains("TEST MERCHANT"))
                #expect(text.text.split(separator: "\n").allSatisfy { $0.count <= 32 })
                let german = try await receipt(
                    shop, id, "?copy=merchant", ["Accept": "text/plain", "Accept-Language": "de-AT, en;q=0.5"])
                #expect(german.text.contains("Händlerbeleg"))
                let code = try await receipt(shop, id, "?code=blocks", ["Accept": "text/plain"])
                #expect(code.text.contains("█") || code.text.contains("https://receipts.example/"))
                for (form, begin) in [
                    ("image/png", [0x89, 0x50, 0x4E, 0x47]), ("image/svg+xml", Array("<svg".utf8)),
                    ("application/vnd.nfc-tap.escpos", [0x1B, 0x40]),
                ] {
                    let picture = try await receipt(shop, id, "", ["Accept": form])
                    #expect(picture.status == 200 && picture.fields.only("Content-Type") == form)
                    #expect(picture.body.starts(with: begin))
                }
                for answer in [answer, text, german] { #expect(!answer.text.contains(TestNumbers.visa)) }
            }
        }
    }

    @Test("A phone that waits for its holder is on the receipt of the attempt")
    func phone() async throws {
        let folder = try TestFolder()
        var id = ""
        try await Shop.open(in: folder) { shop in
            try shop.reader.obey("present see-phone-forever")
            let asked = try await shop.post(purchase(6_000, order: "A-1", more: #","language":"de","detached":true"#))
            id = try asked.transaction().id.text
            try await eventually("the phone asks") {
                let events = try await shop.get("/v1/transactions/\(id)").transaction().events ?? []
                return events.contains { $0.name == .readRetry && $0.message == .seePhone && $0.error == nil }
            }
            // Its holder takes it away: perhaps in the middle of being read again, when it is too late for a moment.
            try shop.reader.obey("remove")
            try await eventually("it is cancelled") {
                try await shop.delete("/v1/transactions/\(id)").cancel().transaction.state == .cancelled
            }
        }
        try await Shop.open(in: folder) { shop in
            #expect(try await shop.get("/v1/transactions/\(id)").transaction().message == .seePhone)
            let german = try await receipt(shop, id, "", ["Accept": "text/plain"])
            #expect(german.text.contains("Siehe Ihr Telefon"))
            let english = try await receipt(shop, id, "?language=en", ["Accept": "text/plain"])
            #expect(english.text.contains("See your phone"))
            let message = try WireJSON.decode(Receipt.self, from: try await receipt(shop, id).body).message
            #expect(message == .seePhone)
        }
    }

    @Test("A payment that is still open has no receipt yet, and a wrong question is answered by name")
    func refusals() async throws {
        let folder = try TestFolder()
        try await Shop.open(in: folder) { shop in
            let id = try await shop.post(purchase(1_250)).transaction().id.text
            let open = try await receipt(shop, id)
            #expect(open.status == 409)
            #expect(try open.error().code == ErrorCode.receiptNotAvailable.rawValue)
            _ = try await shop.delete("/v1/transactions/\(id)")
            _ = try await shop.reach([.cancelled], try #require(TransactionID(id)))
            #expect(try WireJSON.decode(Receipt.self, from: try await receipt(shop, id).body).status == .cancelled)
            for (query, field) in [
                ("?copy=both", "copy"), ("?width=10", "width"), ("?language=fi", "language"), ("?size=1", "size"),
            ] {
                let answer = try await receipt(shop, id, query)
                #expect(answer.status == 400)
                #expect(try answer.error().field == field)
            }
            let image = try await receipt(shop, id, "", ["Accept": "image/gif"])
            #expect(image.status == 406)
            let code = try await receipt(shop, id, "", ["Accept": "image/png"])
            #expect(code.status == 409)
            #expect(try code.error().code == ErrorCode.receiptNoAddress.rawValue)
            let unknown = try await receipt(shop, TransactionID().text)
            #expect(unknown.status == 404)
        }
    }

    @Test("A payment that was taken back after it was paid says so on its next receipt")
    func reversed() async throws {
        try await Shop.withSandbox(.hasty) { shop, _ in
            try shop.reader.obey("present visa")
            let id = try await shop.post(purchase(1_298)).transaction().id
            _ = try await shop.reach([.reversed, .reversing], id)
            let found = try WireJSON.decode(Receipt.self, from: try await receipt(shop, id.text).body)
            #expect([.reversing, .reversed].contains(found.status))
            let text = try await receipt(shop, id.text, "", ["Accept": "text/plain"]).text
            #expect(text.contains("This transaction no longer counts") && !text.contains("TOTAL"))
        }
    }
}

private enum TestNumbers {
    /// The number of the catalogue's Visa card, spelled so that no scan of this repository takes it for a leak.
    static let visa = "4761" + "7390" + "0101" + "0010"
}
