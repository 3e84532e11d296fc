// SPDX-License-Identifier: Apache-2.0
import Foundation
import LocalHTTP
import POSAPI
import PaymentValues
import Printing
import ReaderVirtual
import Receipt
import Synchronization
import TestSupport
import Testing

@testable import TapDaemon

/// A payment service that opens links, in a few lines of its own: it shares nothing with the daemon.
private final class LinkService: Sendable {
    struct State: Sendable {
        var links: [String: String] = [:]
        var calls: [String] = []
        var body = ""
        var isAway = false
        /// The next request is carried out, and its answer lost.
        var losesAnswer = false
    }

    let state = Mutex(State())

    static let health = #"{"status":"ok","protocolVersions":["v1"],"supports":["sale","refundLinked","link"]}"#

    func pay(_ id: TransactionID) { state.withLock { $0.links[id.text] = "paid" } }
    var calls: [String] { state.withLock { $0.calls } }

    func answer(_ seen: ScriptedAdapter.Seen) -> HTTPResponse {
        let body = (try? JSONSerialization.jsonObject(with: Data(seen.body))) as? [String: Any] ?? [:]
        return state.withLock { state in
            if state.isAway { return .text(503, "{}") }
            let id = body["id"] as? String ?? seen.path.last ?? ""
            state.calls.append("\(seen.method.rawValue) \(seen.path.dropFirst().first ?? "")")
            switch (seen.method, seen.path.dropFirst().first) {
            case (.post, "links"):
                state.body = seen.text
                if state.links[id] == nil { state.links[id] = "open" }
            case (.get, "links"):
                if state.links[id] == nil { return .text(404, "{}") }
            case (.delete, "links"):
                if state.links[id] ?? "open" == "open" { state.links[id] = "cancelled" }
            case (.post, "authorizations"):
                return .text(200, #"{"id":"\#(id)","outcome":"approved","status":"done","responseCode":"00"}"#)
            default: return .text(404, "{}")
            }
            if state.losesAnswer {
                state.losesAnswer = false
                return .text(502, "{}")
            }
            let link = state.links[id] ?? "open"
            var answer = #"{"id":"\#(id)","state":"\#(link)""#
            if link == "open" { answer += #","url":"https://pay.example/\#(id)""# }
            if link == "paid" {
                answer +=
                    #","payment":{"outcome":"approved","responseCode":"00","approvalCode":"123456","pspReference":"L-1"}"#
                answer += #","card":{"scheme":"Visa","last4":"1111","masked":"************1111"}"#
            }
            return .text(200, answer + "}")
        }
    }
}

@Suite("Links that customers pay by", .timeLimit(.minutes(10)))
struct LinkTests {
    private func shop(
        _ wish: Shop.Wish = Shop.Wish(), _ body: (Shop, LinkService) async throws -> Void
    ) async throws {
        let (folder, service) = (try TestFolder(), LinkService())
        try await withAdapter(in: folder, health: LinkService.health) {
            service.answer($0)
        } _: { _ in
            try await Shop.open(in: folder, wish) { shop in
                _ = try await eventually("the service has said what it can") { shop.daemon.health.supports }
                try await body(shop, service)
            }
        }
    }

    private func link(_ value: Int64 = 1_250, _ more: String = "") -> String {
        #"{"type":"link","amount":{"value":\#(value),"currency":"EUR"}\#(more)}"#
    }

    /// A link that the customer can be shown.
    private func opened(_ shop: Shop, _ more: String = "") async throws -> Transaction {
        let answer = try await shop.post(link(1_250, more), wait: 20)
        try #require(answer.status == 201, "\(answer.text)")
        let transaction = try answer.transaction()
        #expect(transaction.state == .sent && transaction.lane == "-")
        return transaction
    }

    @Test func `The till gets the address at once, and the payment once the customer has made it`() async throws {
        try await shop { shop, service in
            let open = try await opened(shop, #","order":"T-7","expires":600,"language":"de""#)
            #expect(open.link?.url == "https://pay.example/\(open.id)")
            #expect(open.link?.expiresAt == open.createdAt.advanced(bySeconds: 600))
            let body =
                try JSONSerialization.jsonObject(with: Data(service.state.withLock { $0.body }.utf8)) as? [String: Any]
            #expect(body?["id"] as? String == open.id.text && body?["order"] as? String == "T-7")
            #expect(body?["language"] as? String == "de" && body?["mode"] as? String == "test")
            #expect((body?["amount"] as? [String: Any])?["value"] as? Int == 1_250)
            // The order waits for the customer.
            let second = try await shop.post(purchase(1_250, order: "T-7"))
            #expect(try second.status == 409 && second.error().code == "order.unresolved")
            service.pay(open.id)
            let paid = try await shop.reach([.approved], open.id)
            #expect(paid.link == nil && paid.card?.last4 == "1111" && paid.result?.approvalCode == "123456")
            #expect(paid.account?.captured == 1_250 && paid.account?.refundable == 1_250)
            let third = try await shop.post(purchase(1_250, order: "T-7"))
            #expect(try third.status == 409 && third.error().code == "order.paid")
            let totals = try await shop.get("/v1/totals?by=type")
            #expect(totals.text.contains(#""type":"link""#))
            let refund = try await shop.post(#"{"type":"refund","of":"\#(open.id)"}"#, wait: 20)
            #expect(try refund.transaction().state == .approved)
        }
    }

    @Test func `Whoever shows it hears of it when it opens; its address is in no file and no log`() async throws {
        let log = KeptLog()
        var wish = Shop.Wish()
        wish.logger = log.logger
        try await shop(wish) { shop, service in
            let open = try await opened(shop, #","order":"T-8","language":"de""#)
            let receipt = try await shop.get("/v1/transactions/\(open.id)/receipt")
            let slip = try WireJSON.decode(Receipt.self, from: receipt.body)
            #expect(slip.status == .open && slip.qr == open.link?.url && slip.payUntil == open.link?.expiresAt)
            let picture = HTTPClientRequest(
                .get, "/v1/transactions/\(open.id)/receipt", fields: ["Accept": "image/svg+xml"])
            #expect(try await shop.send(picture).text == QRCode(open.link?.url ?? "")?.svg)
            service.pay(open.id)
            let events = try await shop.events(until: .paymentApproved).filter { $0.transaction == open.id }
            #expect(events.map(\.name) == [.linkOpened, .paymentApproved])
            #expect(events.first?.link == open.link && events.first?.amount == open.amount)
            #expect(events.first?.lane == "-" && events.first?.customerText?.hasPrefix("Zum Bezahlen") == true)
            // What a till of version 0.1.0 asks for has no names that it does not know.
            let paid = try await shop.get("/v1/transactions/\(open.id)")
            #expect(try paid.transaction().events?.map(\.name) == [.paymentApproved])
            #expect(!paid.text.contains("pay.example"))
            let paidSlip = try await shop.get("/v1/transactions/\(open.id)/receipt")
            #expect(!paidSlip.text.contains("pay.example"))
            #expect(try WireJSON.decode(Receipt.self, from: paidSlip.body).status == .approved)
            // What nobody pays leaves none behind either.
            let unpaid = try await opened(shop).id
            _ = try await shop.delete("/v1/transactions/\(unpaid)")
            let ended = try await shop.get("/v1/transactions/\(unpaid)")
            #expect(try ended.transaction().state == .declined && !ended.text.contains("pay.example"))
            func files(with text: String) throws -> [String] {
                try filesOnDisk(in: shop.folder.path).filter { $0.bytes.range(of: Data(text.utf8)) != nil }.map(\.name)
            }
            #expect(try files(with: "T-8") != [])
            #expect(try files(with: "pay.example") == [])
            #expect(!log.all.isEmpty && !log.all.contains { "\($0)".contains("pay.example") })
        }
    }

    @Test func `A sale that was declined offers the link that pays it, where the service opens links`() async throws {
        try await Shop.withSandbox { shop, _ in
            _ = try await eventually("the service has said what it can") { shop.daemon.health.supports }
            try shop.reader.obey("present visa")
            let declined = try await shop.post(purchase(5_051, order: "A-2"), wait: 20).transaction()
            #expect(declined.state == .declined)
            let answer = try await shop.get("/v1/transactions/\(declined.id)")
            let kinds = try answer.transaction().alternatives?.map(\.kind)
            #expect(kinds == nil || kinds?.isEmpty == false)
            let offered = #"{"kind":"paymentLink","request":{"retryOf":"\#(declined.id)","type":"link"}}"#
            #expect(answer.text.contains(offered), "\(answer.text)")
            let open = try await shop.post(
                #"{"retryOf":"\#(declined.id)","type":"link"}"#, wait: 20
            ).transaction()
            #expect(open.state == .sent && open.order == "A-2" && open.amount == declined.amount)
            #expect(open.retryOf == declined.id && open.link?.url.hasPrefix("https://pay.example/") == true)
            // The amount that a card is declined for is one that nobody pays.
            let cancelled = try await shop.delete("/v1/transactions/\(open.id)")
            #expect(cancelled.text.contains(#""outcome":"cancelled""#), "\(cancelled.text)")
            let ended = try await shop.get("/v1/transactions/\(open.id)").transaction()
            #expect(ended.state == .declined && ended.result?.reason == .cancelledAfterSending)
        }
    }

    @Test func `Cancelled too late, the payment stands`() async throws {
        try await shop { shop, service in
            let open = try await opened(shop)
            service.pay(open.id)
            let answer = try await shop.delete("/v1/transactions/\(open.id)")
            #expect(answer.text.contains(#""outcome":"tooLate""#), "\(answer.text)")
            let paid = try await shop.reach([.approved], open.id)
            #expect(paid.result?.reversal == nil)
        }
    }

    @Test func `A lost answer opens no second link, and what nobody has seen is closed`() async throws {
        try await shop { shop, service in
            service.state.withLock { $0.losesAnswer = true }
            let open = try await opened(shop)
            #expect(open.link != nil)
            #expect(service.calls.filter { $0 == "POST links" }.count == 1)
            service.state.withLock { $0.links = [:] }
            let ended = try await shop.reach([.declined], open.id)
            #expect(service.calls.contains("DELETE links") && ended.result?.outcome == .declined)
            #expect(service.calls.filter { $0 == "POST links" }.count == 1)
        }
    }

    @Test func `Whoever waits for a link has it as soon as it can be shown, and a stop does not wait for its customer`()
        async throws
    {
        var began = ContinuousClock.now
        try await shop { shop, _ in
            began = .now
            let open = try await shop.post(link(), wait: 60).transaction()
            #expect(open.link != nil && open.state == .sent)
            #expect(began.duration(to: .now) < .seconds(58))
            began = .now
            shop.daemon.shutDown(grace: hangLimit)
        }
        #expect(began.duration(to: .now) < hangLimit - .seconds(10))
    }

    @Test func `A restart goes on with it, and a service that is away is asked until it is back`() async throws {
        let (folder, service) = (try TestFolder(), LinkService())
        try await withAdapter(in: folder, health: LinkService.health) {
            service.answer($0)
        } _: { _ in
            var id: TransactionID?
            try await Shop.open(in: folder) { shop in
                _ = try await eventually("the service has said what it can") { shop.daemon.health.supports }
                id = try await opened(shop).id
            }
            let open = try #require(id)
            service.state.withLock { $0.isAway = true }
            try await Shop.open(in: folder) { shop in
                #expect(try await shop.get("/v1/transactions/\(open)").transaction().state == .sent)
                service.pay(open)
                service.state.withLock { $0.isAway = false }
                _ = try await shop.reach([.approved], open)
                #expect(!service.calls.contains("POST authorizations"))
            }
        }
    }

    @Test func `Without the word in supports there is no link, and what a link may not say is refused by name`()
        async throws
    {
        let folder = try TestFolder()
        let health = #"{"status":"ok","protocolVersions":["v1"],"supports":["sale"]}"#
        try await withAdapter(in: folder, health: health) { _ in
            .text(404, "{}")
        } _: { _ in
            try await Shop.open(in: folder) { shop in
                _ = try await eventually("the service has said what it can") { shop.daemon.health.supports }
                let refused = try await shop.post(link())
                #expect(try refused.status == 409 && refused.error().code == "link.not_supported")
                for (more, code, field) in [
                    (#","lane":"main""#, "request.field_not_applicable", "lane"),
                    (#","expires":59"#, "request.invalid_field", "expires"),
                    (#","expires":86401"#, "request.invalid_field", "expires"),
                    (#","expires":"900""#, "request.invalid_field", "expires"),
                    (#","confirmWithin":5"#, "request.field_not_applicable", "confirmWithin"),
                ] {
                    let answer = try await shop.post(link(1_250, more))
                    #expect(answer.status == 400, "\(more)")
                    #expect(try answer.error().code == code && answer.error().field == field, "\(answer.text)")
                }
                #expect(try await shop.post(#"{"type":"link"}"#).error().code == "request.missing_field")
                #expect(try await shop.post(link(0)).error().code == "amount.total_not_positive")
                let other = #"{"type":"purchase","amount":{"value":1,"currency":"EUR"},"expires":900}"#
                #expect(try await shop.post(other).error().code == "request.field_not_applicable")
            }
        }
    }
}
