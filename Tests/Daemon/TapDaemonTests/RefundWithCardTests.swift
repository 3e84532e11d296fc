// SPDX-License-Identifier: Apache-2.0
import Configuration
import Foundation
import LocalHTTP
import POSAPI
import PSPAPI
import PaymentValues
import ReaderVirtual
import Synchronization
import TestSupport
import Testing

@testable import TapDaemon

@Suite("Refunds of a payment for which a card is read", .timeLimit(.minutes(10)))
struct RefundWithCardTests {
    private func sale(_ shop: Shop, _ value: Int64, card: String = "visa") async throws -> Transaction {
        try shop.reader.obey("present \(card)")
        let sale = try await shop.post(purchase(value, order: UUID().uuidString), wait: 20).transaction()
        try shop.reader.obey("remove")
        try #require(sale.state == .approved)
        return sale
    }

    private func body(_ id: TransactionID, _ card: String, _ value: Int64? = nil, _ more: String = "") -> String {
        let amount = value.map { #","amount":{"value":\#($0),"currency":"EUR"}"# } ?? ""
        return #"{"type":"refund","of":"\#(id)","card":"\#(card)"\#(amount)\#(more)}"#
    }

    /// With a card in the field.
    private func refund(
        _ shop: Shop, _ id: TransactionID, _ value: Int64? = nil, card: String = "visa", wait: Int = 20,
        key: String = UUID().uuidString
    ) async throws -> Answer {
        try shop.reader.obey("present \(card)")
        let answer = try await shop.post(body(id, "same", value), key: key, wait: wait)
        try shop.reader.obey("remove")
        return answer
    }

    private func account(_ shop: Shop, _ id: TransactionID) async throws -> PaymentAccount {
        try #require(try await shop.get("/v1/transactions/\(id)").transaction().account)
    }

    private func withService(
        _ folder: TestFolder, _ service: OperationService, _ body: (Shop, ScriptedAdapter) async throws -> Void
    ) async throws {
        try await withAdapter(in: folder, health: OperationService.health) {
            service.answer($0)
        } _: { adapter in
            try await Shop.open(in: folder) { shop in
                _ = try await eventually("the service has said what it can") { shop.daemon.health.supports }
                try await body(shop, adapter)
            }
        }
    }

    @Test func `R6: what wants its card back is refunded with it and not without, and nothing of the read is kept`()
        async throws
    {
        try await Shop.withSandbox { shop, _ in
            let sale = try await sale(shop, 1_230)
            let without = try await shop.post(#"{"type":"refund","of":"\#(sale.id)"}"#)
            #expect(without.status == 409)
            #expect(try without.error().code == "refund.card_needed")

            let part = try await refund(shop, sale.id, 200).transaction()
            #expect(part.state == .approved && part.of == sale.id && part.lane == "lane-0")
            #expect(part.history.map(\.state) == [.created, .armed, .reading, .sealed, .sent, .approved])
            #expect(part.card?.last4 == sale.card?.last4 && part.card?.token == sale.card?.token)
            let rest = try await refund(shop, sale.id).transaction()
            #expect(rest.amount.value == 1_030)
            let account = try await account(shop, sale.id)
            #expect(account.state == .refunded && account.refunded == 1_230 && account.pendingRefund == 0)
            let kept = try shop.journal("SELECT count(*) FROM payment WHERE authorization IS NOT NULL")
            #expect(kept == "0")
            let final = try await shop.post(
                to: "/v1/transactions/\(rest.id)/reversal", #"{"reason":"customerCancel"}"#)
            #expect(try final.error().code == "refund.final")
        }
    }

    @Test func `R5: another card is declined before anything is booked, and the amount can still be given back`()
        async throws
    {
        try await Shop.withSandbox { shop, _ in
            let sale = try await sale(shop, 1_230)
            let other = try await refund(shop, sale.id, card: "mastercard").transaction()
            #expect(other.state == .declined && other.error?.code == "refund.other_card")
            #expect(try await account(shop, sale.id).refundable == 1_230)
            #expect(try await refund(shop, sale.id).transaction().state == .approved)
        }
    }

    @Test func `R5: any card only where the shop allows it, with a reason that the audit chain keeps`() async throws {
        let folder = try TestFolder()
        try await withSandbox(in: folder) { _ in
            try await Shop.open(in: folder) { shop in
                let sale = try await sale(shop, 1_230)
                let unexplained = try await shop.post(body(sale.id, "any"))
                #expect(try unexplained.error().field == "reason")
                let refused = try await shop.post(body(sale.id, "any", nil, #","reason":"card lost""#))
                #expect(refused.status == 409)
                #expect(try refused.error().code == "refund.not_allowed")
            }
            var wish = Shop.Wish()
            wish.access.refunds.otherCard = .admin
            try await Shop.open(in: folder, wish) { shop in
                let sale = try await sale(shop, 1_240)
                try shop.reader.obey("present mastercard")
                let answer = try await shop.post(body(sale.id, "any", nil, #","reason":"card lost""#), wait: 20)
                try shop.reader.obey("remove")
                #expect(try answer.transaction().state == .approved)
                #expect(try answer.transaction().card?.scheme == "Mastercard")
                let chain = try shop.journal("SELECT group_concat(detail, '; ') FROM audit WHERE kind = 'refund'")
                #expect(chain.contains("to another card: card lost"))
            }
        }
    }

    @Test func `R7: a cashier gives back up to the shop's limit, and without a payment only where that is allowed`()
        throws
    {
        var refunds = RefundSettings()
        refunds.cashierMaximum = [try #require(Currency("EUR")): 5_000]
        (refunds.otherCard, refunds.unlinked) = (.admin, .admin)
        func caller(_ roles: Set<Role>) -> Caller {
            var caller = Caller(kind: .program, principal: Principal(uid: 1_000), roles: roles, ceiling: nil)
            caller.refunds = refunds
            return caller
        }
        func refusal(_ text: String, _ roles: Set<Role>) throws -> ErrorDetail? {
            let request = try WireJSON.decode(TransactionRequest.self, from: Array(text.utf8))
            do throws(ErrorBody) { try caller(roles).require(refund: request) } catch { return error.error }
            return nil
        }
        let (unlinked, id) = (#"{"type":"refund","amount":{"value":1,"currency":"EUR"}}"#, TransactionID())
        #expect(try refusal(unlinked, [.cashier])?.code == "auth.admin_required")
        #expect(try refusal(unlinked, [.cashier, .admin]) == nil)
        let other = body(id, "any", 1, #","reason":"lost""#)
        #expect(try refusal(other, [.cashier])?.code == "auth.admin_required")
        #expect(try refusal(other, [.cashier, .admin]) == nil)
        #expect(try refusal(body(id, "same"), [.cashier]) == nil)
        let (euro, franc) = (try #require(Currency("EUR")), try #require(Currency("CHF")))
        #expect(caller([.cashier]).refundLimit(in: euro) == 5_000)
        #expect(caller([.cashier]).refundLimit(in: franc) == nil)
        #expect(caller([.cashier, .admin]).refundLimit(in: euro) == nil)
        refunds.unlinked = .never
        #expect(try refusal(unlinked, [.cashier, .admin])?.code == "refund.not_allowed")
    }

    @Test func `A refund whose answer is lost is asked about, and carried out once`() async throws {
        let service = OperationService()
        try await withService(try TestFolder(), service) { shop, adapter in
            let sale = try await sale(shop, 1_000)
            service.fail(.lostAfter)
            let answer = try await refund(shop, sale.id, 400).transaction()
            #expect(answer.state == .approved)
            #expect(service.carriedOut == 1 && service.account(sale.id.text)?.refunded == 400)
            let sent = adapter.requests.filter { $0.path.last == "refunds" }
            #expect(sent.count == 1)
            let request = try WireJSON.decode(RefundRequest.self, from: try #require(sent.first).body)
            #expect(request.card == .same && request.id == answer.id && sent.first?.key == answer.id.text)
            let read = try #require(request.authorization)
            #expect(read.type == .refund && read.id == answer.id && read.amount == answer.amount && !read.offline)
        }
    }

    @Test func `A refund that is lost on its way is sent again while its read is fresh`() async throws {
        let service = OperationService()
        try await withService(try TestFolder(), service) { shop, _ in
            let sale = try await sale(shop, 1_000)
            service.fail(.lostBefore)
            #expect(try await refund(shop, sale.id, 400).transaction().state == .approved)
            #expect(service.carriedOut == 1 && service.account(sale.id.text)?.refunded == 400)
        }
    }

    @Test func `After a restart a read is never sent again: the refund is asked about, and an administrator ends it`()
        async throws
    {
        let (folder, service) = (try TestFolder(), OperationService())
        var id = TransactionID()
        var payment = TransactionID()
        try await withService(folder, service) { shop, _ in
            let sale = try await sale(shop, 1_000)
            payment = sale.id
            service.fail(.unavailable, .unavailable, .unavailable, .unavailable)
            try shop.reader.obey("present visa")
            id = try await shop.post(body(sale.id, "same", 400)).transaction().id
            _ = try await shop.reach([.unknown], id)
            try shop.reader.obey("remove")
        }
        service.fail()
        let posts = service.state.withLock { $0.posts }
        try await withService(folder, service) { shop, _ in
            let open = try await eventually("somebody has to look at it") { () -> String? in
                let items = try shop.journal("SELECT reason FROM open_item WHERE payment = '\(id)'")
                return items.isEmpty ? nil : items
            }
            #expect(open == "unanswered")
            #expect(service.state.withLock { $0.posts } == posts && service.carriedOut == 0)
            #expect(try shop.journal("SELECT count(*) FROM payment WHERE authorization IS NOT NULL") == "0")
            #expect(try await account(shop, payment).refundable == 600)
            let end = try await shop.post(
                to: "/v1/open-items/\(id)/settlement", #"{"as":"notCharged","note":"not in the portal"}"#)
            #expect(try end.transaction().state == .declined)
            #expect(try await account(shop, payment).refundable == 1_000)
        }
    }

    @Test func `A refund that waits for its card can be cancelled, counts until then, and is given up by a restart`()
        async throws
    {
        let (folder, service) = (try TestFolder(), OperationService())
        var id = TransactionID()
        var payment = TransactionID()
        try await withService(folder, service) { shop, _ in
            let sale = try await sale(shop, 1_000)
            payment = sale.id
            let key = UUID().uuidString
            let detached = body(sale.id, "same", 700, #","detached":true"#)
            let waiting = try await shop.post(detached, key: key).transaction()
            _ = try await shop.reach([.armed], waiting.id)
            #expect(try await account(shop, sale.id).refundable == 300)
            #expect(try await shop.post(detached, key: key).transaction().id == waiting.id)
            let busy = try await shop.post(body(sale.id, "same", 100))
            #expect(try busy.error().code == "reader.busy")
            let answer = try await shop.send(HTTPClientRequest(.delete, "/v1/transactions/\(waiting.id)")).cancel()
            #expect(answer.outcome == .cancelled)
            #expect(try await account(shop, sale.id).refundable == 1_000)
        }
        #expect(service.carriedOut == 0)
        // As a daemon leaves it that dies while the customer stands there.
        try await withService(folder, service) { shop, _ in
            id = try await shop.post(body(payment, "same", 700, #","detached":true"#)).transaction().id
            _ = try await shop.reach([.armed], id)
        }
        try await withService(folder, service) { shop, _ in
            let after = try await shop.get("/v1/transactions/\(id)").transaction()
            #expect([.failed, .cancelled].contains(after.state))
            #expect(try await account(shop, payment).refundable == 1_000)
        }
        #expect(service.carriedOut == 0)
    }

    @Test func `A dry run says what would be given back, and needs a lane`() async throws {
        try await Shop.withSandbox { shop, _ in
            let sale = try await sale(shop, 1_230)
            let fine = try await shop.post(body(sale.id, "same", nil, #","dryRun":true"#))
            #expect(fine.status == 200)
            #expect(try WireJSON.decode(OperationDryRun.self, from: fine.body).amount?.value == 1_230)
            let nowhere = try await shop.post(body(sale.id, "same", nil, #","dryRun":true,"lane":"nowhere""#))
            #expect(try nowhere.error().code == "lane.unknown")
            let laneless = try await shop.post(#"{"type":"refund","of":"\#(sale.id)","lane":"lane-0"}"#)
            #expect(try laneless.error().code == "request.field_not_applicable")
        }
    }

    @Test(
        "What is read for a refund before `sent` belongs to the tap, and from then on to whoever asks about it",
        arguments: TransactionState.allCases)
    func owner(_ state: TransactionState) {
        func refund(_ card: RefundCardRule?) -> Transaction {
            let euro = Money(value: 1, currency: .none)
            var request = TransactionRequest(type: .refund, amount: euro)
            (request.of, request.card) = (TransactionID(), card)
            var refund = Transaction(
                id: TransactionID(), type: .refund, mode: .test, lane: "lane-0", amount: euro, createdAt: .now)
            (refund.of, refund.state) = (request.of, state)
            refund.details = TransactionDetails(request)
            return refund
        }
        let isBeforeSent = [.created, .preparing, .armed, .reading, .sealed].contains(state)
        #expect(refund(.same).isOperation == !isBeforeSent)
        #expect(refund(.any).isOperation == !isBeforeSent)
        #expect(refund(nil).isOperation && refund(RefundCardRule.none).isOperation)
    }
}
