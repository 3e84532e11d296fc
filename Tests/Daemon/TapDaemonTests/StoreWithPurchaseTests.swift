// SPDX-License-Identifier: Apache-2.0
import Configuration
import Envelope
import Foundation
import LocalHTTP
import POSAPI
import PSPSandbox
import PaymentValues
import Profile
import ReaderVirtual
import TestSupport
import Testing

@testable import TapDaemon

@Suite("Cards that are stored with a purchase, who may charge them, and what is told of them", .timeLimit(.minutes(10)))
struct StoreWithPurchaseTests {
    private static let agreement =
        #","store":true,"agreement":{"kind":"unscheduled","text":"I agree.","language":"en"}"#

    private func shop(_ body: (Shop, StoredCardService) async throws -> Void) async throws {
        let (folder, service) = (try TestFolder(), StoredCardService())
        try await withAdapter(in: folder, health: StoredCardService.health) {
            service.answer($0)
        } _: { _ in
            try await Shop.open(in: folder) { shop in
                _ = try await eventually("the service has said what it can") { shop.daemon.health.supports }
                try await body(shop, service)
            }
        }
    }

    private func pay(_ shop: Shop, _ more: String = agreement) async throws -> Transaction {
        try shop.reader.obey("present visa")
        let answer = try await shop.post(purchase(1_200, order: UUID().uuidString, more: more), wait: 20)
        try shop.reader.obey("remove")
        try #require(answer.status == 201, "\(answer.text)")
        return try answer.transaction()
    }

    private func charge(
        _ shop: Shop, _ card: StoredCard, by initiator: String = "merchant"
    ) async throws -> Answer {
        let agreement = try #require(card.agreements.last)
        return try await shop.post(
            #"{"type":"charge","credential":"\#(card.id)","agreement":"\#(agreement.id)","initiator":"\#(initiator)","#
                + #""reason":"unscheduled","amount":{"value":300,"currency":"EUR"}}"#, wait: 20)
    }

    @Test func `S1: a purchase that stores its card is paid and stores it, and the card is charged afterwards`()
        async throws
    {
        try await shop { shop, service in
            let sale = try await pay(shop)
            #expect(sale.state == .approved && sale.details?.store == true)
            let after = try await shop.get("/v1/transactions/\(sale.id)").transaction()
            #expect(after.account?.captured == 1_200)
            let card = try #require(after.credential)
            #expect(card.transaction == sale.id && card.agreements.map(\.text) == ["I agree."])
            let told = try #require(service.body("authorizations")["agreement"] as? [String: Any])
            #expect(told["id"] as? String == card.agreements[0].id.rawValue && told["text"] == nil)
            #expect(try await charge(shop, card).transaction().state == .approved)
            // A sale without that stores nothing.
            #expect(try await pay(shop, "").credential == nil)
            #expect(try shop.journal("SELECT count(*) FROM credential") == "1")
        }
    }

    @Test func `S3: a purchase whose card gets no name is paid all the same, and says that nothing is stored`()
        async throws
    {
        try await shop { shop, service in
            service.fail(.noToken)
            let sale = try await pay(shop)
            #expect(sale.state == .approved && sale.credential == nil)
            #expect(sale.error?.code == "stored_card.not_given")
            let after = try await shop.get("/v1/transactions/\(sale.id)").transaction()
            #expect(after.account?.captured == 1_200 && after.error?.code == "stored_card.not_given")
            #expect(try shop.journal("SELECT group_concat(end) FROM agreement") == "notGiven")
        }
    }

    @Test func `A sale that is taken back ends what was agreed to with it`() async throws {
        try await shop { shop, _ in
            let sale = try await pay(shop)
            let card = try #require(try await shop.get("/v1/transactions/\(sale.id)").transaction().credential)
            _ = try await shop.post(
                to: "/v1/transactions/\(sale.id)/reversal", #"{"reason":"customerCancel"}"#)
            _ = try await shop.reach([.reversed], sale.id)
            #expect(try await charge(shop, card).error().code == "agreement.ended")
        }
    }

    @Test(
        "What contradicts itself is refused by name",
        arguments: [
            (#""type":"purchase","store":true"#, "request.missing_field", "agreement"),
            (
                #""type":"purchase","agreement":{"kind":"unscheduled","text":"a","language":"en"}"#,
                "request.field_not_applicable", "agreement"
            ),
            (
                #""type":"purchase","store":true,"agreement":{"kind":"unscheduled","text":"a","language":"en","maximum":{"value":1,"currency":"CHF"}}"#,
                "amount.currency_mismatch", "agreement"
            ),
            (#""type":"refund","store":true"#, "request.field_not_applicable", "store"),
        ])
    func contradictions(_ members: String, _ code: String, _ field: String) throws {
        let text = #"{\#(members),"amount":{"value":1,"currency":"EUR"}}"#
        #expect(
            throws: WireError(try #require(ErrorCode(rawValue: code)), field: field)
        ) { try WireJSON.decode(TransactionRequest.self, from: Array(text.utf8)) }
    }

    @Test func `Events tell of a card that is stored and of one that is forgotten, to who asks for this vocabulary`()
        async throws
    {
        try await shop { shop, _ in
            let sale = try await pay(shop)
            let card = try #require(try await shop.get("/v1/transactions/\(sale.id)").transaction().credential)
            _ = try await shop.delete("/v1/credentials/\(card.id)")
            let stream = try await shop.client.events(
                HTTPClientRequest(.get, "/v1/events?vocabulary=2", fields: ["Last-Event-ID": "0"]),
                answerWithin: hangLimit)
            var told: [EventName: Event] = [:]
            for try await next in stream {
                let event = try WireJSON.decode(Event.self, from: Array(next.data.utf8))
                told[event.name] = event
                if event.name == .cardDeleted { break }
            }
            let stored = try #require(told[.cardStored])
            #expect(stored.credential == card.id && stored.card?.last4 == "0010" && stored.card?.token == nil)
            #expect(told[.cardDeleted]?.credential == card.id)
            #expect(EventName.cardStored.vocabulary == 2 && EventName.cardDeleted.vocabulary == 2)
            #expect(stored.withoutResult.credential == nil)
        }
    }

    @Test func `S6: the customer, without the card, charges where the signed profile allows it, and nowhere else`()
        async throws
    {
        let key = SigningKey()
        for isAllowed in [true, false] {
            let folder = try TestFolder()
            var profile = SandboxProfile(key: key)
            profile.customerCharges = isAllowed
            let sandbox = Sandbox(key: try TestRecipient.privateKey(), profile: profile)
            let server = try SandboxServer(path: folder.path + "/psp.sock", sandbox: sandbox, logger: Shop.quiet)
            async let end: Void = server.run()
            var wish = Shop.Wish()
            wish.profile = ProfileSettings()
            wish.profile?.key = key.verificationKey
            var failure: (any Error)?
            do {
                try await Shop.open(in: folder, wish) { shop in
                    _ = try await eventually("the profile is there") { shop.profiles.current }
                    let card = try #require(try await pay(shop).credential)
                    let answer = try await charge(shop, card, by: "customer")
                    if isAllowed {
                        #expect(try answer.transaction().state == .approved)
                        #expect(try answer.transaction().details?.charge?.initiator == .customer)
                    } else {
                        #expect(try answer.error().code == "charge.not_supported")
                    }
                }
            } catch { failure = error }
            server.shutDown()
            try await end
            if let failure { throw failure }
        }
    }
}
