// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import Envelope
import Foundation
import POSAPI
import PSPSandbox
import PaymentValues
import Profile
import ReaderModels
import ReaderVirtual
import Receipt
import Rigs
import Testing

@testable import TapDaemon

/// The whole way of a live payment, behind a real reader's library: the payment service, its keys and its acquirer are the
/// test's own, and no published test key is in it.
@Suite("A live payment", .serialized, .timeLimit(.minutes(5)))
struct LivePaymentTests {
    private let service = PaymentService()

    /// Runs `body` in a live shop whose reader is behind pcscd.
    private func open(_ body: (Shop, Sandbox, _ present: () throws -> Void) async throws -> Void) async throws {
        let pcscd = try FakePCSCD.shared()
        let name = FakePCSCD.freshName("ACS ACR122U PICC Interface")
        try pcscd.plug(name)
        defer { try? pcscd.unplug(name) }
        let folder = try TestFolder()
        try await withSandbox(in: folder, key: try service.recipientKey()) { sandbox in
            await service.serve(try service.json(), at: sandbox)
            var wish = Shop.Wish()
            (wish.mode, wish.profile, wish.awaitsLanes) = (.live, service.settings(), false)
            wish.sources = [.pcsc(name, .off)]
            try await Shop.open(in: folder, wish) { shop in
                while shop.profiles.current == nil { _ = await shop.profiles.refresh() }
                try await body(shop, sandbox) {
                    try pcscd.insert(try #require(CardCatalogue.card(named: "visa")), into: name)
                }
            }
        }
    }

    @Test(
        "Acceptance test 7: live cards are taken once the terms are accepted, and whatever tells of it says that it is live"
    )
    func whole() async throws {
        try await open { shop, sandbox, present in
            #expect(try await shop.post(purchase(1_250)).error().code == "terms.not_accepted")
            let hash = try #require(shop.profiles.terms.hash)
            _ = try await shop.profiles.accept(TermsAcceptanceRequest(.hash(hash)), uid: 0, name: "root")
            try await shop.lanes(are: .ready)
            let id = try await shop.post(purchase(1_250, more: #","detached":true"#)).transaction().id
            _ = try await shop.reach([.armed], id)
            try present()
            let paid = try await shop.reach([.approved, .declined, .failed], id)
            #expect(paid.state == .approved, "\(String(describing: paid.error)) \(String(describing: paid.result))")
            #expect(paid.mode == .live && paid.result?.mode == .live)
            #expect(await sandbox.ledger.transactions.map(\.outstanding) == [1_250])
            let receipt = try await shop.get("/v1/transactions/\(id)/receipt")
            #expect(try WireJSON.decode(Receipt.self, from: receipt.body).mode == .live)
            #expect(try WireJSON.decode(Status.self, from: try await shop.get("/v1/status").body).mode == .live)
        }
    }

    @Test("Row 4 of the guidance: terms that were accepted at the payment service's page are so with its next profile")
    func elsewhere() async throws {
        try await open { shop, sandbox, _ in
            let told = shop.profiles.terms
            let page = "https://pay.example/terms/sandbox-merchant"
            #expect(told.page == page && shop.profiles.status.terms == .notAccepted)
            let status = try WireJSON.decode(Status.self, from: try await shop.get("/v1/status").body)
            #expect(status.termsPage == page)
            // What was accepted is that text, and no other: a file about another one costs the profile nothing.
            for (serial, hash) in [(2, String(repeating: "0", count: 64)), (3, try #require(told.hash))] {
                let accepted = """
                    {"version":1,"merchant":"\(PaymentService.merchant)","termsHash":"\(hash)",\
                    "acceptedBy":"Erika Muster, owner","acceptedAt":"2026-11-29T10:00:00Z"}
                    """
                let token = try JWS.sign(Array(accepted.utf8), key: service.key, type: AcceptanceFile.type)
                let terms = (#""revoked": false"#, #""revoked": false, "acceptance": "\#(token)""#)
                await service.serve(try service.json(serial: serial, [terms]), at: sandbox)
                while shop.profiles.current?.serial != UInt64(serial) { _ = await shop.profiles.refresh() }
                let isThis = serial == 3
                #expect(shop.profiles.status.terms == (isThis ? .accepted : .notAccepted))
                #expect(shop.profiles.termsPage == (isThis ? nil : page))
                #expect(
                    try await shop.post(purchase(1_250, more: #","dryRun":true"#)).text.contains("terms.not_accepted")
                        == !isThis)
            }
            let acceptance = try #require(shop.profiles.terms.acceptance)
            #expect(acceptance.acceptedBy == "Erika Muster, owner" && acceptance.source == .file)
        }
    }

    @Test("Terms that are revoked end live payments")
    func refused() async throws {
        try await open { shop, sandbox, _ in
            let hash = try #require(shop.profiles.terms.hash)
            _ = try await shop.profiles.accept(TermsAcceptanceRequest(.hash(hash)), uid: 0, name: "root")
            try await shop.lanes(are: .ready)
            let text = try service.json(serial: 2, [(#""revoked": false"#, #""revoked": true"#)])
            await service.serve(text, at: sandbox)
            // A refresh may join one that began before.
            while shop.profiles.current?.serial != 2 { _ = await shop.profiles.refresh() }
            #expect(try await shop.post(purchase(1_250)).error().code == "terms.revoked")
            #expect(await sandbox.ledger.transactions.isEmpty)
        }
    }
}
