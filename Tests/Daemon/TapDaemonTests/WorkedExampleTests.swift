// SPDX-License-Identifier: Apache-2.0
import Foundation
import LocalHTTP
import POSAPI
import PSPAPI
import PSPSandbox
import PaymentValues
import ReaderVirtual
import Synchronization
import TestSupport
import Testing

@testable import TapDaemon

/// The examples of a payment's life that `OperationTests` does not play: a partial approval, an approval that nobody confirms,
/// a hold that ends while the payment service is away, and a refund on the next day. Each with the messages that a till and a
/// payment service exchange, to the member.
@Suite("Worked examples of a payment's life, from till to service", .timeLimit(.minutes(10)))
struct WorkedExampleTests {
    private func pay(_ shop: Shop, _ value: Int64, _ more: String = "") async throws -> Transaction {
        try shop.reader.obey("present visa")
        let sale = try await shop.post(purchase(value, order: UUID().uuidString, more: more), wait: 20).transaction()
        try shop.reader.obey("remove")
        return sale
    }

    private func rows(_ shop: Shop, _ id: TransactionID) throws -> String {
        try shop.journal(
            "SELECT group_concat(entry || ' ' || hold || '/' || money, '; ') FROM (SELECT * FROM ledger WHERE payment = '\(id)' ORDER BY sequence)"
        )
    }

    private func withShop(_ body: (Shop, Passage) async throws -> Void) async throws {
        let folder = try TestFolder()
        var wish = Shop.Wish()
        wish.adapterSocket = "way.sock"
        try await withSandbox(in: folder) { _ in
            try await withPassage(at: folder.path + "/way.sock", to: folder.path + "/psp.sock") { passage in
                try await Shop.open(in: folder, wish) { shop in
                    _ = try await eventually("the service has said what it can") { shop.daemon.health.supports }
                    try await body(shop, passage)
                }
            }
        }
    }

    /// The authorisation of a sale as the service was sent it. What the card and its seal make of themselves is taken from it.
    private func expectSale(
        _ sale: Transaction, _ type: AuthorizationRequest.Kind, _ cvm: AuthorizationRequest.CVM, in passage: Passage
    ) throws -> Passage.Exchange {
        let exchange = try #require(
            passage.exchanges.first { $0.path == ["v1", "authorizations"] && $0.key == sale.id.text })
        let told = try WireJSON.decode(AuthorizationRequest.self, from: Array(exchange.request.utf8))
        let card = try #require(MaskedCard(scheme: "Visa", last4: "0010", masked: "************0010"))
        let wanted = try text(
            AuthorizationRequest(
                id: sale.id, mode: .test, type: type, amount: sale.amount, entryMode: .contactlessEMV, cvm: cvm,
                emv: told.emv, card: card, envelope: told.envelope,
                terminal: .init(id: "00000001", merchant: "TEST MERCHANT", capabilities: ["CONTACTLESS_EMV"]),
                order: sale.order))
        #expect(exchange.request == wanted)
        #expect(told.emv.uppercased().contains("9F0206" + String(format: "%012d", sale.amount.value)))
        #expect(told.envelope.split(separator: ".", omittingEmptySubsequences: false).count == 5)
        return exchange
    }

    private func authorization(_ exchange: Passage.Exchange) throws -> AuthorizationAnswer {
        #expect(exchange.status == 200)
        return try WireJSON.decode(AuthorizationAnswer.self, from: Array(exchange.answer.utf8))
    }

    /// What a till reads of an error about a sale.
    private func expect(
        _ error: ErrorDetail?, _ code: ErrorCode, about sale: TransactionID, limit: Money? = nil
    ) {
        var (told, wanted) = (error, ErrorDetail(code, transaction: sale))
        #expect(told?.support?.transaction == sale)
        told?.support = nil
        wanted.limit = limit
        #expect(told == wanted)
    }

    private func text(_ message: some Encodable) throws -> String {
        String(decoding: try WireJSON.encode(message), as: UTF8.self)
    }

    @Test func `Example 8: after a partial approval what was approved is the limit of a refund`() async throws {
        try await withShop { shop, passage in
            let sale = try await pay(shop, 1_210)
            #expect(sale.result?.outcome == .partiallyApproved && sale.result?.amountApproved?.value == 605)
            #expect(try rows(shop, sale.id) == "captured 0/605")
            let answer = try authorization(try expectSale(sale, .sale, .noCVM, in: passage))
            let limit = Money(value: 605, currency: sale.amount.currency)
            #expect(answer.outcome == .partial && answer.responseCode == "10" && answer.amountApproved == limit)
            #expect(answer.pspReference == sale.result?.pspReference)
            let refund = try await shop.post(
                #"{"type":"refund","of":"\#(sale.id)","amount":{"value":1210,"currency":"EUR"}}"#)
            #expect(refund.status == 422)
            expect(try refund.error(), .refundTooMuch, about: sale.id, limit: limit)
            #expect(passage.exchanges.count { $0.method == .post } == 1, "the refund has reached the service")
        }
    }

    @Test func `Example 10: an approval that nobody confirms is taken back, and is open until that is acknowledged`()
        async throws
    {
        let folder = try TestFolder()
        let takesReversals = Atomic(false)
        var wish = Shop.Wish()
        wish.adapterSocket = "way.sock"
        try await withSandbox(in: folder) { sandbox in
            try await withPassage(at: folder.path + "/way.sock", to: folder.path + "/psp.sock") { request, pass in
                let isHeldUp = request.path.last == "reversals" && !takesReversals.load(ordering: .relaxed)
                return isHeldUp ? .text(503, "{}") : await pass()
            } _: { passage in
                try await Shop.open(in: folder, wish) { shop in
                    let sale = try await pay(shop, 700, #","confirmWithin":5"#)
                    #expect(sale.state == .approved && sale.confirmation?.confirmedAt == nil)
                    #expect(sale.confirmation?.due.milliseconds == sale.updatedAt.milliseconds + 5_000)
                    // Taken back from here on for the shop; its service has not said so yet.
                    let open = try await eventually("the open item") {
                        try await entries(shop).first { $0.kind == .reversing && ($0.attempts ?? 0) > 0 }
                    }
                    #expect(open.transaction == sale.id && open.amount == sale.amount && open.operation == nil)
                    #expect(try await entries(shop).count == 1)
                    let taken = try await shop.get("/v1/transactions/\(sale.id)").transaction()
                    #expect(taken.state == .reversing && taken.result?.reason == .notConfirmed)
                    #expect(taken.result?.outcome == .declined && taken.account?.state == .reversed)
                    #expect(try rows(shop, sale.id) == "captured 0/700; reversed 0/-700")
                    let late = try await shop.post(to: "/v1/transactions/\(sale.id)/confirmation")
                    #expect(late.status == 409)

                    takesReversals.store(true, ordering: .relaxed)
                    let end = try await shop.reach([.reversed], sale.id)
                    #expect(end.history.map(\.state).suffix(3) == [.approved, .reversing, .reversed])
                    #expect(try await entries(shop).isEmpty)
                    #expect(try rows(shop, sale.id) == "captured 0/700; reversed 0/-700")
                    let asked = passage.exchanges.filter { $0.path.last == "reversals" }
                    #expect(asked.count >= 2 && asked.last?.status == 200)
                    let wanted = PSPAPI.ReversalRequest(
                        reason: .timeout, amount: sale.amount, pspReference: sale.result?.pspReference)
                    for each in asked {
                        #expect(each.path == ["v1", "authorizations", sale.id.text, "reversals"])
                        #expect(each.key == sale.id.text)
                        #expect(
                            try WireJSON.decode(PSPAPI.ReversalRequest.self, from: Array(each.request.utf8)) == wanted)
                    }
                    let told = try await shop.events(until: .paymentReversed).map(\.name)
                    let names: [EventName] = [.paymentApproved, .paymentDeclined, .paymentReversed]
                    #expect(told.filter(names.contains) == names)
                }
            }
            let booked = await sandbox.ledger
            #expect(booked.transactions.map(\.outstanding) == [0] && booked.unseen.isEmpty)
        }
    }

    /// The service holds a sum for seventy seconds here, and a capture has to reach it a minute before the end.
    @Test func `Example 11: a capture that finds nobody until the hold is over is refused, and the hold expires`()
        async throws
    {
        let folder = try TestFolder()
        let sandbox = Sandbox(key: try TestRecipient.privateKey(), timing: SandboxTiming(hold: .seconds(70)))
        var wish = Shop.Wish()
        wish.adapterSocket = "way.sock"
        wish.healthInterval = .milliseconds(200)
        /// The service, and what it is sent: away with the way to it, so that nothing can be lost on it.
        func withService(_ body: (Passage) async throws -> Void) async throws {
            try await serve(sandbox, in: folder) {
                try await withPassage(at: folder.path + "/way.sock", to: folder.path + "/psp.sock") {
                    try await body($0)
                }
            }
        }
        try await Shop.open(in: folder, wish) { shop in
            var held: Transaction?
            try await withService { passage in
                _ = try await eventually("the service has said what it can") { shop.daemon.health.supports }
                let sale = try await pay(shop, 9_000, #","amountStatus":"preauthorized""#)
                let answer = try authorization(try expectSale(sale, .preauth, .signature, in: passage))
                #expect(answer.outcome == .approved && answer.captureBefore == sale.account?.before)
                #expect(passage.exchanges.count { $0.method == .post } == 1)
                held = sale
            }
            let sale = try #require(held)
            let before = try #require(sale.account?.before)
            #expect(sale.state == .approved && sale.account?.capture == .manual && sale.account?.remaining == 9_000)
            #expect(try rows(shop, sale.id) == "authorised 9000/0")
            let two: Int64 = 2 * 3_600_000
            #expect(try await open(shop) == [.uncaptured])
            await shop.daemon.expiry.look(at: Timestamp(milliseconds: before.milliseconds - two))

            func capture(wait: Int) async throws -> Answer {
                try await shop.send(
                    HTTPClientRequest(
                        .post, "/v1/transactions/\(sale.id)/captures",
                        fields: [
                            "Content-Type": "application/json", "Idempotency-Key": UUID().uuidString,
                            "Prefer": "wait=\(wait)",
                        ], body: Array(#"{"amount":{"value":9000,"currency":"EUR"}}"#.utf8)))
            }
            let asked = try await capture(wait: 0)
            #expect(asked.status == 202)
            let created = try WireJSON.decode(PaymentOperation.self, from: asked.body)
            #expect(created.transaction == sale.id && created.kind == .capture && created.final == true)
            #expect(created.amount == sale.amount && created.tip == nil && created.stuck == nil)
            #expect(created.state == .created && created.result == nil && created.error == nil)
            #expect(created.account?.pendingCapture == 9_000 && created.account?.remaining == 0)
            #expect(try await Set(open(shop)) == [.unknownOperation, .uncaptured])
            try await eventually("the last minute has begun") {
                Timestamp.now.milliseconds > before.milliseconds - 60_000
            }

            try await withService { passage in
                let answer = try await shop.get("/v1/operations/\(created.id)?wait=60")
                let refused = try WireJSON.decode(PaymentOperation.self, from: answer.body)
                #expect(refused.state == .refused && refused.history.map(\.state) == [.created, .refused])
                #expect(refused.id == created.id && refused.amount == sale.amount && refused.final == true)
                expect(refused.error, .captureExpired, about: sale.id)
                #expect(refused.result == nil)
                #expect(refused.account?.remaining == 9_000 && refused.account?.pendingCapture == 0)
                try await eventually("the service is heard again") {
                    passage.exchanges.contains { $0.path == ["v1", "health"] && $0.status == 200 }
                }
                #expect(
                    passage.exchanges.allSatisfy { $0.path == ["v1", "health"] }, "the capture has reached the service")
            }
            let booked = try #require(await sandbox.ledger.transactions.first)
            #expect(booked.held == 9_000 && booked.captured == 0 && booked.operations.isEmpty)
            let again = try await capture(wait: 0)
            #expect(again.status == 409)
            expect(try again.error(), .captureExpired, about: sale.id)

            let day: Int64 = 24 * 3_600_000
            await shop.daemon.expiry.look(at: Timestamp(milliseconds: before.milliseconds + day))
            #expect(try rows(shop, sale.id) == "authorised 9000/0; expired -9000/0")
            let end = try #require(try await shop.get("/v1/transactions/\(sale.id)").transaction().account)
            #expect(end.state == .expired && end.released == 9_000 && end.captured == 0 && end.remaining == 0)
            #expect(try await open(shop).isEmpty)
            let told = try await shop.events(until: .paymentExpired).filter { $0.amount?.value == 9_000 }
            let names: [EventName] = [.paymentExpiring, .operationRefused, .paymentExpired]
            #expect(told.map(\.name).filter(names.contains) == names)
            #expect(told.first { $0.name == .operationRefused }?.operation == created.id)
        }
    }

    private func open(_ shop: Shop) async throws -> [OpenEntry.Kind] { try await entries(shop).map(\.kind) }

    private func entries(_ shop: Shop) async throws -> [OpenEntry] {
        try WireJSON.decode(Totals.self, from: try await shop.get("/v1/totals").body).open
    }

    @Test func `Example 12: a refund of yesterday's sale is of today, and yesterday's report stays as it was`()
        async throws
    {
        try await withShop { shop, passage in
            let sale = try await pay(shop, 1_000)
            _ = try expectSale(sale, .sale, .noCVM, in: passage)
            func close(_ label: String) async throws -> EndOfDay {
                let answer = try await shop.send(
                    HTTPClientRequest(
                        .post, "/v1/days",
                        fields: [
                            "Content-Type": "application/json", "Idempotency-Key": UUID().uuidString,
                            "Prefer": "wait=20",
                        ], body: Array(#"{"label":"\#(label)"}"#.utf8)))
                #expect(answer.status == 201, "\(answer.text)")
                return try WireJSON.decode(EndOfDay.self, from: answer.body)
            }
            /// What the service was told of the day, and what it has answered.
            func expectDay(_ end: EndOfDay, _ kind: FigureLine.Kind, _ value: Int64) throws {
                let exchange = try #require(
                    passage.exchanges.first { $0.path == ["v1", "reconciliations"] && $0.key == end.day.id })
                let lines = [
                    FigureLine(
                        mode: .test, currency: sale.amount.currency, scheme: "Visa", kind: kind, count: 1, value: value)
                ]
                let closedAt = try #require(end.day.closedAt)
                let wanted = try text(
                    ReconciliationRequest(
                        id: end.day.id, mode: .test, terminal: "00000001", number: end.day.number,
                        openedAt: end.day.openedAt, closedAt: closedAt, lines: lines))
                #expect(exchange.request == wanted)
                let answer = try WireJSON.decode(ReconciliationAnswer.self, from: Array(exchange.answer.utf8))
                #expect(answer.id == end.day.id && answer.status == .balanced && answer.lines == lines)
                #expect(end.day.state == .balanced && end.differences == [] && end.service?.lines == lines)
            }
            let first = try await close("day-1")
            #expect(first.totals.net.map(\.value) == [1_000])
            try expectDay(first, .captured, 1_000)
            let report = "/v1/days/\(first.day.number)/report"
            let printed = try await shop.get(report).text
            let answer = try await shop.post(
                #"{"type":"refund","of":"\#(sale.id)","amount":{"value":1000,"currency":"EUR"}}"#, wait: 20)
            let refund = try answer.transaction()
            #expect(refund.state == .approved && refund.of == sale.id)
            let asked = try #require(passage.exchanges.first { $0.key == refund.id.text })
            #expect(asked.method == .post && asked.path == ["v1", "authorizations", sale.id.text, "refunds"])
            let wanted = try text(
                RefundRequest(
                    id: refund.id, mode: .test, amount: sale.amount, pspReference: sale.result?.pspReference))
            #expect(asked.request == wanted)
            let second = try await close("day-2")
            #expect(second.totals.net.map(\.value) == [-1_000])
            try expectDay(second, .refunded, -1_000)
            #expect(first.day.closedAt == second.day.openedAt && second.day.number == first.day.number + 1)
            let again = try WireJSON.decode(
                EndOfDay.self, from: try await shop.get("/v1/days/\(first.day.number)").body)
            #expect(again == first && again.day.label == "day-1")
            #expect(try await shop.get(report).text == printed && printed.contains("10.00"))
            let posts = passage.exchanges.filter { $0.method == .post }.compactMap(\.key)
            #expect(posts == [sale.id.text, first.day.id, refund.id.text, second.day.id])
        }
    }
}
