// SPDX-License-Identifier: Apache-2.0
import Configuration
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

/// A payment service that says of a day what a test wants it to say, with sales that are all approved.
final class FiguresService: Sendable {
    struct State: Sendable {
        /// Answers to the POST and to each GET, in their order; the last one goes on.
        var answers: [HTTPResponse] = []
        var items: [HTTPResponse] = []
        var told: [String] = []
        var asked = 0
        var pages: [String] = []
    }

    let state = Mutex(State())

    static let health = #"{"status":"ok","protocolVersions":["v1"],"supports":["sale","reconcile"]}"#

    func say(_ answers: HTTPResponse..., items: [HTTPResponse] = []) {
        state.withLock { ($0.answers, $0.items) = (answers, items) }
    }

    var told: [String] { state.withLock { $0.told } }
    var asked: Int { state.withLock { $0.asked } }

    func answer(_ seen: ScriptedAdapter.Seen) -> HTTPResponse {
        state.withLock { state in
            switch (seen.method, seen.path.dropFirst().first ?? "", seen.path.last ?? "") {
            case (.post, "authorizations", "authorizations"):
                return .text(200, #"{"outcome":"approved","responseCode":"00","approvalCode":"123456"}"#)
            case (.post, "reconciliations", _):
                state.told.append(seen.text)
                return Self.next(&state.answers)
            case (.get, "reconciliations", "items"):
                return Self.next(&state.items)
            case (.get, "reconciliations", _):
                state.asked += 1
                return Self.next(&state.answers)
            default: return .text(404, "{}")
            }
        }
    }

    private static func next(_ answers: inout [HTTPResponse]) -> HTTPResponse {
        guard let first = answers.first else { return .text(503, "{}") }
        if answers.count > 1 { answers.removeFirst() }
        return first
    }
}

@Suite("A closed day and the payment service's figures", .timeLimit(.minutes(10)))
struct ReconciliationTests {
    private var quick: Shop.Wish {
        var wish = Shop.Wish()
        wish.times.figures = RetrySchedule(.zero)
        return wish
    }

    private func close(_ shop: Shop, _ key: String = "d-1", wait: Int = 20) async throws -> EndOfDay {
        let fields: HTTPFields = [
            "Content-Type": "application/json", "Idempotency-Key": key, "Prefer": "wait=\(wait)",
        ]
        let answer = try await shop.send(
            HTTPClientRequest(.post, "/v1/days", fields: fields, body: Array(#"{"label":"day"}"#.utf8)))
        return try WireJSON.decode(EndOfDay.self, from: answer.body)
    }

    private func day(_ shop: Shop, _ number: Int64) async throws -> EndOfDay {
        try WireJSON.decode(EndOfDay.self, from: try await shop.get("/v1/days/\(number)").body)
    }

    private func settled(_ shop: Shop, _ number: Int64) async throws -> EndOfDay {
        try await eventually("the day has an end") {
            let end = try await day(shop, number)
            return end.service?.next == nil ? end : nil
        }
    }

    private func sale(_ shop: Shop, _ value: Int64) async throws -> Transaction {
        try shop.reader.obey("present visa")
        let sale = try await shop.post(purchase(value), wait: 20).transaction()
        try shop.reader.obey("remove")
        try #require(sale.state == .approved)
        return sale
    }

    private func withSupport(_ shop: Shop) async throws {
        _ = try await eventually("the service has said what it can") { shop.daemon.health.supports }
    }

    /// A shop whose service says what the test wants, with one sale over 12.00.
    private func shop(
        _ wish: Shop.Wish? = nil, _ body: (Shop, FiguresService, Transaction) async throws -> Void
    ) async throws {
        let (folder, service) = (try TestFolder(), FiguresService())
        try await withAdapter(in: folder, health: FiguresService.health) {
            service.answer($0)
        } _: { _ in
            try await Shop.open(in: folder, wish ?? quick) { shop in
                try await withSupport(shop)
                try await body(shop, service, try await sale(shop, 1_200))
            }
        }
    }

    private func figures(
        _ day: String, _ status: String = "balanced", count: Int = 1, value: Int64 = 1_200, more: String = ""
    ) -> HTTPResponse {
        .text(
            200,
            #"{"id":"\#(day)","status":"\#(status)","reference":"RC-88","lines":[{"mode":"test","currency":"EUR","#
                + #""scheme":"Visa","kind":"captured","count":\#(count),"value":\#(value)}\#(more)]}"#)
    }

    /// The id of the day that is open.
    private func openDay(_ shop: Shop) async throws -> String {
        try #require(try WireJSON.decode(Totals.self, from: try await shop.get("/v1/totals").body).day?.id)
    }

    @Test func `The sandbox's own books of a day with a sale and a reversal are the journal's`() async throws {
        try await Shop.withSandbox { shop, _ in
            try await withSupport(shop)
            _ = try await sale(shop, 1_200)
            let second = try await sale(shop, 900)
            let refund = try await shop.post(
                #"{"type":"refund","of":"\#(second.id)","amount":{"value":300,"currency":"EUR"}}"#, wait: 20)
            #expect(try refund.transaction().state == .approved)
            let third = try await sale(shop, 700)
            _ = try await shop.post(
                to: "/v1/transactions/\(third.id)/reversal", #"{"reason":"customerCancel"}"#)
            _ = try await shop.reach([.reversed], third.id)
            let end = try await close(shop)
            #expect(end.day.state == .balanced && end.differences == [])
            #expect(end.service?.attempts == 1 && end.service?.next == nil && end.service?.lines?.count == 3)
            let text = String(
                decoding: try await shop.get("/v1/days/\(end.day.number)/report").body, as: UTF8.self)
            #expect(text.contains("BALANCED") && text.contains(end.service?.reference ?? "-"))
            // A day without anything is one, too.
            #expect(try await close(shop, "d-2").day.state == .balanced)
        }
    }

    @Test func `A sale that the service does not have is named, printed and open until it is settled`() async throws {
        try await Shop.withSandbox { shop, _ in
            try await withSupport(shop)
            _ = try await sale(shop, 1_200)
            let lost = try await sale(shop, 2_031)
            let end = try await close(shop)
            #expect(end.day.state == .differs && end.service?.contradiction == nil)
            let difference = try #require(end.differences?.first)
            #expect(end.differences?.count == 1 && difference.kind == .captured)
            #expect(difference.ours == Figure(count: 2, value: 3_231))
            #expect(difference.theirs == Figure(count: 1, value: 1_200))
            #expect(difference.items == [DifferenceItem(id: lost.id.text, transaction: lost.id, ours: 2_031)])
            let totals = try WireJSON.decode(Totals.self, from: try await shop.get("/v1/totals").body)
            #expect(totals.days?.map(\.number) == [end.day.number])
            let report = "/v1/days/\(end.day.number)/report?width=32&language=de"
            let text = String(decoding: try await shop.get(report).body, as: UTF8.self)
            #expect(text.contains("WEICHT AB") && text.contains("20.31") || text.contains("20,31"))
            #expect(text.split(separator: "\n").allSatisfy { $0.count <= 32 })
            let path = "/v1/days/\(end.day.number)/resolution"
            #expect(try await shop.post(to: path, #"{"note":""}"#).status == 400)
            #expect(try await shop.post(to: path, #"{"note":"the bank has found it"}"#).status == 200)
            #expect(try await shop.post(to: path, #"{"note":"again"}"#).status == 409)
            let now = try await day(shop, end.day.number)
            #expect(now.day.state == .balanced && now.resolution?.note == "the bank has found it")
            #expect(now.differences == end.differences)
        }
    }

    @Test func `A service that says balanced and gives other figures contradicts itself`() async throws {
        try await shop { shop, service, sale in
            let id = try await openDay(shop)
            service.say(
                figures(id, value: 1_300),
                items: [.text(200, #"{"items":[{"id":"\#(sale.id)","value":1300}]}"#)])
            let end = try await close(shop)
            #expect(end.day.state == .differs && end.service?.contradiction == true)
            #expect(
                end.differences?.first?.items == [
                    DifferenceItem(id: sale.id.text, transaction: sale.id, ours: 1_200, theirs: 1_300)
                ])
        }
    }

    @Test func `A service that says differs and gives the same figures leaves the day open`() async throws {
        try await shop { shop, service, _ in
            service.say(figures(try await openDay(shop), "differs"))
            let end = try await close(shop)
            #expect(end.day.state == .differs && end.service?.contradiction == true && end.differences == [])
        }
    }

    @Test func `Lines of a currency that was never used are a difference, and so are items of nobody`() async throws {
        try await shop { shop, service, _ in
            let more =
                #",{"mode":"test","currency":"JPY","kind":"refunded","count":1,"value":-5}"#
            service.say(
                figures(try await openDay(shop), "differs", more: more),
                items: [.text(200, #"{"items":[{"id":"4761739001010010","value":-5}]}"#)])
            let end = try await close(shop)
            let difference = try #require(end.differences?.first)
            #expect(end.day.state == .differs && end.differences?.count == 1 && difference.currency.code == "JPY")
            // What could be a card's number is not kept.
            #expect(difference.items == [DifferenceItem(id: "-", theirs: -5, explanation: .notHere)])
            #expect(try !shop.journal("SELECT figures FROM business_day WHERE state = 'differs'").contains("4761739"))
        }
    }

    @Test func `Pages are fetched one after the other, and items that do not add up are a contradiction`() async throws
    {
        try await shop { shop, service, sale in
            service.say(
                figures(try await openDay(shop), "differs", count: 3, value: 1_400),
                items: [
                    .text(200, #"{"items":[{"id":"\#(sale.id)","value":1200},{"id":"A-1","value":100}],"next":"A-1"}"#),
                    .text(200, #"{"items":[{"id":"A-2","value":99}]}"#),
                ])
            let end = try await close(shop)
            #expect(end.service?.contradiction == true)
            #expect(end.differences?.first?.items?.map(\.id) == ["A-1", "A-2"])
            #expect(end.differences?.first?.items?.map(\.explanation) == [.notHere, .notHere])
        }
    }

    @Test(
        "What is no answer to the question is asked again, and the day stays closed until there is one",
        arguments: [
            HTTPResponse.text(503, "{}"), .text(500, "{}"), .text(202, "{}"), .text(200, "{}"), .text(200, "[1"),
            .text(200, #"{"id":"another","status":"balanced","lines":[]}"#),
            .text(200, #"{"id":"DAY","status":"balanced"}"#), .text(200, #"{"id":"DAY","status":"later","lines":[]}"#),
            .text(
                200,
                #"{"id":"DAY","status":"differs","lines":[{"mode":"test","currency":"EUR","kind":"captured","count":-1,"value":5}]}"#
            ),
            .text(
                200,
                #"{"id":"DAY","status":"differs","lines":[{"mode":"test","currency":"EUR","kind":"captured","count":1,"value":9223372036854775807},{"mode":"test","currency":"EUR","kind":"captured","count":1,"value":1}]}"#
            ), .text(409, "{}"), .text(404, "{}"),
        ])
    func unusable(_ answer: HTTPResponse) async throws {
        try await shop { shop, service, _ in
            let id = try await openDay(shop)
            service.say(answer.about(id), answer.about(id), figures(id))
            let end = try await close(shop)
            let after = try await settled(shop, end.day.number)
            #expect(after.day.state == .balanced && (after.service?.attempts ?? 0) >= 2)
            // Told again only where the service says that it was never told.
            let isUnseen = answer.status == 404
            #expect(service.told.count == (isUnseen ? 2 : 1) && Set(service.told).count == 1)
            #expect(service.asked >= 1)
        }
    }

    @Test func `A day of which there are no figures in time is unconfirmed`() async throws {
        var wish = quick
        wish.times.figuresLife = .seconds(-1)
        try await shop(wish) { shop, service, _ in
            let end = try await close(shop)
            #expect(end.day.state == .unconfirmed && end.service?.next == nil && service.told.isEmpty)
        }
    }

    @Test func `A service that has another day under the id is not told twice`() async throws {
        try await shop { shop, service, _ in
            service.say(.text(422, "{}"))
            let end = try await close(shop)
            #expect(end.day.state == .unconfirmed && service.told.count == 1)
        }
    }

    @Test func `Over a restart the day is asked about, and told again only in the same words`() async throws {
        let (folder, service) = (try TestFolder(), FiguresService())
        try await withAdapter(in: folder, health: FiguresService.health) {
            service.answer($0)
        } _: { _ in
            var number: Int64 = 0
            var id = ""
            try await Shop.open(in: folder, quick) { shop in
                try await withSupport(shop)
                _ = try await sale(shop, 1_200)
                id = try await openDay(shop)
                service.say(.text(502, "{}"))
                let end = try await close(shop, wait: 0)
                number = end.day.number
                #expect(end.day.state == .closed && end.service?.next != nil)
                _ = try await eventually("it was told") { service.told.isEmpty ? nil : true }
            }
            service.say(.text(404, "{}"), figures(id))
            try await Shop.open(in: folder, quick) { shop in
                let end = try await settled(shop, number)
                #expect(end.day.state == .balanced)
                #expect(service.told.count == 2 && Set(service.told).count == 1)
            }
        }
    }

    @Test func `A service that gives no figures is never asked, and its days stay closed`() async throws {
        let (folder, service) = (try TestFolder(), FiguresService())
        let health = #"{"status":"ok","protocolVersions":["v1"],"supports":["sale"]}"#
        try await withAdapter(in: folder, health: health) {
            service.answer($0)
        } _: { _ in
            try await Shop.open(in: folder, quick) { shop in
                try await withSupport(shop)
                let end = try await close(shop)
                #expect(end.day.state == .closed && end.service == nil && service.told.isEmpty)
            }
        }
    }
}

extension HTTPResponse {
    /// With the day's id in it.
    fileprivate func about(_ day: String) -> HTTPResponse {
        guard case .bytes(let bytes) = body else { return self }
        return .text(status, String(decoding: bytes, as: UTF8.self).replacing("DAY", with: day))
    }
}
