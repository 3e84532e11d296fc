// SPDX-License-Identifier: Apache-2.0
import Configuration
import Foundation
import Glibc
import LocalHTTP
import POSAPI
import PSPAPI
import PaymentValues
import ReaderVirtual
import Synchronization
import TestSupport
import Testing

@testable import TapDaemon

/// What no answer of the payment service ends is a person's business: it is listed, and settled by an administrator.
@Suite("Open items", .timeLimit(.minutes(5)))
struct OpenItemTests {
    private func items(_ shop: Shop) async throws -> [OpenItem] {
        let list = try WireJSON.decode(OpenItemList.self, from: try await shop.get("/v1/open-items").body)
        #expect(list.count == list.items.count)
        return list.items
    }

    private func item(_ shop: Shop, _ reason: OpenReason) async throws -> OpenItem {
        try await eventually("an open item: \(reason)") { try await items(shop).first { $0.reason == reason } }
    }

    private func settle(_ shop: Shop, _ id: TransactionID, _ body: String) async throws -> Answer {
        try await shop.post(to: "/v1/open-items/\(id)/settlement", body)
    }

    private static let charged = #"{"as":"charged","note":"P-1 in the portal"}"#
    private static func charged(_ value: Int, _ currency: String = "EUR") -> String {
        #"{"as":"charged","amount":{"value":\#(value),"currency":"\#(currency)"},"note":"in the portal"}"#
    }

    private static let notCharged = #"{"as":"notCharged","note":"by telephone, Ms. Miller"}"#

    /// A service that books, loses its answers and forgets the sale: to a reversal it says "never seen", for ever.
    private func forgetful(
        in folder: TestFolder, _ wish: Shop.Wish = .hasty,
        reversal: @escaping @Sendable (ScriptedAdapter.Seen) -> HTTPResponse = { _ in .text(404, "{}") },
        _ body: (Shop, TransactionID, ScriptedAdapter) async throws -> Void
    ) async throws {
        try await withAdapter(in: folder) { request in
            request.path.last == "reversals" ? reversal(request) : .text(500, "{}")
        } _: { adapter in
            try await Shop.open(in: folder, wish) { shop in
                try shop.reader.obey("present visa")
                let more = #","detached":true"#
                let id = try await shop.post(purchase(500, order: "A-1", more: more), wait: 20).transaction().id
                try await body(shop, id, adapter)
            }
        }
    }

    @Test("A1: a doubt that is answered never seen, however often, is an open item and not reversed")
    func neverSeen() async throws {
        let folder = try TestFolder()
        let isBack = Mutex(false)
        try await forgetful(in: folder) { _ in
            isBack.withLock { $0 } ? .text(200, #"{"status":"done"}"#) : .text(404, "{}")
        } _: { shop, id, adapter in
            let found = try await item(shop, .neverSeen)
            #expect(found.transaction == id && found.state == .reversing && found.amount.value == 500)
            _ = try await eventually("more reversals") {
                adapter.requests.count { $0.path.last == "reversals" } > 6 ? true : nil
            }
            #expect(try await shop.get("/v1/transactions/\(id)").transaction().state == .reversing)
            #expect(try await items(shop).map(\.since) == [found.since], "it is open since when it was")
            // The service remembers after all: that ends it, and the list is empty.
            isBack.withLock { $0 = true }
            _ = try await shop.reach([.reversed], id)
            #expect(try await items(shop).isEmpty)
            #expect(try await settle(shop, id, Self.charged).error().code == "open_item.ended")
        }
    }

    @Test("A1: ten attempts in vain are told, and the eleventh may still end it")
    func unacknowledged() async throws {
        let folder = try TestFolder()
        try await forgetful(in: folder) { request in
            request.earlier(.post, "reversals") < 12 ? .text(503, "{}") : .text(202, #"{"status":"queued"}"#)
        } _: { shop, id, adapter in
            let found = try await item(shop, .unacknowledged)
            #expect(found.error.code == "open_item.unacknowledged")
            _ = try await shop.reach([.reversed], id)
            #expect(try await items(shop).isEmpty)
            #expect(adapter.requests.count { $0.path.last == "reversals" } == 13)
        }
    }

    @Test(
        "An administrator settles what is open, once: it ends so, in the transaction and in the audit chain",
        arguments: Settlement.Outcome.allCases)
    func settled(_ outcome: Settlement.Outcome) async throws {
        let folder = try TestFolder()
        try await forgetful(in: folder) { shop, id, adapter in
            _ = try await item(shop, .neverSeen)
            let body = outcome == .charged ? Self.charged : Self.notCharged
            let after = try await settle(shop, id, body).transaction()
            #expect(after.state == (outcome == .charged ? .approved : .reversed))
            #expect(after.result?.outcome == (outcome == .charged ? .approved : .declined))
            #expect(after.settlement?.outcome == outcome && after.settlement?.uid == geteuid())
            #expect(try await items(shop).isEmpty)
            #expect(try await settle(shop, id, body).error().code == "open_item.already_settled")
            let asked = adapter.requests.count
            try await Task.sleep(for: .milliseconds(300))
            #expect(adapter.requests.count <= asked + 1, "asked about what is settled")
            let chain = try shop.journal("SELECT detail FROM audit WHERE kind = 'openItem' ORDER BY sequence")
            #expect(chain.hasPrefix("open: neverSeen\nsettled as \(outcome.rawValue) by uid"))
            #expect(try shop.journal("SELECT count(*) FROM open_item") == "0")
            // The order is free again where nobody was charged, and paid where somebody was.
            let again = try await shop.post(purchase(500, order: "A-1"))
            #expect(again.status == (outcome == .charged ? 409 : 201))
            if outcome == .charged { #expect(try again.error().code == "order.paid") }
        }
        // The next start finds it so.
        try await Shop.open(in: folder) { shop in
            let left = try await items(shop)
            #expect(left.isEmpty)
        }
    }

    private func hold(_ transaction: Transaction) {
        #expect(transaction.state == .approved && transaction.settlement?.outcome == .charged)
        #expect(transaction.error == nil && transaction.confirmation == nil, "nobody is asked to pay again")
        #expect(transaction.result?.reason == nil && transaction.result?.next == nil)
    }

    @Test("A2: what was settled as charged says nothing of the doubt before, to tills, on paper, and after a restart")
    func settledWithoutDoubt() async throws {
        let folder = try TestFolder()
        var id: TransactionID?
        try await forgetful(in: folder) { shop, sale, _ in
            id = sale
            _ = try await item(shop, .neverSeen)
            #expect(try await shop.get("/v1/transactions/\(sale)").transaction().error?.code == "psp.no_answer")
            hold(try await settle(shop, sale, Self.charged).transaction())
            hold(try await shop.get("/v1/transactions/\(sale)").transaction())
            for copy in ["customer", "merchant"] {
                let paper = try await shop.send(
                    HTTPClientRequest(
                        .get, "/v1/transactions/\(sale)/receipt?copy=\(copy)&language=en",
                        fields: ["Accept": "text/plain"])
                ).text
                #expect(paper.contains("APPROVED") && !paper.lowercased().contains("no answer"), "\(paper)")
            }
        }
        try await Shop.open(in: folder) { shop in
            hold(try await shop.get("/v1/transactions/\(try #require(id))").transaction())
        }
    }

    @Test(
        "A2: an approval that nobody confirmed, settled as charged, waits for no till and is not taken back at the next start"
    )
    func settledUnconfirmed() async throws {
        let folder = try TestFolder()
        var id: TransactionID?
        try await withAdapter(in: folder) { request in
            request.path.last == "reversals"
                ? .text(404, "{}") : .text(200, #"{"outcome":"approved","responseCode":"00"}"#)
        } _: { adapter in
            try await Shop.open(in: folder, .hasty) { shop in
                try shop.reader.obey("present visa")
                let sale = try await shop.post(purchase(500, more: #","confirmWithin":1"#), wait: 20).transaction()
                id = sale.id
                _ = try await item(shop, .neverSeen)
                hold(try await settle(shop, sale.id, Self.charged).transaction())
                let late = try await shop.send(
                    HTTPClientRequest(
                        .post, "/v1/transactions/\(sale.id)/confirmation", fields: ["Content-Length": "0"]))
                if late.status == 200 { #expect(try late.transaction().state == .approved) }
            }
            let asked = adapter.requests.count { $0.path.last == "reversals" }
            try await Shop.open(in: folder, .hasty) { shop in
                try await Task.sleep(for: .milliseconds(500))
                hold(try await shop.get("/v1/transactions/\(try #require(id))").transaction())
                let entries = try shop.journal(
                    "SELECT confirm_due IS NULL FROM payment WHERE id = '\(try #require(id))'")
                #expect(entries == "1")
            }
            #expect(adapter.requests.count { $0.path.last == "reversals" } == asked, "no reversal of what was charged")
        }
    }

    @Test("Of a sale that was charged in part, as a person has found out, that part is booked and may be given back")
    func settledInPart() async throws {
        let folder = try TestFolder()
        try await forgetful(in: folder) { shop, id, _ in
            _ = try await item(shop, .neverSeen)
            let after = try await settle(shop, id, Self.charged(200)).transaction()
            #expect(after.state == .approved && after.result?.outcome == .partiallyApproved)
            #expect(after.result?.amountApproved?.value == 200 && after.settlement?.amount?.value == 200)
            #expect(after.account?.captured == 200 && after.account?.refundable == 200)
            let rows = try shop.journal("SELECT entry, hold, money FROM ledger WHERE payment = '\(id)'")
            #expect(rows == "captured|0|200")
            let detail = try shop.journal("SELECT detail FROM audit WHERE detail LIKE 'settled%'")
            #expect(detail.hasPrefix("settled as charged 2.00 EUR by uid"))
        }
    }

    @Test("A sale that was approved in part, and could not be taken back, is charged with that part and no other")
    func partWasApproved() async throws {
        let folder = try TestFolder()
        let answer = #"{"outcome":"partial","amountApproved":{"value":300,"currency":"EUR"},"responseCode":"10"}"#
        try await withAdapter(in: folder) { request in
            request.path.last == "reversals" ? .text(404, "{}") : .text(200, answer)
        } _: { _ in
            try await Shop.open(in: folder, .hasty) { shop in
                try shop.reader.obey("present visa")
                let sale = try await shop.post(purchase(500), wait: 20).transaction()
                #expect(sale.state == .approved && sale.result?.amountApproved?.value == 300)
                let target = "/v1/transactions/\(sale.id)/reversal"
                let back = try await shop.post(to: target, #"{"reason":"customerCancel"}"#).transaction()
                #expect(back.state == .reversing && back.result?.amountApproved?.value == 300)
                _ = try await item(shop, .neverSeen)
                let refusal = try await settle(shop, sale.id, Self.charged(200)).error()
                #expect(refusal.code == "open_item.amount_impossible" && refusal.limit?.value == 300)
                let after = try await settle(shop, sale.id, Self.charged).transaction()
                #expect(after.result?.outcome == .partiallyApproved && after.result?.amountApproved?.value == 300)
                #expect(after.account?.captured == 300)
                let query = "SELECT entry, money FROM ledger WHERE payment = '\(sale.id)' ORDER BY rowid"
                #expect(try shop.journal(query) == "captured|300\nreversed|-300\ncorrected|300")
            }
        }
    }

    @Test("What is not open is not settled, and a settlement says what is wrong with it")
    func refused() async throws {
        let folder = try TestFolder()
        try await forgetful(in: folder, reversal: { _ in .text(503, "{}") }) { shop, id, _ in
            for (body, code, field) in [
                (#"{"as":"charged"}"#, "request.missing_field", "note"),
                (#"{"as":"perhaps","note":"n"}"#, "request.invalid_field", "as"),
                (#"{"as":"charged","note":"  "}"#, "request.invalid_field", "note"),
                (#"{"as":"charged","note":"a\nb"}"#, "request.invalid_field", "note"),
                (#"{"as":"charged","note":"card 4761 7390 0101 0010"}"#, "request.invalid_field", "note"),
                (#"{"as":"charged","note":"n","force":true}"#, "request.unknown_field", "force"),
                (Self.charged(0), "amount.total_not_positive", "amount"),
                (Self.charged(501), "open_item.amount_impossible", "amount"),
                (Self.charged(200, "USD"), "amount.currency_mismatch", "amount"),
                (
                    #"{"as":"notCharged","amount":{"value":200,"currency":"EUR"},"note":"n"}"#,
                    "request.invalid_field", "amount"
                ),
            ] {
                let error = try await settle(shop, id, body).error()
                #expect(error.code == code && error.field == field, "\(body)")
            }
            #expect(try await settle(shop, TransactionID(), Self.charged).error().code == "transaction.unknown")
            try shop.reader.obey("remove")
            let body = purchase(700, more: #","detached":true"#)
            let other = try await shop.post(body).transaction().id
            #expect(try await settle(shop, other, Self.charged).error().code == "open_item.not_open")
            #expect(try await shop.delete("/v1/transactions/\(other)").status == 200)
            #expect(try await settle(shop, other, Self.charged).error().code == "open_item.ended")
        }
    }

    @Test("A proof to the contrary that comes after a settlement is told, and changes nothing")
    func contradicted() async throws {
        let folder = try TestFolder()
        let count = Mutex(0)
        var wish = Shop.Wish()
        wish.times.query = hangLimit
        let settled = DispatchSemaphore(value: 0)
        try await forgetful(in: folder, wish) { _ in
            // The third one is answered after the settlement, and says that it has taken the sale back.
            guard
                count.withLock({
                    $0 += 1; return $0
                }) > 2
            else { return .text(404, "{}") }
            settled.wait()
            settled.signal()
            return .text(200, #"{"status":"done"}"#)
        } _: { shop, id, _ in
            _ = try await item(shop, .neverSeen)
            _ = try await eventually("the third reversal") { count.withLock { $0 } > 2 ? true : nil }
            defer { settled.signal() }
            #expect(try await settle(shop, id, Self.charged).transaction().state == .approved)
            settled.signal()
            _ = try await eventually("the contradiction") {
                shop.runner.events.kept(about: id).first { $0.name == .openItemContradicted }
            }
            let after = try await shop.get("/v1/transactions/\(id)").transaction()
            #expect(after.state == .approved && after.settlement?.contradictedAt != nil)
            let last = try shop.journal(
                "SELECT detail FROM audit WHERE kind = 'openItem' ORDER BY sequence DESC LIMIT 1")
            #expect(last == "contradicted by the payment service, settled as charged")
        }
    }

    @Test(
        "A cashier sees what is open and settles nothing, a monitor sees nothing of it",
        .enabled(if: geteuid() == 0, "needs root, to become another user"))
    func roles() async throws {
        let folder = try TestFolder()
        var wish = Shop.Wish()
        wish.access = Access(groups: [.admin: 10, .cashier: 20, .monitor: 40], owner: 500)
        try await forgetful(in: folder, wish) { shop, id, _ in
            _ = try await item(shop, .neverSeen)
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o666], ofItemAtPath: folder.path + "/pos.sock")
            let list = ["http://d/v1/open-items"]
            let settle = [
                "-H", "Content-Type: application/json", "-d", Self.notCharged,
                "http://d/v1/open-items/\(id)/settlement",
            ]
            #expect(try await curl(folder, groups: "20", list).body.contains("open_item.never_seen"))
            #expect(try await curl(folder, groups: "40", list).body.contains("auth.role_missing"))
            for group in ["20", "40"] {
                let answer = try await curl(folder, groups: group, settle)
                #expect(answer.status == "403" && answer.body.contains("auth.admin_required"))
            }
            #expect(try await curl(folder, groups: "10", settle).status == "200")
            #expect(try await shop.get("/v1/transactions/\(id)").transaction().state == .reversed)
        }
    }
}
