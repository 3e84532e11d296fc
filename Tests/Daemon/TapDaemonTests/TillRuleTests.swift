// SPDX-License-Identifier: Apache-2.0
import Configuration
import Foundation
import Glibc
import LocalHTTP
import POSAPI
import PaymentValues
import ReaderVirtual
import TestSupport
import Testing

@testable import TapDaemon

/// Rules for tills behind a gateway, one after the other, as docs/integrating/protocol.md has them.
@Suite("Tills behind a gateway", .timeLimit(.minutes(10)))
struct TillRuleTests {
    private static let isRoot = geteuid() == 0

    private func open(
        _ wish: Shop.Wish = .gateway(), _ body: (Shop, GatewayTill, GatewayTill) async throws -> Void
    ) async throws {
        try await Shop.withSandbox(wish) { shop, _ in
            try await body(shop, GatewayTill(shop: shop, name: "bar-1"), GatewayTill(shop: shop, name: "bar-2"))
        }
    }

    /// Groups of other users in the tests that need them.
    private var foreign: Shop.Wish {
        var wish = Shop.Wish()
        wish.access = Access(
            groups: [.admin: 10, .cashier: 20, .loyalty: 30, .monitor: 40], owner: 500,
            gateway: GatewaySettings(group: 50))
        return wish
    }

    private func allowEverybody(_ shop: Shop) throws {
        let path = shop.folder.path + "/pos.sock"
        try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: path)
    }

    @Test(
        "Rule 1: a member that names no till gets status, lanes, help, contract and events, and has no other power",
        .enabled(if: isRoot, "needs root, to become another user"))
    func gatewayWithoutTill() async throws {
        try await open(foreign) { shop, _, _ in
            try allowEverybody(shop)
            for path in ["status", "lanes", "lanes/lane-0", "help", "help/contactless", "openapi.yaml"] {
                // The contract is larger than a pipe.
                let answer = try await curl(shop.folder, groups: "50", ["-o", "/dev/null", "http://d/v1/\(path)"])
                #expect(answer.status == "200" || path == "help/contactless" && answer.status == "404", "\(path)")
            }
            let refusals = #"{"refusals":[{"code":"origin.refused","count":1}]}"#
            let told = try await curl(
                shop.folder, groups: "50",
                ["-H", "Content-Type: application/json", "-d", refusals, "http://d/v1/refusals"])
            #expect(told.status == "204")
            let sale = [
                "-H", "Content-Type: application/json", "-H", "Idempotency-Key: k", "-d", purchase(500),
            ]
            for call in [
                ["http://d/v1/transactions"], ["http://d/v1/terms"], ["http://d/v1/queue"], ["http://d/metrics"],
                ["http://d/v1/open-items"], ["http://d/v1/totals"], ["http://d/v1/lanes/lane-0/last"],
                ["-X", "POST", "http://d/v1/lanes/lane-0/prepare"], sale + ["http://d/v1/transactions"],
            ] {
                let answer = try await curl(shop.folder, groups: "50", call)
                #expect(answer.status == "403" && answer.body.contains("auth.role_missing"), "\(call)")
            }
        }
    }

    @Test("Rule 2, vector 16: whoever is outside the group and names a till is refused, whatever the call, root too")
    func outside() async throws {
        try await open(foreign) { shop, bar, _ in
            for path in ["/v1/status", "/v1/transactions", "/v1/events", "/metrics"] {
                let answer = try await bar.get(path)
                #expect(answer.status == 403)
                #expect(try answer.error().code == "auth.delegation_refused")
            }
            let sale = try await bar.sell(500, key: "k")
            #expect(try sale.error().code == "auth.delegation_refused")
            let roles = HTTPClientRequest(.get, "/v1/status", fields: ["NFC-Tap-Roles": "monitor"])
            #expect(try await shop.send(roles).error().code == "auth.delegation_refused")
            #expect(try shop.journal("SELECT count(*) FROM payment") == "0")
            #expect(try await shop.get("/v1/status").status == 200, "without the header it is what it was")
        }
    }

    @Test(
        "Rule 2: a name that is malformed is refused, never passed over",
        arguments: ["", "1bar", "-bar", "Bar", "bar_1", "bar 1", "b\u{E4}r", String(repeating: "b", count: 33)])
    func malformed(name: String) async throws {
        try await open { shop, _, _ in
            let answer = try await GatewayTill(shop: shop, name: name).get("/v1/status")
            #expect(answer.status == 400)
            #expect(try answer.error().code == "request.invalid_parameter")
            #expect(try answer.error().field == "NFC-Tap-On-Behalf-Of")
        }
    }

    @Test("Rule 2: a name that stands twice is refused, and roles without a name are")
    func twice() async throws {
        try await open { shop, bar, _ in
            var request = bar.request(.get, "/v1/status")
            request.fields.append("nfc-tap-on-behalf-of", "bar-1")
            let twice = try await shop.send(request)
            #expect(try twice.error().code == "request.invalid_parameter")
            let roles = HTTPClientRequest(.get, "/v1/status", fields: ["NFC-Tap-Roles": "monitor"])
            #expect(try await shop.send(roles).error().code == "request.invalid_parameter")
            let longest = GatewayTill(shop: shop, name: "b" + String(repeating: "-", count: 31))
            #expect(try await longest.get("/v1/status").status == 200)
        }
    }

    @Test("Rule 3, vector 18: a till has the roles that it is given, monitor where none is, and never admin")
    func roles() async throws {
        try await open { shop, _, _ in
            func answer(_ roles: String?, _ target: String) async throws -> Answer {
                try await GatewayTill(shop: shop, name: "bar-1", roles: roles).get(target)
            }
            #expect(try await answer(nil, "/v1/status").status == 200)
            #expect(try await answer(nil, "/v1/transactions").error().code == "auth.role_missing")
            #expect(try await answer("monitor", "/v1/transactions").error().code == "auth.role_missing")
            #expect(try await answer("loyalty", "/v1/transactions").error().code == "auth.role_missing")
            #expect(try await answer("cashier, loyalty", "/v1/transactions").status == 200)
            for named in ["admin", "cashier,admin"] {
                let refused = try await answer(named, "/v1/status")
                #expect(refused.status == 403)
                #expect(try refused.error().code == "auth.delegation_refused")
            }
            for named in ["", "root", "cashier,,loyalty", "CASHIER"] {
                let refused = try await answer(named, "/v1/status")
                #expect(refused.status == 400, "\(named)")
                #expect(try refused.error().field == "NFC-Tap-Roles")
            }
        }
    }

    @Test("Rule 4: the daemon's configuration is the ceiling of roles, whatever the gateway says")
    func roleCeiling() async throws {
        try await open(.gateway { $0.roles = [.monitor] }) { shop, bar, _ in
            #expect(try await bar.get("/v1/transactions").error().code == "auth.role_missing")
            #expect(try await bar.sell(500, key: "k").error().code == "auth.role_missing")
            let loyalty = try await GatewayTill(shop: shop, name: "bar-1", roles: "loyalty").get("/v1/status")
            #expect(try loyalty.error().code == "auth.role_missing", "nothing is left of its roles")
        }
    }

    @Test("Rule 4: no till refunds unless the configuration says so, and none accepts terms or opens batches")
    func typeCeiling() async throws {
        try await open { shop, bar, _ in
            let refund = #"{"type":"refund","amount":{"value":500,"currency":"EUR"}}"#
            let refused = try await bar.post("/v1/transactions", refund, key: "k")
            #expect(refused.status == 403)
            #expect(try refused.error().code == "auth.role_missing" && refused.error().field == "type")
            let terms = try await bar.post("/v1/terms/acceptance", #"{"hash":"x"}"#)
            #expect(try terms.error().code == "auth.admin_required")
            #expect(try await bar.post("/v1/queue/batches", "").error().code == "auth.role_missing")
            #expect(try await bar.get("/metrics").error().code == "auth.role_missing")
            #expect(try shop.journal("SELECT count(*) FROM payment") == "0")
        }
        try await open(.gateway { $0.types = [.refund] }) { _, bar, _ in
            let refund = #"{"type":"refund","amount":{"value":500,"currency":"EUR"},"detached":true}"#
            let refunded = try await bar.post("/v1/transactions", refund, key: "k")
            #expect(refunded.status == 201)
            #expect(try await bar.sell(500, key: "k2").error().code == "auth.role_missing")
        }
    }

    @Test(
        "Rule 4: a till reverses its own payment within its time; later an administrator does, and a repeat is answered"
    )
    func reversalTime() async throws {
        let wish = #"{"reason":"customerCancel"}"#
        try await open(.gateway { $0.reversalMinutes = 0 }) { shop, bar, _ in
            try shop.reader.obey("present visa")
            let paid = try await bar.sell(1_200, key: "k", wait: 20).transaction()
            try #require(paid.state == .approved)
            let target = "/v1/transactions/\(paid.id)/reversal"
            let late = try await bar.post(target, wish)
            let error = try late.error()
            #expect(late.status == 403 && error.code == "reversal.too_late" && error.transaction == paid.id)
            let lines = "FROM audit WHERE kind = 'refusal' AND detail = 'by \(bar.principal): reversal.too_late'"
            #expect(try shop.journal("SELECT subject \(lines)") == paid.id.text, "a gateway may not report it")
            #expect(try await bar.get("/v1/transactions/\(paid.id)").transaction().state == .approved)
            #expect(try await shop.post(to: target, wish).status / 100 == 2, "the installation's owner, as no till")
            _ = try await shop.reach([.reversed], paid.id)
            #expect(try await bar.post(target, wish).status == 200, "taken back already: nothing changes")
        }
        try await open { shop, bar, _ in
            try shop.reader.obey("present visa")
            let paid = try await bar.sell(1_200, key: "k", wait: 20).transaction()
            #expect(try await bar.post("/v1/transactions/\(paid.id)/reversal", wish).status / 100 == 2)
            _ = try await shop.reach([.reversed], paid.id)
        }
    }

    @Test("Rule 4: the time for a reversal begins with the approval, and ends with its last minute")
    func reversalClock() throws {
        let approved = Timestamp(milliseconds: 1_800_000_000_000)
        let amount = Money(value: 500, currency: try #require(Currency("EUR")))
        var paid = Transaction(
            id: TransactionID(at: approved), type: .purchase, mode: .test, lane: "lane-0", amount: amount,
            createdAt: approved.advanced(bySeconds: -3_600))
        paid.state = .approved
        paid.history.append(Transaction.Step(state: .approved, at: approved))
        let till = Caller(
            kind: .till, principal: Principal(uid: 1, till: TillName("bar-1")), roles: [.cashier],
            ceiling: GatewaySettings(group: 1))
        try till.requireReversible(paid, at: approved.advanced(bySeconds: 899))
        let late = #expect(throws: ErrorBody.self) {
            try till.requireReversible(paid, at: approved.advanced(bySeconds: 900))
        }
        #expect(late?.error.code == "reversal.too_late")
        let program = Caller(kind: .program, principal: Principal(uid: 1), roles: [.cashier], ceiling: nil)
        try program.requireReversible(paid, at: approved.advanced(bySeconds: 900))
    }

    @Test("Rule 4: a till uses the lanes of the ceiling only, by name, in a list, in a group and without any name")
    func laneCeiling() async throws {
        var wish = Shop.Wish.gateway { $0.lanes = ["lane-1"] }
        wish.lanes = 3
        wish.groups = ["both": ["lane-1", "lane-2"]]
        try await open(wish) { shop, bar, _ in
            for more in [#","lane":"lane-0""#, #","lanes":["lane-1","lane-2"]"#, #","group":"both""#] {
                let refused = try await bar.sell(500, key: "k", more: more)
                #expect(refused.status == 403)
                #expect(try refused.error().code == "lane.not_yours", "\(more)")
            }
            #expect(try await bar.post("/v1/lanes/lane-0/prepare", "").error().code == "lane.not_yours")
            #expect(try await bar.post("/v1/lanes/lane-1/prepare", "").status < 300)
            try await shop.lanes(are: .ready)
            let sale = try await bar.sell(500, key: "k")
            #expect(try sale.transaction().lane == "lane-1")
            #expect(try await bar.sell(500, key: "k2").error().code == "reader.busy", "no other lane is free for it")
        }
    }

    @Test("Rule 5, vector 17: a connection belongs to the first till on it; another one, and none, is refused")
    func connections() async throws {
        try await open { shop, first, second in
            let connection = try await shop.client.connect()
            func answer(_ request: HTTPClientRequest) async throws -> Answer {
                try await shop.send(request, over: connection)
            }
            #expect(try await answer(first.request(.get, "/v1/status")).status == 200)
            #expect(try await answer(first.request(.get, "/v1/transactions")).status == 200)
            let other = try await answer(second.request(.get, "/v1/status"))
            #expect(other.status == 400)
            #expect(try other.error().field == "NFC-Tap-On-Behalf-Of")
            #expect(try await answer(HTTPClientRequest(.get, "/v1/status")).status == 400)
            #expect(try await answer(first.request(.get, "/v1/status")).status == 200)
            await connection.close()
            let own = try await shop.client.connect()
            #expect(try await shop.send(HTTPClientRequest(.get, "/v1/status"), over: own).status == 200)
            #expect(try await shop.send(first.request(.get, "/v1/status"), over: own).status == 400)
            await own.close()
        }
    }

    @Test("Rule 6, vector 14: what belongs to another till cannot be cancelled, confirmed, reversed or seen")
    func owner() async throws {
        try await open { shop, first, second in
            let id = try await first.sell(500, key: "k").transaction().id
            let target = "/v1/transactions/\(id)"
            for answer in [
                try await second.delete(target), try await second.get(target),
                try await second.get(target + "/receipt"), try await second.get(target + "/operations"),
                try await second.post(target + "/confirmation", ""),
                try await second.post(target + "/reversal", #"{"reason":"malfunction"}"#),
                try await second.post(target + "/decline", ""),
                try await second.post(target + "/captures", #"{"final":true}"#, key: "c"),
                try await second.post(target + "/releases", "{}", key: "r"),
            ] {
                #expect(answer.status == 403, "\(answer.text)")
                #expect(try answer.error().code == "session.not_owner")
            }
            #expect(try await first.get(target).transaction().till == TillName("bar-1"))
            #expect(try await first.delete(target).cancel().outcome == .cancelled)
            #expect(try await shop.reach([.cancelled], id).cancelledBy == .client)
        }
    }

    @Test(
        "Rule 6: a program of the gateway's user is a third principal, apart from its tills",
        .enabled(if: isRoot, "needs root, to become another user"))
    func third() async throws {
        try await open(foreign) { shop, _, _ in
            try allowEverybody(shop)
            let till = ["-H", "NFC-Tap-On-Behalf-Of: bar-1", "-H", "NFC-Tap-Roles: cashier"]
            let body = [
                "-H", "Content-Type: application/json", "-H", "Idempotency-Key: k", "-d",
                purchase(500, more: #","detached":true"#), "http://d/v1/transactions",
            ]
            let sale = try await curl(shop.folder, groups: "20,50", till + body)
            #expect(sale.status == "201", "\(sale.body)")
            let id = try WireJSON.decode(Transaction.self, from: Array(sale.body.utf8)).id
            let cancel = ["-X", "DELETE", "http://d/v1/transactions/\(id)"]
            let program = try await curl(shop.folder, groups: "20,50", cancel)
            #expect(program.status == "403" && program.body.contains("session.not_owner"))
            let other = try await curl(shop.folder, uid: 65_533, groups: "50", till + cancel)
            #expect(other.status == "403" && other.body.contains("session.not_owner"), "another user's till")
            let key = try await curl(shop.folder, groups: "20,50", ["http://d/v1/transactions?key=k"])
            #expect(key.status == "404" && key.body.contains("idempotency.key_unknown"))
            #expect(try await curl(shop.folder, groups: "50", till + cancel).status == "200")
        }
    }

    @Test("Rule 7, vector 13: two tills use the same key for different sales, and each gets its own again")
    func keys() async throws {
        var wish = Shop.Wish.gateway()
        wish.lanes = 2
        try await open(wish) { shop, first, second in
            let one = try await first.sell(500, key: "K").transaction()
            let two = try await second.sell(700, key: "K").transaction()
            #expect(one.id != two.id && one.amount.value == 500 && two.amount.value == 700)
            for (till, own) in [(first, one), (second, two)] {
                let again = try await till.sell(own.amount.value, key: "K")
                #expect(again.fields.only("Idempotency-Replayed") == "true")
                #expect(try again.transaction().id == own.id)
                let found = try await till.get("/v1/transactions?key=K")
                #expect(try WireJSON.decode(TransactionList.self, from: found.body).transactions.map(\.id) == [own.id])
            }
            #expect(try await first.sell(700, key: "K").error().code == "idempotency.key_reused")
            let program = try await shop.get("/v1/transactions?key=K")
            #expect(try program.error().code == "idempotency.key_unknown")
        }
    }

    @Test("Rule 8, vector 15: an order that is in doubt at one till is in doubt at every other")
    func unresolved() async throws {
        let folder = try TestFolder()
        try await withAdapter(in: folder) { _ in
            .text(503, "")
        } _: { _ in
            try await Shop.open(in: folder, .gateway()) { shop in
                try shop.reader.obey("present visa")
                let doubtful = try await GatewayTill(shop: shop, name: "bar-2")
                    .sell(500, order: "A-17", key: "k", wait: 20).transaction()
                #expect(doubtful.state == .reversing)
                let sale = try await GatewayTill(shop: shop, name: "bar-1").sell(500, order: "A-17", key: "k")
                #expect(sale.status == 409)
                #expect(try sale.error().code == "order.unresolved" && sale.error().transaction == doubtful.id)
            }
        }
    }

    @Test("Rule 9: the till stands in its transactions, in lists, in events, at its lane and in the audit chain")
    func named() async throws {
        try await open { shop, first, _ in
            let id = try await first.sell(1_250, key: "k").transaction().id
            let lane = try await shop.get("/v1/lanes/lane-0")
            let holder = try WireJSON.decode(LaneStatus.self, from: lane.body).holder
            #expect(holder?.till == TillName("bar-1") && holder?.uid == geteuid() && holder?.transaction == id)
            try shop.reader.obey("present visa")
            #expect(try await shop.reach([.approved], id).till == TillName("bar-1"))
            try await shop.post(purchase(700), wait: 20)
            for (filter, count) in [("bar-1", 1), ("bar-2", 0)] {
                let list = try await shop.get("/v1/transactions?till=\(filter)")
                let found = try WireJSON.decode(TransactionList.self, from: list.body).transactions
                #expect(found.count == count && found.allSatisfy { $0.till == TillName(filter) && $0.id == id })
            }
            #expect(try await shop.get("/v1/transactions?till=Bar").error().field == "till")
            let events = try await shop.get("/v1/transactions/\(id)").transaction().events ?? []
            #expect(!events.isEmpty && events.allSatisfy { $0.till == TillName("bar-1") && $0.transaction == id })
            #expect(
                try shop.journal("SELECT detail FROM audit WHERE subject = '\(id)' ORDER BY sequence LIMIT 1")
                    == "created purchase 1250 EUR uid \(geteuid()) till bar-1")
        }
    }

    @Test("Rule 10: with the header the owner's own program is a till and nothing more, without it what it was")
    func wholeSystemOfOneUser() async throws {
        try await open { shop, bar, _ in
            #expect(try await bar.post("/v1/terms/acceptance", #"{"hash":"x"}"#).status == 403)
            let id = try await shop.post(purchase(500, more: #","detached":true"#)).transaction().id
            #expect(try await bar.delete("/v1/transactions/\(id)").error().code == "session.not_owner")
            #expect(try await shop.delete("/v1/transactions/\(id)").cancel().outcome == .cancelled)
            let sold = try await bar.sell(500, key: "k").transaction().id
            #expect(try await shop.delete("/v1/transactions/\(sold)").cancel().outcome == .cancelled, "as admin")
            #expect(try await shop.reach([.cancelled], sold).cancelledBy == .administrator)
            let said = "cancel by uid \(geteuid()) as admin: cancelled"
            #expect(try shop.journal("SELECT detail FROM audit WHERE kind = 'administration'") == said)
        }
    }

    @Test("Rule 11: connections of gateways are counted apart from all others")
    func places() {
        let access = Access(groups: [.cashier: 20], owner: 500, gateway: GatewaySettings(group: 50))
        func standing(_ groups: [UInt32]) -> PeerStanding {
            access.standing(
                of: PeerCredentials(processID: 1, userID: 7, groupID: 7, supplementaryGroupIDs: groups))
        }
        #expect(standing([50]) == .relaying && standing([20, 50]) == .relaying)
        #expect(standing([20]) == .working && standing([]) == PeerStanding.none)
        #expect(HTTPLimits(PointOfSaleSettings.ConnectionLimits()).relayed == 64)
    }
}
