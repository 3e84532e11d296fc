// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
import POSAPI
import PSPSandbox
import PaymentValues
import ReaderVirtual
import TestSupport
import Testing

@testable import TapDaemon

/// With the sandbox as the payment service that runs the other terminal.
@Suite("Sales that are handed to another terminal", .timeLimit(.minutes(10)))
struct TerminalHandoverTests {
    private func shop(_ body: (Shop) async throws -> Void) async throws {
        let folder = try TestFolder()
        try await withSandbox(in: folder) { _ in
            try await open(folder, body)
        }
    }

    private func open(_ folder: TestFolder, _ body: (Shop) async throws -> Void) async throws {
        try await Shop.open(in: folder) { shop in
            _ = try await eventually("the service has said what it can") { shop.daemon.health.supports }
            try await body(shop)
        }
    }

    /// A card that wants another interface, and nothing sent for it.
    private func failed(_ shop: Shop, _ value: Int64, _ order: String) async throws -> Transaction {
        try shop.reader.obey("present gpo-6984")
        let failed = try await shop.post(purchase(value, order: order), wait: 20).transaction()
        try shop.reader.obey("remove")
        #expect(failed.error?.code == "read.other_interface")
        return failed
    }

    private func handover(_ id: TransactionID, _ more: String = "", to: String = "sandbox-terminal") -> String {
        #"{"type":"handover","retryOf":"\#(id)","to":"\#(to)"\#(more)}"#
    }

    @Test func `The sale offers the terminal, its customer pays there, and the books know it as a payment`()
        async throws
    {
        try await shop { shop in
            let failed = try await failed(shop, 1_200, "T-1")
            let offered =
                #"{"kind":"otherInterface","request":{"retryOf":"\#(failed.id)","to":"sandbox-terminal","type":"handover"}}"#
            let seen = try await shop.get("/v1/transactions/\(failed.id)")
            #expect(seen.text.contains(offered), "\(seen.text)")
            let begun = try await shop.post(handover(failed.id)).transaction()
            #expect(begun.lane == "-" && begun.order == "T-1" && begun.amount == failed.amount)
            #expect(
                begun.retryOf == failed.id
                    && begun.details?.handover == LinkOptions(expires: 180, to: "sandbox-terminal"))
            // Nobody else takes money for it meanwhile.
            let second = try await shop.post(purchase(1_200, order: "T-1"))
            #expect(try second.status == 409 && second.error().code == "order.unresolved")
            let again = try await shop.post(handover(failed.id))
            #expect(try again.status == 409 && again.error().code == "retry.not_possible")
            let paid = try await shop.get("/v1/transactions/\(begun.id)?wait=20").transaction()
            #expect(paid.state == .approved && paid.card?.last4 == "1111" && paid.result?.approvalCode != nil)
            #expect(paid.history.map(\.state) == [.created, .sent, .approved])
            #expect(paid.account?.captured == 1_200 && paid.account?.refundable == 1_200)
            let slip = try await shop.get("/v1/transactions/\(begun.id)/receipt")
            #expect(slip.text.contains(#""status":"approved""#) && slip.text.contains("1111"), "\(slip.text)")
            #expect(try await shop.get("/v1/totals?by=type").text.contains(#""type":"handover""#))
            let third = try await shop.post(purchase(1_200, order: "T-1"))
            #expect(try third.status == 409 && third.error().code == "order.paid")
            let refund = try await shop.post(#"{"type":"refund","of":"\#(begun.id)"}"#, wait: 20)
            #expect(try refund.transaction().state == .approved)
        }
    }

    @Test(
        "Row 16 of the guidance: a sale goes to the terminal from the start, and the status tells the tills which there are"
    )
    func fromTheStart() async throws {
        try await shop { shop in
            let status = try WireJSON.decode(Status.self, from: try await shop.get("/v1/status").body)
            #expect(status.terminals == ["sandbox-terminal"])
            let wish =
                #"{"type":"handover","to":"sandbox-terminal","amount":{"value":1300,"currency":"EUR"},"order":"T-9"}"#
            let begun = try await shop.post(wish).transaction()
            #expect(begun.retryOf == nil && begun.order == "T-9" && begun.lane == "-")
            let paid = try await shop.get("/v1/transactions/\(begun.id)?wait=20").transaction()
            #expect(paid.state == .approved && paid.account?.captured == 1_300)
            let bare = try await shop.post(#"{"type":"handover","to":"sandbox-terminal"}"#)
            #expect(try bare.status == 400 && bare.error().field == "amount")
        }
    }

    @Test func `A card that is declined there ends it, with the issuer's code and the next steps`() async throws {
        try await shop { shop in
            let failed = try await failed(shop, 1_251, "T-2")
            let declined = try await shop.post(handover(failed.id), wait: 20).transaction()
            #expect(declined.state == .declined && declined.result?.reason == .insufficientFunds)
            #expect(declined.card?.last4 == "1111" && declined.account == nil)
            try shop.reader.obey("present visa")
            let other = #"{"type":"purchase","retryOf":"\#(declined.id)","amount":{"value":1200,"currency":"EUR"}}"#
            #expect(try await shop.post(other, wait: 20).transaction().state == .approved)
        }
    }

    @Test func `Where nobody comes, it outlives a restart and goes from the terminal when it is cancelled`()
        async throws
    {
        let folder = try TestFolder()
        try await withSandbox(in: folder) { _ in
            var id: TransactionID?
            try await open(folder) { shop in
                let failed = try await failed(shop, 1_299, "T-3")
                let begun = try await shop.post(handover(failed.id, #","expires":3600"#), wait: 5).transaction()
                #expect(begun.state == .sent)
                id = begun.id
            }
            let waiting = try #require(id)
            try await open(folder) { shop in
                #expect(try await shop.get("/v1/transactions/\(waiting)").transaction().state == .sent)
                let answer = try await shop.delete("/v1/transactions/\(waiting)")
                #expect(answer.text.contains(#""outcome":"cancelled""#), "\(answer.text)")
                let end = try await shop.get("/v1/transactions/\(waiting)")
                let ended = try end.transaction()
                #expect(ended.state == .declined && ended.result?.reason == .cancelledAfterSending)
                #expect(end.text.contains(#""kind":"otherInterface""#), "\(end.text)")
                #expect(ended.account == nil)
            }
        }
    }

    @Test
    func `A terminal that the service does not name is not asked, and what a hand-over may not say is refused by name`()
        async throws
    {
        try await shop { shop in
            let failed = try await failed(shop, 1_200, "T-4")
            let refused = try await shop.post(handover(failed.id, to: "elsewhere"))
            #expect(try refused.status == 409 && refused.error().code == "handover.not_available")
            for (more, code, field) in [
                (#","lane":"main""#, "request.field_not_applicable", "lane"),
                (#","amount":{"value":0,"currency":"EUR"}"#, "amount.total_not_positive", "amount"),
                (#","expires":29"#, "request.invalid_field", "expires"),
                (#","expires":3601"#, "request.invalid_field", "expires"),
            ] {
                let answer = try await shop.post(handover(failed.id, more))
                #expect(try answer.error().code == code, "\(answer.text)")
                #expect(try answer.error().field == field)
            }
            let spaced = try await shop.post(handover(failed.id, to: "a b"))
            #expect(try spaced.error().code == "request.invalid_field" && spaced.error().field == "to")
            let nowhere = #"{"type":"handover","retryOf":"\#(failed.id)"}"#
            #expect(try await shop.post(nowhere).error().code == "request.missing_field")
            let link = #"{"type":"link","retryOf":"\#(failed.id)","to":"sandbox-terminal"}"#
            #expect(try await shop.post(link).error().code == "request.field_not_applicable")
        }
    }

    @Test
    func `It is begun, looked at and ended as a hand-over, and terminals that a till cannot name are not offered`()
        async throws
    {
        let folder = try TestFolder()
        let many = (0..<20).map { "t-\($0)" }
        let names = String(decoding: try WireJSON.encode(["a b", ""] + many), as: UTF8.self)
        let health =
            #"{"status":"ok","protocolVersions":["v1"],"supports":["sale","handover"],"terminals":\#(names)}"#
        try await withAdapter(in: folder, health: health) { request in
            let id = request.method == .post ? request.key ?? "" : request.path.last ?? ""
            return .text(200, #"{"id":"\#(id)","state":"\#(request.method == .delete ? "cancelled" : "open")"}"#)
        } _: { adapter in
            try await open(folder) { shop in
                #expect(shop.daemon.health.terminals == Array(many.prefix(Limits.handoverTerminals)))
                let failed = try await failed(shop, 1_200, "T-6")
                #expect(try await shop.post(handover(failed.id, to: "t-19")).error().code == "handover.not_available")
                let id = try await shop.post(handover(failed.id, to: "t-3")).transaction().id
                try await eventually("a look at it") { adapter.requests.contains { $0.method == .get } }
                _ = try await shop.delete("/v1/transactions/\(id)")
                _ = try await shop.reach([.declined], id)
                let asked = adapter.requests
                #expect(asked.first?.path == ["v1", "handovers"] && asked.first?.text.contains(#""to":"t-3""#) == true)
                #expect(asked.dropFirst().allSatisfy { $0.path == ["v1", "handovers", id.text] })
                #expect(asked.last?.method == .delete)
            }
        }
    }

    @Test func `A service without other terminals offers none`() async throws {
        let folder = try TestFolder()
        let health = #"{"status":"ok","protocolVersions":["v1"],"supports":["sale"],"terminals":["sandbox-terminal"]}"#
        try await withAdapter(in: folder, health: health) { _ in
            .text(404, "{}")
        } _: { _ in
            try await open(folder) { shop in
                let failed = try await failed(shop, 1_200, "T-5")
                let seen = try await shop.get("/v1/transactions/\(failed.id)")
                #expect(
                    seen.text.contains(#""retryOf":"\#(failed.id)""#)
                        && !seen.text.contains(#""kind":"otherInterface""#))
                let refused = try await shop.post(handover(failed.id))
                #expect(try refused.status == 409 && refused.error().code == "handover.not_available")
            }
        }
    }
}
