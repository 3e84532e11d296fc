// SPDX-License-Identifier: Apache-2.0
import CardSim
import LocalHTTP
import POSAPI
import PSPSandbox
import PaymentValues
import ReaderVirtual
import Testing

@testable import TapDaemon

@Suite("Fields of a request that change a payment", .timeLimit(.minutes(5)))
struct RequestFieldTests {
    static let preferences: [(wish: String, scheme: String)] = [
        ("", "Visa"), (#","preferredApplications":["A000000004"]"#, "Mastercard"),
        (#","preferredApplications":["a0000000041010","A000000003"]"#, "Mastercard"),
        (#","preferredApplications":["A000000025","A0000000031010"]"#, "Visa"),
    ]

    @Test("Requirement 56: a card with two schemes pays with the one that the shop prefers", arguments: preferences)
    func preferred(wish: String, scheme: String) async throws {
        try await Shop.withSandbox { shop, _ in
            try shop.reader.obey("present two-schemes")
            let answer = try await shop.post(purchase(1_250, more: wish), wait: 20)
            let transaction = try answer.transaction()
            #expect(transaction.state == .approved, "\(answer.text)")
            #expect(transaction.card?.scheme == scheme)
            #expect(transaction.chip?.aid == (scheme == "Visa" ? "A0000000031010" : "A0000000041010"))
        }
    }

    @Test("A dry run says what would happen, writes nothing down and asks for no card")
    func dryRun() async throws {
        let folder = try TestFolder()
        try await Shop.open(in: folder) { shop in
            let answer = try await shop.post(purchase(1_250, order: "A-1", more: #","dryRun":true"#), key: "one")
            #expect(answer.status == 200)
            #expect(
                try WireJSON.decode(DryRunAnswer.self, from: answer.body)
                    == DryRunAnswer(mode: .test, type: .purchase, lane: "lane-0"))
            #expect(try shop.journal("SELECT count(*) FROM payment") == "0")
            #expect(await shop.runner.laneStatuses().first?.holder == nil)
            // The key is as good as new.
            let real = try await shop.post(purchase(1_250, order: "A-1"), key: "one")
            #expect(real.status == 201)
            let busy = try await shop.post(purchase(500, more: #","dryRun":true"#))
            #expect(busy.status == 409)
            #expect(try busy.error().code == ErrorCode.readerBusy.rawValue)
            _ = try await shop.delete("/v1/transactions/\(try real.transaction().id)")
        }
    }

    @Test("What the request said is in the transaction, in the journal and with the adapter")
    func details() async throws {
        let folder = try TestFolder()
        let more = """
            ,"language":"de","amountStatus":"preauthorized",\
            "description":{"kind":"preauthorizationAmount","amount":{"value":5000,"currency":"EUR"}},\
            "items":[{"label":"Room","amount":{"value":1250,"currency":"EUR"}}]
            """
        try await withSandbox(in: folder) { sandbox in
            try await Shop.open(in: folder) { shop in
                try shop.reader.obey("present visa")
                let transaction = try await shop.post(purchase(1_250, more: more), wait: 20).transaction()
                #expect(transaction.state == .approved)
                let details = try #require(transaction.details)
                #expect(details.language == "de" && details.amountStatus == .preauthorized)
                #expect(details.description?.kind == .preauthorizationAmount)
                #expect(details.items?.map(\.label) == ["Room"])
                #expect(details.merchant?.displayName == "TEST MERCHANT" && details.terminal == "00000001")
                #expect(await sandbox.ledger.transactions.map(\.id) == [transaction.id])
            }
            // After a restart everything comes out of the journal.
            try await Shop.open(in: folder) { shop in
                let id = try shop.journal("SELECT id FROM payment")
                let kept = try await shop.get("/v1/transactions/\(id)").transaction()
                #expect(kept.details?.items?.count == 1 && kept.details?.description?.kind == .preauthorizationAmount)
                #expect(kept.chip?.cryptogram?.count == 16 && kept.chip?.application != nil)
            }
        }
    }

    static let languages: [(wish: String, text: String)] = [
        (#","language":"de-CH""#, "Karte oder Telefon bitte hierher halten"), ("", "Hold your card or phone here"),
        (#","language":"fr""#, "Présentez votre carte ou votre téléphone ici"),
        (#","language":"fi""#, "Hold your card or phone here"),
    ]

    @Test("A payment tells its customer what to do in the language of the request", arguments: languages)
    func customerText(wish: String, text: String) async throws {
        try await Shop.withSandbox { shop, _ in
            try shop.reader.obey("present visa")
            let id = try await shop.post(purchase(1_250, more: wish), wait: 20).transaction().id
            let events = try #require(try await shop.get("/v1/transactions/\(id)").transaction().events)
            #expect(events.first { $0.name == .readReadyForTap }?.customerText == text)
            #expect(events.first { $0.name == .readRemoveCard }?.customerText != nil)
            #expect(events.first { $0.name == .paymentApproved }?.customerText == nil)
        }
    }
}
