// SPDX-License-Identifier: Apache-2.0
import Configuration
import Glibc
import LocalHTTP
import POSAPI
import PaymentValues
import ReaderVirtual
import TestSupport
import Testing
import Transactions

@testable import TapDaemon

@Suite("Payments that a backend far away starts", .timeLimit(.minutes(5)))
struct RemoteOrderTests {
    private static var euro: Currency { get throws { try #require(Currency("EUR")) } }

    /// The test's own group has the gateway and the backend's program: the names of tills say which is which.
    private func open(
        _ change: (inout RemoteSettings) -> Void = { _ in }, lanes: Int = 2,
        _ body: (Shop, _ backend: GatewayTill) async throws -> Void
    ) async throws {
        let folder = try TestFolder()
        var wish = Shop.Wish.gateway()
        wish.lanes = lanes
        var settings = RemoteSettings(group: getegid(), lanes: ["lane-0"], limits: [try Self.euro: 5_000])
        settings.isUnseen = true
        change(&settings)
        wish.access.remote = settings
        wish.remote = settings
        try await withSandbox(in: folder) { _ in
            try await Shop.open(in: folder, wish) { shop in
                try await body(shop, GatewayTill(shop: shop, name: "remote-shop", roles: nil))
            }
        }
    }

    private func order(_ value: Int64, _ more: String = "", currency: String = "EUR") -> String {
        #"{"type":"purchase","amount":{"value":\#(value),"currency":"\#(currency)"},"lane":"lane-0","detached":true\#(more)}"#
    }

    private func start(_ backend: GatewayTill, _ body: String, key: String) async throws -> Answer {
        try await backend.post("/v1/transactions", body, key: key)
    }

    @Test("N4: a backend's program gets its lanes, types and sums, and nothing beyond them")
    func bounds() async throws {
        try await open { shop, backend in
            let answers: [(String, String, String?)] = [
                (order(5_001), "remote.amount_exceeded", "amount"),
                (order(100, currency: "USD"), "remote.currency_not_allowed", "amount.currency"),
                (order(100).replacing("lane-0", with: "lane-1"), "lane.not_yours", "lane"),
                (
                    order(100).replacing("\"lane\":\"lane-0\"", with: "\"lanes\":[\"lane-0\",\"lane-1\"]"),
                    "lane.not_yours", "lanes"
                ),
                (order(100).replacing("purchase", with: "refund"), "auth.role_missing", "type"),
                (#"{"type":"verification","currency":"EUR","reason":"lookUp"}"#, "auth.role_missing", "type"),
                (#"{"type":"loyalty"}"#, "auth.role_missing", "type"),
                (#"{"type":"link","amount":{"value":100,"currency":"EUR"}}"#, "auth.role_missing", "type"),
            ]
            for (index, (body, code, field)) in answers.enumerated() {
                let answer = try await start(backend, body, key: "n-\(index)")
                #expect(answer.status == 403, "\(body)")
                #expect(try answer.error().code == code && answer.error().field == field, "\(body)")
            }
            #expect(try await start(backend, order(5_001), key: "m").error().limit?.value == 5_000)
            #expect(try shop.journal("SELECT count(*) FROM payment") == "0")
            let status = try WireJSON.decode(Status.self, from: try await shop.get("/v1/status").body)
            #expect(status.remote?.refused == answers.count + 1 && status.remote?.started == 0)
            let metrics = try await shop.get("/metrics").text
            #expect(metrics.contains(#"nfc_tap_remote_refusals_total{code="remote.amount_exceeded"} 2"#))
            // Without a lane it gets one of its own.
            let most = try await start(backend, purchase(5_000, more: #","detached":true"#), key: "most").transaction()
            #expect(most.lane == "lane-0" && most.till?.text == "remote-shop")
        }
    }

    @Test("N4: it neither sees, cancels nor takes back what another has begun: each attempt is 403")
    func hostile() async throws {
        try await open { shop, backend in
            let bar = GatewayTill(shop: shop, name: "bar-1")
            try shop.readers[1].obey("present visa")
            let sale = try await bar.post(
                "/v1/transactions", order(700).replacing("lane-0", with: "lane-1"), key: "k", wait: 60
            ).transaction()
            #expect(sale.state == .approved)
            let at = "/v1/transactions/\(sale.id)"
            let retry = #"{"type":"purchase","retryOf":"\#(sale.id)","lane":"lane-0"}"#
            for (name, attempt): (String, HTTPClientRequest) in [
                ("see", backend.request(.get, at)), ("cancel", backend.request(.delete, at)),
                ("take back", backend.request(.post, at + "/reversal", #"{"reason":"customer"}"#)),
                ("confirm", backend.request(.post, at + "/confirmation")),
                ("receipt", backend.request(.get, at + "/receipt")),
                ("try again", backend.request(.post, "/v1/transactions", retry, key: "r")),
                ("list", backend.request(.get, "/v1/transactions")), ("totals", backend.request(.get, "/v1/totals")),
                ("last", backend.request(.get, "/v1/lanes/lane-1/last")),
                ("day", backend.request(.post, "/v1/days", "{}", key: "d")),
                ("prepare", backend.request(.post, "/v1/lanes/lane-1/prepare")),
                ("metrics", backend.request(.get, "/metrics")),
                ("displays", backend.request(.post, "/v1/displays", #"{"lanes":["lane-0"]}"#)),
                (
                    "refund",
                    backend.request(.post, "/v1/transactions", #"{"type":"refund","of":"\#(sale.id)"}"#, key: "f")
                ),
            ] {
                let answer = try await shop.send(attempt)
                #expect(answer.status == 403, "\(name): \(answer.status) \(answer.text)")
            }
            // Its keys are its own.
            #expect(try await backend.get("/v1/transactions?key=k").status == 404)
            let lanes = try WireJSON.decode(LaneList.self, from: try await backend.get("/v1/lanes").body)
            #expect(lanes.lanes.allSatisfy { $0.holder == nil })
            #expect(try await shop.reach([.approved], sale.id).state == .approved)
        }
    }

    @Test("N4: names of tills that begin with remote- are those of [remote]'s group, and it has no other")
    func names() async throws {
        try await open { shop, backend in
            var foreign = GatewaySettings(group: getegid())
            foreign.lanes = nil
            let access = shop.daemon.settings.snapshot.access
            #expect(access.remote != nil && access.gateway == foreign)
            // A till of a gateway has the same header, and not that name.
            var request = backend.request(.get, "/v1/status")
            request.fields.set("NFC-Tap-Roles", "cashier,admin")
            let strange = try await shop.send(request)
            #expect(try strange.error().code == "auth.delegation_refused")
            // Its power does not grow by what it says of itself.
            request.fields.set("NFC-Tap-Roles", "monitor")
            let watching = try await shop.send(request)
            #expect(watching.status == 200)
            let weak = GatewayTill(shop: shop, name: "remote-shop", roles: "monitor")
            #expect(try await start(weak, order(100), key: "w").error().code == "auth.role_missing")
        }
        // Where the group is another one, the name is nobody's.
        try await open({ $0.group = .max }) { shop, backend in
            let answer = try await backend.get("/v1/status")
            #expect(try answer.status == 403 && answer.error().code == "auth.delegation_refused")
            #expect(try await GatewayTill(shop: shop, name: "bar-1").get("/v1/status").status == 200)
        }
    }

    @Test(
        "N4: payments of 24 hours have a limit, whatever names their tills have, over a restart; what was not charged does not count"
    )
    func day() async throws {
        let folder = try TestFolder()
        var settings = RemoteSettings(group: getegid(), lanes: ["lane-0"], limits: [try Self.euro: 5_000])
        (settings.isUnseen, settings.dayLimits) = (true, [try Self.euro: 9_000])
        var wish = Shop.Wish.gateway()
        (wish.access.remote, wish.remote) = (settings, settings)
        try await withSandbox(in: folder) { _ in
            try await Shop.open(in: folder, wish) { shop in
                let backend = GatewayTill(shop: shop, name: "remote-a", roles: nil)
                let given = try await start(backend, order(5_000), key: "cancelled").transaction().id
                _ = try await backend.delete("/v1/transactions/\(given)")
                _ = try await shop.reach([.cancelled], given)
                try await eventually("a free lane") { await shop.runner.laneStatuses().first?.holder == nil }
                try shop.reader.obey("present visa")
                let paid = try await start(backend, order(5_000), key: "paid").transaction().id
                _ = try await shop.reach([.approved], paid)
                try shop.reader.obey("remove")
            }
            try await Shop.open(in: folder, wish) { shop in
                let other = GatewayTill(shop: shop, name: "remote-b", roles: nil)
                let refused = try await start(other, order(4_001), key: "more")
                #expect(refused.status == 403)
                #expect(try refused.error().code == "remote.day_exceeded" && refused.error().limit?.value == 4_000)
                // A dry run says what the payment would be told.
                let tried = try await start(other, order(4_001, #","dryRun":true"#), key: "dry")
                #expect(try tried.status == 403 && tried.error().code == "remote.day_exceeded")
                #expect(try tried.error().limit?.value == 4_000)
                #expect(try await start(other, order(4_000, #","dryRun":true"#), key: "dry").status == 200)
                #expect(try await start(other, order(4_000), key: "rest").status == 201)
                // The shop's own tills have no part in it.
                #expect(try shop.journal("SELECT count(*) FROM payment WHERE till LIKE 'remote-%'") == "3")
            }
        }
    }

    @Test("N5: whoever sells on the lane frees it from a backend's payment in one call, until a card is read")
    func free() async throws {
        try await open { shop, backend in
            let order = try await start(backend, self.order(500), key: "o-1").transaction()
            _ = try await shop.reach([.armed], order.id)
            let bar = GatewayTill(shop: shop, name: "bar-1")
            let lanes = try WireJSON.decode(LaneList.self, from: try await bar.get("/v1/lanes").body)
            let holder = try #require(lanes.lanes.first { $0.name == "lane-0" }?.holder)
            #expect(holder.transaction == order.id && holder.till?.text == "remote-shop")
            let watcher = GatewayTill(shop: shop, name: "bar-2", roles: "monitor")
            #expect(try await watcher.delete("/v1/transactions/\(order.id)").error().code == "auth.role_missing")
            #expect(try await bar.get("/v1/transactions/\(order.id)").error().code == "session.not_owner")
            let answer = try await bar.delete("/v1/transactions/\(order.id)")
            #expect(try answer.cancel().outcome == .cancelled)
            #expect(try await shop.reach([.cancelled], order.id).cancelledBy == .cashier)
            try await eventually("a free lane") { await shop.runner.laneStatuses().first?.holder == nil }
            let detail = try shop.journal(
                "SELECT detail FROM audit WHERE kind = 'administration' AND subject = '\(order.id)'")
            #expect(detail.hasSuffix("as cashier: cancelled") && detail.contains("till bar-1"))
            // Once the card was read it is the backend's.
            try shop.reader.obey("present visa")
            let paid = try await start(backend, self.order(700), key: "o-2").transaction()
            _ = try await shop.reach([.approved], paid.id)
            let late = try await bar.delete("/v1/transactions/\(paid.id)")
            #expect(try late.status == 403 && late.error().code == "session.not_owner")
            #expect(try await shop.reach([.approved], paid.id).state == .approved)
        }
    }

    @Test("N5: a till of another lane sees nothing of it, and no till cancels what another till has begun")
    func otherLanes() async throws {
        let folder = try TestFolder()
        var settings = RemoteSettings(group: getegid(), lanes: ["lane-0"], limits: [try Self.euro: 5_000])
        settings.isUnseen = true
        var wish = Shop.Wish.gateway { $0.lanes = ["lane-1"] }
        (wish.access.remote, wish.remote, wish.lanes) = (settings, settings, 2)
        try await withSandbox(in: folder) { _ in
            try await Shop.open(in: folder, wish) { shop in
                let backend = GatewayTill(shop: shop, name: "remote-shop", roles: nil)
                let order = try await start(backend, self.order(500), key: "o").transaction()
                _ = try await shop.reach([.armed], order.id)
                let bar = GatewayTill(shop: shop, name: "bar-1")
                #expect(try await bar.delete("/v1/transactions/\(order.id)").error().code == "session.not_owner")
                let lanes = try WireJSON.decode(LaneList.self, from: try await bar.get("/v1/lanes").body)
                #expect(lanes.lanes.allSatisfy { $0.holder == nil })
                let sale = try await bar.post(
                    "/v1/transactions", self.order(300).replacing("lane-0", with: "lane-1"), key: "s"
                ).transaction()
                let other = GatewayTill(shop: shop, name: "bar-2")
                #expect(try await other.delete("/v1/transactions/\(sale.id)").error().code == "session.not_owner")
                #expect(await shop.runner.books.live[order.id]?.transaction.state == .armed)
            }
        }
    }

    @Test(
        "N6: where nothing shows the customer the amount, a backend's payment is refused; a display that is said to be open lets it begin"
    )
    func unseen() async throws {
        try await open({ $0.isUnseen = false }) { shop, backend in
            let refused = try await start(backend, order(500), key: "dark")
            #expect(
                try refused.status == 409 && refused.error().code == "remote.unseen" && refused.error().field == "lane")
            let other = try await shop.post(to: "/v1/displays", #"{"lanes":["lane-1"]}"#)
            #expect(other.status == 204)
            #expect(try await start(backend, order(500), key: "dark").error().code == "remote.unseen")
            #expect(try await shop.post(to: "/v1/displays", #"{"lanes":["lane-0","lane-1"]}"#).status == 204)
            #expect(try await start(backend, order(500), key: "dark").status == 201)
        }
    }

    @Test("N6: what was said of displays counts for a minute, and each speaks for itself")
    func displays() {
        let displays = LaneDisplays()
        let (gateway, program) = (Principal(uid: 1), Principal(uid: 2))
        func at(_ milliseconds: Int64) -> Moment { Moment(monotonic: milliseconds, wall: .now) }
        displays.note(["main"], by: gateway, at: at(0))
        displays.note(["kiosk"], by: program, at: at(30_000))
        #expect(displays.shows("main", at: at(59_999)) && !displays.shows("main", at: at(60_000)))
        #expect(displays.shows("kiosk", at: at(60_000)) && !displays.shows("bar", at: at(0)))
        displays.note([], by: program, at: at(60_001))
        #expect(!displays.shows("kiosk", at: at(60_002)))
    }

    @Test("N4: the chain says who has signed the order of a backend's payment, as its program says it")
    func audit() async throws {
        try await open { shop, backend in
            var request = backend.request(.post, "/v1/transactions", order(500), key: "A-17.1")
            request.fields.set("NFC-Tap-Order-Issuer", "https://pos.example")
            request.fields.set("NFC-Tap-Order-Key", "2026-11")
            let id = try await shop.send(request).transaction().id
            let entries = try shop.journal("SELECT subject, detail FROM audit WHERE kind = 'remote'")
            let owner = "uid \(geteuid()) till remote-shop"
            #expect(entries == "\(id)|order A-17.1 of https://pos.example key 2026-11 \(owner)")
            request.fields.set("NFC-Tap-Order-Key", "a b")
            request.fields.set("Idempotency-Key", "A-17.2")
            let wrong = try await shop.send(request)
            #expect(try wrong.status == 400 && wrong.error().field == "NFC-Tap-Order-Key")
        }
    }
}
