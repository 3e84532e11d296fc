// SPDX-License-Identifier: Apache-2.0
import Foundation
import LocalHTTP
import PSPSandbox
import ReaderVirtual
import Synchronization
import TestSupport
import Testing
import Wire

@testable import TapDaemon

/// The examples of a payment's life that `OperationTests` does not play: a partial approval, an approval that nobody confirms,
/// a hold that ends while the payment service is away, and a refund on the next day. Each with the messages that a till and a
/// payment service exchange.
@Suite("Worked examples of a payment's life, from till to service", .timeLimit(.minutes(3)))
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

    private func withShop(_ body: (Shop) async throws -> Void) async throws {
        let folder = try TestFolder()
        try await withSandbox(in: folder) { _ in
            try await Shop.open(in: folder) { shop in
                _ = try await eventually("the service has said what it can") { shop.daemon.health.supports }
                try await body(shop)
            }
        }
    }

    @Test func `Example 8: after a partial approval what was approved is the limit of a refund`() async throws {
        try await withShop { shop in
            let sale = try await pay(shop, 1_210)
            #expect(sale.result?.outcome == .partiallyApproved && sale.result?.amountApproved?.value == 605)
            #expect(try rows(shop, sale.id) == "captured 0/605")
            let refund = try await shop.post(
                #"{"type":"refund","of":"\#(sale.id)","amount":{"value":1210,"currency":"EUR"}}"#)
            #expect(refund.status == 422)
            let error = try refund.error()
            #expect(error.code == "refund.too_much" && error.limit == Money(value: 605, currency: sale.amount.currency))
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
                    let sale = try await pay(shop, 700, #","confirmWithin":2"#)
                    #expect(sale.state == .approved && sale.confirmation?.confirmedAt == nil)
                    #expect(sale.confirmation?.due.milliseconds == sale.updatedAt.milliseconds + 2_000)
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
                    let wanted = ReversalRequest(
                        reason: .timeout, amount: sale.amount, pspReference: sale.result?.pspReference)
                    for each in asked {
                        #expect(each.path == ["v1", "authorizations", sale.id.text, "reversals"])
                        #expect(each.key == sale.id.text)
                        #expect(try WireJSON.decode(ReversalRequest.self, from: Array(each.request.utf8)) == wanted)
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
        wish.healthInterval = .milliseconds(200)
        try await Shop.open(in: folder, wish) { shop in
            var held: Transaction?
            try await serve(sandbox, in: folder) {
                _ = try await eventually("the service has said what it can") { shop.daemon.health.supports }
                held = try await pay(shop, 9_000, #","amountStatus":"preauthorized""#)
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
            #expect(created.state == .created && created.result == nil && created.error == nil)
            #expect(created.account?.pendingCapture == 9_000 && created.account?.remaining == 0)
            #expect(try await Set(open(shop)) == [.unknownOperation, .uncaptured])
            try await eventually("the last minute has begun") {
                Timestamp.now.milliseconds > before.milliseconds - 60_000
            }

            try await serve(sandbox, in: folder) {
                let answer = try await shop.get("/v1/operations/\(created.id)?wait=60")
                let refused = try WireJSON.decode(PaymentOperation.self, from: answer.body)
                #expect(refused.state == .refused && refused.history.map(\.state) == [.created, .refused])
                let error = ErrorDetail(.captureExpired, transaction: sale.id)
                #expect(refused.error?.code == "capture.expired" && refused.error?.message == error.message)
                #expect(refused.error?.resolution == error.resolution && refused.error?.transaction == sale.id)
                #expect(refused.result == nil)
                #expect(refused.account?.remaining == 9_000 && refused.account?.pendingCapture == 0)
            }
            let booked = try #require(await sandbox.ledger.transactions.first)
            #expect(booked.held == 9_000 && booked.captured == 0 && booked.operations.isEmpty)
            let again = try await capture(wait: 0)
            #expect(try again.status == 409 && again.error().code == "capture.expired")

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
        try await withShop { shop in
            let sale = try await pay(shop, 1_000)
            func close(_ label: String) async throws -> DayEnd {
                let answer = try await shop.send(
                    HTTPClientRequest(
                        .post, "/v1/day-ends",
                        fields: ["Content-Type": "application/json", "Idempotency-Key": UUID().uuidString],
                        body: Array(#"{"label":"\#(label)"}"#.utf8)))
                #expect(answer.status == 201, "\(answer.text)")
                return try WireJSON.decode(DayEnd.self, from: answer.body)
            }
            let first = try await close("day-1")
            #expect(first.totals.net.map(\.value) == [1_000])
            let refund = try await shop.post(
                #"{"type":"refund","of":"\#(sale.id)","amount":{"value":1000,"currency":"EUR"}}"#, wait: 20)
            #expect(try refund.transaction().state == .approved)
            let second = try await close("day-2")
            #expect(second.totals.net.map(\.value) == [-1_000])
            let again = try WireJSON.decode(
                DayEnd.self, from: try await shop.get("/v1/day-ends/\(first.day.number)").body)
            #expect(again.totals == first.totals && again.day.label == "day-1")
        }
    }
}
