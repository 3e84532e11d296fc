// SPDX-License-Identifier: Apache-2.0
import Foundation
import Journal
import LocalHTTP
import POSAPI
import PaymentValues
import ReaderVirtual
import Synchronization
import TestSupport
import Testing

@testable import TapDaemon

@Suite("Captures, adjustments, releases and linked refunds", .timeLimit(.minutes(10)))
struct OperationTests {
    private func operate(
        _ shop: Shop, _ id: TransactionID, _ call: String, _ body: String, key: String = UUID().uuidString,
        wait: Int = 20
    ) async throws -> Answer {
        try await shop.send(
            HTTPClientRequest(
                .post, "/v1/transactions/\(id)/\(call)",
                fields: ["Content-Type": "application/json", "Idempotency-Key": key, "Prefer": "wait=\(wait)"],
                body: Array(body.utf8)))
    }

    private func euros(_ value: Int64, _ name: String = "amount") -> String {
        #""\#(name)":{"value":\#(value),"currency":"EUR"}"#
    }

    private func refund(_ shop: Shop, _ id: TransactionID, _ value: Int64?, wait: Int = 20) async throws -> Answer {
        let amount = value.map { "," + euros($0) } ?? ""
        return try await shop.post(#"{"type":"refund","of":"\#(id)"\#(amount)}"#, wait: wait)
    }

    private func account(_ shop: Shop, _ id: TransactionID) async throws -> PaymentAccount {
        try #require(try await shop.get("/v1/transactions/\(id)").transaction().account)
    }

    private func rows(_ shop: Shop, _ id: TransactionID) throws -> String {
        try shop.journal(
            "SELECT group_concat(entry || ' ' || hold || '/' || money, '; ') FROM (SELECT * FROM ledger WHERE payment = '\(id)' ORDER BY sequence)"
        ).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private func state(_ answer: Answer) throws -> OperationState {
        try WireJSON.decode(PaymentOperation.self, from: answer.body).state
    }

    @Test func `Example 1: a final capture takes its part and releases the rest`() async throws {
        try await withOperations { shop, service in
            let sale = try await shop.approved(20_000, held: true)
            let answer = try await operate(
                shop, sale.id, "captures", "{\(euros(13_400)),\(euros(1_400, "tip")),\"final\":true}", key: "T-7/1")
            #expect(answer.status == 201)
            let capture = try WireJSON.decode(PaymentOperation.self, from: answer.body)
            #expect(capture.state == .done && capture.history.map(\.state) == [.created, .sent, .done])
            #expect(capture.result?.pspReference == "S-1" && capture.tip?.value == 1_400)
            let account = try await account(shop, sale.id)
            #expect(account.captured == 13_400 && account.released == 6_600 && account.refundable == 13_400)
            #expect(try rows(shop, sale.id) == "authorised 20000/0; captured -13400/13400; released -6600/0")
            let again = try await operate(
                shop, sale.id, "captures", "{\(euros(13_400)),\(euros(1_400, "tip")),\"final\":true}", key: "T-7/1")
            #expect(again.status == 201 && again.fields.only("Idempotency-Replayed") == "true")
            #expect(service.carriedOut == 1)
            let other = try await operate(shop, sale.id, "captures", "{\(euros(1))}", key: "T-7/1")
            #expect(other.status == 422)
            #expect(try other.error().code == "idempotency.key_reused")
        }
    }

    @Test func `Examples 2 and 3: several captures, adjustments of which one is declined, and a release`() async throws
    {
        try await withOperations { shop, service in
            let sale = try await shop.approved(10_000, held: true)
            for value: Int64 in [4_000, 3_000] {
                let answer = try await operate(shop, sale.id, "captures", "{\(euros(value)),\"final\":false}")
                #expect(try state(answer) == .done)
            }
            #expect(try state(try await operate(shop, sale.id, "releases", "{}")) == .done)
            #expect(
                try rows(shop, sale.id)
                    == "authorised 10000/0; captured -4000/4000; captured -3000/3000; released -3000/0")

            let hotel = try await shop.approved(5_000, held: true)
            #expect(try state(try await operate(shop, hotel.id, "adjustments", "{\(euros(8_000, "total"))}")) == .done)
            service.fail(.decline)
            let declined = try await operate(shop, hotel.id, "adjustments", "{\(euros(12_000, "total"))}")
            #expect(try state(declined) == .refused)
            #expect(try state(try await operate(shop, hotel.id, "captures", "{}")) == .done)
            #expect(try rows(shop, hotel.id) == "authorised 5000/0; adjusted 3000/0; captured -8000/8000")
            #expect(service.account(hotel.id.text)?.captured == 8_000)
        }
    }

    @Test func `Example 4: a tip goes beyond the hold as far as the service allows`() async throws {
        try await withOperations { shop, _ in
            let sale = try await shop.approved(4_000, held: true)
            let above = try await operate(shop, sale.id, "captures", "{\(euros(9_001))}")
            #expect(above.status == 422)
            #expect(try above.error().limit?.value == 9_000)
            let answer = try await operate(shop, sale.id, "captures", "{\(euros(4_600)),\(euros(600, "tip"))}")
            #expect(try state(answer) == .done)
            #expect(try rows(shop, sale.id) == "authorised 4000/0; captured -4000/4600")
        }
    }

    @Test(
        "A1: a linked refund that is lost, never seen and lost again ends once the service is well, without a restart")
    func refundLostTwice() async throws {
        try await withOperations { shop, service in
            let sale = try await shop.approved(1_250, held: false)
            // 503, 404 to the question, 503, 404, and then carried out.
            service.fail(.lostBefore, .lostBefore)
            let open = try await refund(shop, sale.id, 1_000, wait: 0).transaction()
            _ = try await shop.reach([.unknown], open.id)
            let end = try await shop.reach([.approved], open.id)
            #expect(end.history.map(\.state) == [.created, .sent, .unknown, .approved])
            #expect(service.account(sale.id.text)?.refunded == 1_000 && service.carriedOut == 1)
        }
    }

    @Test func `Examples 5 to 7: refunds never exceed what was captured, those without an answer included`()
        async throws
    {
        try await withOperations { shop, service in
            let sale = try await shop.approved(1_250, held: false)
            for value: Int64 in [500, 750] {
                let answer = try await refund(shop, sale.id, value)
                #expect(answer.status == 201)
                #expect(try answer.transaction().state == .approved)
            }
            let third = try await refund(shop, sale.id, 1)
            #expect(third.status == 422)
            #expect(try third.error().code == "refund.too_much" && third.error().limit?.value == 0)
            #expect(try await account(shop, sale.id).state == .refunded)
            #expect(service.account(sale.id.text)?.refunded == 1_250)

            let other = try await shop.approved(1_250, held: false)
            service.fail(.lostBefore, .decline)
            let open = try await refund(shop, other.id, 1_000, wait: 0).transaction()
            let second = try await refund(shop, other.id, 300)
            #expect(second.status == 422)
            #expect(try second.error().limit?.value == 250)
            let end = try await shop.reach([.declined], open.id)
            #expect(end.of == other.id)
            #expect(try await account(shop, other.id).refundable == 1_250)
            let whole = try await shop.post(
                to: "/v1/transactions/\(open.id)/reversal", #"{"reason":"customerCancel"}"#)
            #expect(try whole.error().code == "refund.final")
        }
    }

    @Test func `Example 9: a capture whose answer is lost is asked about, and nothing else goes meanwhile`()
        async throws
    {
        try await withOperations { shop, service in
            let sale = try await shop.approved(3_000, held: true)
            service.fail(.lostAfter)
            let capture = try await operate(shop, sale.id, "captures", "{\(euros(1_000))}", wait: 0)
            #expect(capture.status == 202)
            let release = try await operate(shop, sale.id, "releases", "{}")
            let id = try WireJSON.decode(PaymentOperation.self, from: capture.body).id
            #expect(release.status == 409)
            #expect(try release.error().code == "operation.pending" && release.error().operation == id)
            let end = try await shop.get("/v1/operations/\(id)?wait=20")
            #expect(try state(end) == .done)
            #expect(try rows(shop, sale.id) == "authorised 3000/0; captured -1000/1000; released -2000/0")
            #expect(service.carriedOut == 1)
        }
    }

    @Test(arguments: [OperationService.Fault.lostBefore, .lostAfter, .pending])
    func `Whatever is lost, a capture is carried out once and booked once`(_ fault: OperationService.Fault) async throws
    {
        try await withOperations { shop, service in
            let sale = try await shop.approved(3_000, held: true)
            service.fail(fault)
            let answer = try await operate(shop, sale.id, "captures", "{}", wait: 60)
            #expect(try state(answer) == .done)
            #expect(service.carriedOut == 1 && service.account(sale.id.text)?.captured == 3_000)
            #expect(try rows(shop, sale.id) == "authorised 3000/0; captured -3000/3000")
        }
    }

    @Test func `A service that has never seen what it was sent, also when asked, has refused it`() async throws {
        try await withOperations { shop, service in
            let sale = try await shop.approved(3_000, held: true)
            service.fail(.unseen)
            let answer = try await operate(shop, sale.id, "captures", "{}")
            #expect(try state(answer) == .refused)
            #expect(try WireJSON.decode(PaymentOperation.self, from: answer.body).error?.code == "psp.refused")
            #expect(try await account(shop, sale.id).remaining == 3_000)
        }
    }

    @Test func `Figures of the service that differ are booked as answered, and a person looks at them`() async throws {
        try await withOperations { shop, service in
            let sale = try await shop.approved(3_000, held: true)
            service.fail(.otherFigures)
            #expect(try state(try await operate(shop, sale.id, "captures", "{}")) == .done)
            let attention = try shop.journal("SELECT attention FROM operation")
            #expect(attention.contains("figuresDiffer"))
        }
    }

    @Test func `After a part was given back or captured there is no whole to take back`() async throws {
        try await withOperations { shop, _ in
            let sale = try await shop.approved(1_000, held: false)
            #expect(try await refund(shop, sale.id, 400).status == 201)
            let reversal = try await shop.post(
                to: "/v1/transactions/\(sale.id)/reversal", #"{"reason":"customerCancel"}"#)
            #expect(try reversal.error().code == "reversal.refunded")
            let held = try await shop.approved(1_000, held: true)
            _ = try await operate(shop, held.id, "captures", "{\(euros(400)),\"final\":false}")
            let part = try await shop.post(
                to: "/v1/transactions/\(held.id)/reversal", #"{"reason":"customerCancel"}"#)
            #expect(try part.error().code == "reversal.captured_in_part")
        }
    }

    @Test func `Sixty-four captures and refunds at once: the sums hold`() async throws {
        try await withOperations { shop, service in
            let held = try await shop.approved(1_000, held: true)
            let sale = try await shop.approved(1_000, held: false)
            try await withThrowingTaskGroup(of: Int.self) { group in
                for index in 0..<64 {
                    group.addTask {
                        let answer =
                            index % 2 == 0
                            ? try await operate(shop, held.id, "captures", "{\(euros(300)),\"final\":false}", wait: 60)
                            : try await refund(shop, sale.id, 300, wait: 60)
                        return answer.status
                    }
                }
                for try await status in group { #expect([201, 409, 422].contains(status)) }
            }
            let service = (held: service.account(held.id.text), sale: service.account(sale.id.text))
            #expect(service.sale?.refunded == 900 && (service.held?.captured ?? 0) <= 1_000)
            #expect(try await account(shop, sale.id).refunded == 900)
            #expect(try await Int(account(shop, held.id).captured) == service.held?.captured)
        }
    }

    @Test func `An administrator ends what gets no usable answer, once`() async throws {
        try await withOperations { shop, service in
            let sale = try await shop.approved(1_000, held: true)
            service.fail(.lostBefore, .unavailable, .unavailable)
            let capture = try await operate(shop, sale.id, "captures", "{}", wait: 0)
            let id = try WireJSON.decode(PaymentOperation.self, from: capture.body).id
            _ = try await eventually("the answer is lost") {
                try state(try await shop.get("/v1/operations/\(id)")) == .unknown ? true : nil
            }
            let body = #"{"outcome":"refused","evidence":"told by phone"}"#
            let resolved = try await shop.post(to: "/v1/operations/\(id)/resolution", body)
            #expect(resolved.status == 200)
            #expect(try state(resolved) == .refused)
            let again = try await shop.post(to: "/v1/operations/\(id)/resolution", body)
            #expect(try again.error().code == "resolution.not_open")
            #expect(try rows(shop, sale.id) == "authorised 1000/0")
        }
    }

    @Test func `What other figures of the service have opened is closed by a person, and the books stay`()
        async throws
    {
        try await withOperations { shop, service in
            let sale = try await shop.approved(1_000, held: true)
            service.fail(.otherFigures)
            let capture = try await operate(shop, sale.id, "captures", "{}")
            let id = try WireJSON.decode(PaymentOperation.self, from: capture.body).id
            let opened = try WireJSON.decode(Totals.self, from: try await shop.get("/v1/totals").body)
            #expect(opened.open.map(\.kind) == [.figuresDiffer])
            let wrong = #"{"outcome":"refused","evidence":"told by phone"}"#
            #expect(try await shop.post(to: "/v1/operations/\(id)/resolution", wrong).status == 409)
            let body = #"{"outcome":"done","evidence":"the service has put it right"}"#
            #expect(try await shop.post(to: "/v1/operations/\(id)/resolution", body).status == 200)
            let closed = try WireJSON.decode(Totals.self, from: try await shop.get("/v1/totals").body)
            #expect(closed.openCount == 0)
            #expect(try await shop.post(to: "/v1/operations/\(id)/resolution", body).status == 409)
            #expect(try rows(shop, sale.id) == "authorised 1000/0; captured -1000/1000")
        }
    }

    @Test(
        "A10: a refund is settled once it is an open item, not while the service is still asked about it, and it is booked once"
    )
    func settledRefund() async throws {
        try await withOperations { shop, service in
            let sale = try await shop.approved(1_000, held: false)
            service.fail(.lostBefore, .unavailable, .unavailable)
            let id = try await refund(shop, sale.id, 400, wait: 0).transaction().id
            _ = try await eventually("the answer is lost") {
                try await shop.get("/v1/transactions/\(id)").transaction().state == .unknown ? true : nil
            }
            // Only a part of it was given back.
            let body = #"{"as":"charged","amount":{"value":150,"currency":"EUR"},"note":"told by phone"}"#
            let early = try await shop.post(to: "/v1/open-items/\(id)/settlement", body)
            #expect(try early.status == 409 && early.error().code == "open_item.not_open")
            try await shop.runner.journal.use { (journal) throws(JournalError) in
                try journal.keepOpen(.unanswered, for: id)
            }
            let settled = try await shop.post(to: "/v1/open-items/\(id)/settlement", body).transaction()
            #expect(settled.state == .approved && settled.settlement?.note == "told by phone")
            #expect(settled.result?.amountApproved?.value == 150)
            let again = try await shop.post(to: "/v1/open-items/\(id)/settlement", body)
            #expect(try again.error().code == "open_item.already_settled")
            let after = try await account(shop, sale.id)
            #expect(after.refunded == 150 && after.pendingRefund == 0 && after.refundable == 850)
        }
    }

    @Test func `A hold is told of a day and two hours before its end, each once, and booked as expired a day after it`()
        async throws
    {
        try await withOperations { shop, _ in
            let sale = try await shop.approved(3_300, held: true)
            let told = Mutex<[String]>([])
            let watch = ExpiryWatch(
                journal: await shop.daemon.runner.journal, clock: shop.daemon.clock, logger: shop.daemon.logger
            ) { event in
                told.withLock { $0.append("\(event.name.rawValue) \(event.amount?.value ?? 0)") }
            }
            let moments = [
                "2098-12-30T23:00", "2098-12-31T01:00", "2098-12-31T02:00", "2098-12-31T22:30", "2098-12-31T23:30",
                "2099-01-01T01:00", "2099-01-02T01:00", "2099-01-02T02:00",
            ]
            for moment in moments { await watch.look(at: try #require(Timestamp("\(moment):00.000Z"))) }
            #expect(
                told.withLock { $0 } == ["payment.expiring 3300", "payment.expiring 3300", "payment.expired 3300"])
            let after = try await account(shop, sale.id)
            #expect(after.state == .expired && after.remaining == 0 && after.released == 3_300)
            let totals = try WireJSON.decode(Totals.self, from: try await shop.get("/v1/totals").body)
            #expect(totals.openCount == 0)
        }
    }

    @Test func `What a restart finds is asked about, and booked once`() async throws {
        let folder = try TestFolder()
        let service = OperationService()
        try await withAdapter(in: folder, health: OperationService.health) {
            service.answer($0)
        } _: { _ in
            var (sale, id): (TransactionID?, OperationID?) = (nil, nil)
            try await Shop.open(in: folder) { shop in
                _ = try await eventually("the service has said what it can") { shop.daemon.health.supports }
                let transaction = try await shop.approved(1_000, held: true)
                service.fail(.lostAfter)
                let capture = try await operate(shop, transaction.id, "captures", "{}", wait: 0)
                sale = transaction.id
                id = try WireJSON.decode(PaymentOperation.self, from: capture.body).id
                _ = try await eventually("the answer is lost") {
                    try state(try await shop.get("/v1/operations/\(try #require(id))")) == .unknown ? true : nil
                }
            }
            try await Shop.open(in: folder) { shop in
                let end = try await shop.get("/v1/operations/\(try #require(id))?wait=60")
                #expect(try state(end) == .done)
                #expect(try rows(shop, try #require(sale)) == "authorised 1000/0; captured -1000/1000")
            }
            #expect(service.carriedOut == 1)
        }
    }
}
