// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import LocalHTTP
import POSAPI
import PaymentValues
import ReaderVirtual
import TestSupport
import Testing

@testable import TapDaemon

@Suite("Row 30 of the guidance: a checked card opens a tab, which is charged once", .timeLimit(.minutes(3)))
struct TabTests {
    private static let wish = #"""
        {"type":"verification","currency":"EUR","reason":"openTab","agreement":{"kind":"unscheduled","once":true,
        "text":"I pay what I order tonight.","language":"en","maximum":{"value":20000,"currency":"EUR"},
        "until":"2099-11-29T06:00:00.000Z"}}
        """#

    private func shop(
        _ wish: Shop.Wish = Shop.Wish(), _ body: (Shop, StoredCardService, TestFolder) async throws -> Void
    ) async throws {
        let (folder, service) = (try TestFolder(), StoredCardService())
        try await withAdapter(in: folder, health: StoredCardService.health) {
            service.answer($0)
        } _: { _ in
            try await Shop.open(in: folder, wish) { shop in
                _ = try await eventually("the service has said what it can") { shop.daemon.health.supports }
                try await body(shop, service, folder)
            }
        }
    }

    private func open(_ shop: Shop) async throws -> (StoredCard, Agreement) {
        try shop.reader.obey("present visa")
        let checked = try await shop.post(Self.wish, wait: 20).transaction()
        try shop.reader.obey("remove")
        let card = try #require(checked.credential, "\(checked)")
        return (card, try #require(card.agreements.first))
    }

    private func charge(_ tab: (card: StoredCard, agreement: Agreement), _ value: Int64) -> String {
        #"{"type":"charge","credential":"\#(tab.card.id)","agreement":"\#(tab.agreement.id)","initiator":"merchant","#
            + #""reason":"unscheduled","amount":{"value":\#(value),"currency":"EUR"}}"#
    }

    private func stored(_ shop: Shop, _ id: StoredCardID) async throws -> StoredCard {
        try WireJSON.decode(StoredCard.self, from: try await shop.get("/v1/credentials/\(id)").body)
    }

    @Test func `its charge ends the agreement, and the card that was stored for it is forgotten`() async throws {
        try await shop { shop, service, _ in
            let tab = try await open(shop)
            #expect(tab.1.once == true && tab.1.endedAt == nil)
            let charged = try await shop.post(charge(tab, 4_850), wait: 20).transaction()
            #expect(charged.state == .approved && charged.account?.captured == 4_850)
            let gone = try await eventually("the card is forgotten") {
                let card = try await stored(shop, tab.0.id)
                return card.state == .deleted ? card : nil
            }
            #expect(gone.agreements.map(\.end) == [.ended] && service.tokens.isEmpty)
            let again = try await shop.post(charge(tab, 100))
            #expect(try again.status == 409 && again.error().code == "stored_card.deleted", "\(again.text)")
            #expect(service.charged.values.map { $0 } == [4_850])
            // What was charged can be given back all the same.
            let refund = try await shop.post(#"{"type":"refund","of":"\#(charged.id)"}"#, wait: 20).transaction()
            #expect(refund.state == .approved)
        }
    }

    @Test func `a charge that was declined leaves the tab open, and one whose answer was lost does not make two`()
        async throws
    {
        try await shop { shop, service, _ in
            let tab = try await open(shop)
            service.fail(.decline("51", retry: "later"))
            #expect(try await shop.post(charge(tab, 4_850), wait: 20).transaction().state == .declined)
            #expect(try await stored(shop, tab.0.id).agreements.first?.endedAt == nil)
            let tooMuch = try await shop.post(charge(tab, 20_001))
            #expect(try tooMuch.status == 422 && tooMuch.error().code == "agreement.exceeded")
            service.fail(.lostAfter)
            let asked = try await shop.post(charge(tab, 4_850), wait: 20).transaction()
            #expect(asked.state == .approved && service.charged.values.map { $0 } == [4_850])
        }
    }

    @Test func `a card about which more was agreed stays stored`() async throws {
        try await shop { shop, service, _ in
            let tab = try await open(shop)
            let more = #"{"kind":"recurring","text":"Every month","language":"en"}"#
            let made = try await shop.send(
                HTTPClientRequest(
                    .post, "/v1/credentials/\(tab.0.id)/agreements",
                    fields: ["Content-Type": "application/json", "Idempotency-Key": "more"], body: Array(more.utf8)))
            #expect(made.status == 201, "\(made.text)")
            #expect(try await shop.post(charge(tab, 4_850), wait: 20).transaction().state == .approved)
            let kept = try await stored(shop, tab.0.id)
            #expect(kept.state == .active && kept.agreements.map(\.end) == [.ended, nil])
            #expect(!service.tokens.isEmpty)
        }
    }

    @Test(
        "Who opened the tab charges it without being an administrator, and nothing else",
        .enabled(if: geteuid() == 0, "needs root, to become another user"))
    func cashier() async throws {
        var wish = Shop.Wish()
        wish.access = Access(groups: [.admin: 10, .cashier: 20], owner: geteuid())
        try await shop(wish) { shop, service, folder in
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o666], ofItemAtPath: folder.path + "/pos.sock")
            func post(_ body: String, _ key: String, uid: UInt32 = 65_534) async throws -> (
                status: String, body: String
            ) {
                try await curl(
                    folder, uid: uid, groups: "20",
                    [
                        "-H", "Content-Type: application/json", "-H", "Idempotency-Key: \(key)", "-H",
                        "Prefer: wait=20",
                        "-d", body, "http://d/v1/transactions",
                    ])
            }
            let others = try await open(shop)
            #expect(try await post(charge(others, 500), "a").body.contains("auth.admin_required"))
            try shop.reader.obey("present visa")
            let opened = try await post(Self.wish.replacing("\n", with: ""), "b")
            let checked = try WireJSON.decode(Transaction.self, from: Array(opened.body.utf8))
            let card = try #require(checked.credential)
            let agreement = try #require(card.agreements.last)
            #expect(card.card.token == nil, "the token is for who may charge any card")
            let byAnother = try await post(charge((card, agreement), 500), "c", uid: 65_533)
            #expect(byAnother.body.contains("auth.admin_required"), "\(byAnother.body)")
            let charged = try await post(charge((card, agreement), 500), "d")
            #expect(charged.status == "201" && charged.body.contains(#""state":"approved""#), "\(charged.body)")
            #expect(service.charged.values.map { $0 } == [500])
        }
    }

    @Test(
        "A tab has its bounds, and is for one charge",
        arguments: [
            ("", "agreement.once", "recurring"),
            (#""maximum":{"value":20000,"currency":"EUR"},"#, "agreement.maximum", "unscheduled"),
            (#""until":"2099-11-29T06:00:00.000Z","#, "agreement.until", "unscheduled"),
            (#""once":true,"#, "agreement", "unscheduled"),
        ])
    func bounds(without: String, field: String, kind: String) async throws {
        try await shop { shop, _, _ in
            let body =
                #"{"type":"verification","currency":"EUR","reason":"openTab","agreement":{"once":true,"#
                + #""maximum":{"value":20000,"currency":"EUR"},"until":"2099-11-29T06:00:00.000Z","#
                + #""kind":"\#(kind)","text":"I pay","language":"en"}}"#
            let answer = try await shop.post(without.isEmpty ? body : body.replacing(without, with: ""))
            #expect(try answer.status == 400 && answer.error().field == field, "\(answer.text)")
        }
    }
}
