// SPDX-License-Identifier: Apache-2.0
import POSAPI
import PSPAPI
import PSPSandbox
import PaymentValues
import ReaderVirtual
import TestSupport
import Testing
import Transactions

@testable import TapDaemon

@Suite("Row 27 of the guidance: a sale that wants a PIN goes on with what the tap gave", .timeLimit(.minutes(10)))
struct KeptReadTests {
    private func shop(_ body: (Shop, Sandbox) async throws -> Void) async throws {
        try await Shop.withSandbox { shop, sandbox in
            _ = try await eventually("the service has said what it can") { shop.daemon.health.supports }
            try await body(shop, sandbox)
        }
    }

    /// A Visa card whose issuer wants the PIN: 70.
    private func declined(_ shop: Shop, _ order: String) async throws -> Transaction {
        try shop.reader.obey("present visa")
        let declined = try await shop.post(purchase(1_270, order: order), wait: 20).transaction()
        try shop.reader.obey("remove")
        #expect(declined.state == .declined && declined.result?.reason == .otherInterfaceNeeded)
        return declined
    }

    @Test(
        "An issuer's wish: link and terminal go on with the same card, which nobody taps again",
        arguments: [#"{"type":"link","retryOf":"ID"}"#, #"{"type":"handover","retryOf":"ID","to":"sandbox-terminal"}"#])
    func byIssuer(body: String) async throws {
        try await shop { shop, sandbox in
            let declined = try await declined(shop, "K-1")
            let end = try #require(declined.result?.readKeptUntil)
            #expect(end > declined.updatedAt)
            let kinds = try #require(try await shop.get("/v1/transactions/\(declined.id)").transaction().alternatives)
            #expect(kinds.map(\.kind).contains(.paymentLink) && kinds.map(\.kind).contains(.otherInterface))
            let begun = try await shop.post(body.replacing("ID", with: "\(declined.id)"), wait: 5).transaction()
            let paid = try await shop.get("/v1/transactions/\(begun.id)?wait=30").transaction()
            #expect(paid.state == .approved && paid.card?.last4 == declined.card?.last4)
            // One payment stands.
            #expect(await sandbox.ledger.transactions.filter { $0.state == .approved }.map(\.id) == [begun.id])
        }
    }

    @Test func `a card that declined by itself: its read is on the shelf, goes out with one link, and is gone then`()
        async throws
    {
        try await shop { shop, _ in
            let declined = try await declined(shop, "K-2")
            let read = try #require(Self.read())
            let end = Moment.now.monotonic + 240_000
            _ = await shop.runner.change { $0.reads.keep(read, of: declined.id, until: end) }
            // The sandbox opens it: an envelope that is none of this sale is refused, and nothing is paid by it.
            let refused = try await shop.post(#"{"type":"link","retryOf":"\#(declined.id)"}"#, wait: 20).transaction()
            #expect(refused.state == .declined, "\(refused)")
            #expect(await shop.runner.change { $0.reads[declined.id] } == nil, "it was sent, and is kept no longer")
            let second = try await shop.post(#"{"type":"link","retryOf":"\#(declined.id)"}"#, wait: 5).transaction()
            #expect(second.state == .sent, "without the read the link opens as any other")
        }
    }

    @Test func `a read whose time is over goes with no link`() async throws {
        try await shop { shop, _ in
            let declined = try await declined(shop, "K-3")
            let read = try #require(Self.read())
            _ = await shop.runner.change { $0.reads.keep(read, of: declined.id, until: Moment.now.monotonic) }
            let link = try await shop.post(#"{"type":"link","retryOf":"\#(declined.id)"}"#, wait: 5).transaction()
            #expect(link.state == .sent, "with the read it would be refused")
        }
    }

    @Test func `another card that pays for the goods ends it`() async throws {
        try await shop { shop, _ in
            let declined = try await declined(shop, "K-4")
            let read = try #require(Self.read())
            let end = Moment.now.monotonic + 240_000
            _ = await shop.runner.change { $0.reads.keep(read, of: declined.id, until: end) }
            try shop.reader.obey("present mastercard")
            let body =
                #"{"type":"purchase","retryOf":"\#(declined.id)","amount":{"value":1200,"currency":"EUR"}}"#
            #expect(try await shop.post(body, wait: 20).transaction().state == .approved)
            #expect(await shop.runner.change { $0.reads[declined.id] } == nil)
        }
    }

    /// Of no card: its envelope does not open.
    private static func read() -> KeptRead? {
        guard let card = MaskedCard(scheme: "Visa", last4: "0010", masked: "************0010") else { return nil }
        return KeptRead(
            AuthorizationRequest(
                id: TransactionID(), mode: .test, type: .sale,
                amount: Money(value: 1_270, currency: Currency("EUR") ?? .none), entryMode: .contactlessEMV,
                cvm: .noCVM, emv: "9F02", card: card, envelope: "a.b.c.d.e",
                terminal: .init(id: "1", merchant: "TEST", capabilities: [])))
    }
}
