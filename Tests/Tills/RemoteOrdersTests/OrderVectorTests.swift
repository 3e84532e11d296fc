// SPDX-License-Identifier: Apache-2.0
import Envelope
import Foundation
import PaymentValues
import TestSupport
import Testing

@testable import RemoteOrders

/// Orders that another hand signed, each with what has to become of it.
@Suite("Orders of a backend, as they were recorded")
struct OrderVectorTests {
    struct Row: Decodable {
        struct Before: Decodable {
            var jti: String?
            var token: String?
            var tomb: Bool?
            var foreign: String?
            var iss: String?
            var state: TransactionState?
        }

        struct Result: Decodable {
            var outcome: String?
            var neverBegan: Bool?
            var state: TransactionState?
            var error: String?
            var retryable: Bool?
        }

        var kind: String
        var name: String?
        var now: Int64?
        var jti: String?
        var token: String?
        var clockHolds: Bool?
        var before: [Before]?
        var ack: Bool?
        var again: Bool?
        var err: String?
        var deadline: Int?
        var asks: String?
        var confirms: Bool?
        var busy: Bool?
        var result: Result?
    }

    struct Setup: Decodable {
        var installation: String
        var iss: String
        var keys: [[String: String]]
        var lanes: [String]
        var types: [String]
        var limits: [String: Int64]

        static func judge() throws -> OrderJudge {
            let line = try #require(try VectorFile.lines("remote/orders.jsonl").first)
            let setup = try JSONDecoder().decode(Setup.self, from: Data(line.utf8))
            let keys = try setup.keys.map { try VerificationKey(jwk: Array(try JSONEncoder().encode($0))) }
            var sender = OrderSender(
                name: setup.iss, till: "remote-shop", keys: keys, lanes: Set(setup.lanes), limits: setup.limits)
            sender.types = Set(setup.types)
            return OrderJudge(installation: setup.installation, senders: [sender])
        }
    }

    private func book(_ before: [Row.Before], _ now: Int64) throws -> OrderBook {
        var book = OrderBook(judge: try Setup.judge())
        let clock = OrderBook.Clock(wall: now, now: 0)
        for one in before {
            guard let token = one.token else {
                let key = OrderKey(sender: one.iss ?? "https://pos.example", id: one.foreign ?? one.jti ?? "")
                let order = Order(
                    key: one.foreign == nil ? OrderKey(sender: key.sender, id: "C-0") : key, keyID: "k", digest: "d",
                    issuedAt: now, expires: now + 60,
                    purpose: one.foreign == nil
                        ? .cancel(of: key.id)
                        : .start(
                            .init(
                                lane: "kiosk", request: "{}", type: "purchase", value: 1, currency: "EUR",
                                confirms: false)))
                if one.foreign == nil {
                    _ = try book.take(order, clock: clock, clockHolds: true)
                } else {
                    var entry = OrderEntry(order, takenAt: now)
                    entry.transaction = "t-x"
                    entry.state = one.state
                    book.read(.entry(entry))
                }
                continue
            }
            let order = try book.judge.read(token, named: try #require(one.jti))
            _ = try book.take(order, clock: clock, clockHolds: true)
            guard let state = one.state else { continue }
            let begin = book.step(order.key, clock).step
            _ = book.answered(order.key, .transaction(Snapshot(id: "t-1", state: state)), to: begin, now: 0)
        }
        return book
    }

    @Test("Each order gets its verdict, and what is refused begins nothing")
    func orders() throws {
        var seen = 0
        for row in try VectorFile.rows("remote/orders.jsonl", as: Row.self) where row.kind == "order" {
            seen += 1
            let (name, now) = (try #require(row.name), try #require(row.now))
            var book = try book(row.before ?? [], now)
            let earlier = book.entries
            let clock = OrderBook.Clock(wall: now, now: 0)
            var (taken, isNew): (Order?, Bool) = (nil, false)
            do throws(OrderRefusal) {
                let order = try book.judge.read(row.token ?? "", named: row.jti ?? "")
                taken = order
                let verdict = try book.take(order, clock: clock, clockHolds: row.clockHolds ?? true)
                #expect(row.ack == true && row.err == nil, "\(name)")
                #expect((verdict == .again) == (row.again == true), "\(name)")
                isNew = verdict != .again
                #expect(isNew || book.entries == earlier)
            } catch {
                #expect(error.rawValue == row.err, "\(name)")
                #expect(row.asks == "none" && book.entries == earlier, "\(name)")
            }
            if let taken, isNew { try carriesOut(row, taken, &book, clock) }
        }
        #expect(seen == 33)
    }

    private func carriesOut(_ row: Row, _ order: Order, _ book: inout OrderBook, _ clock: OrderBook.Clock) throws {
        let name = row.name ?? ""
        var step = book.step(order.key, clock).step
        switch row.asks {
        case "start":
            guard case .begin(let body) = step else {
                Issue.record("\(name): \(step)")
                return
            }
            let sent = try #require(try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any])
            #expect(sent["detached"] as? Bool == true && sent["lane"] as? String == "kiosk")
            if let deadline = row.deadline { #expect(sent["deadline"] as? Int == deadline, "\(name)") }
            if case .start(let start) = order.purpose { #expect(start.confirms == (row.confirms ?? false)) }
            if row.busy == true {
                _ = book.answered(order.key, .refused("reader.busy", isRetryable: true), to: step, now: 1)
            }
        case "cancel":
            guard case .withdraw(let id) = step else {
                Issue.record("\(name): \(step)")
                return
            }
            let other = try #require(row.before?.first?.state)
            #expect(id == row.before?.first?.jti)
            let outcome =
                other.isCancellable
                ? OrderEntry.Outcome(outcome: "cancelled") : .init(outcome: "nothingToCancel", state: other)
            _ = book.answered(order.key, .outcome(outcome), to: step, now: 1)
        default: break
        }
        guard let result = row.result else { return }
        step = book.step(order.key, clock).step
        guard case .say(let saying) = step else {
            Issue.record("\(name): \(step)")
            return
        }
        #expect(saying.seq == 1 && saying.outcome?.outcome == result.outcome, "\(name)")
        #expect(saying.outcome?.neverBegan == result.neverBegan && saying.outcome?.state == result.state, "\(name)")
        #expect(saying.outcome?.code == result.error && saying.outcome?.isRetryable == result.retryable, "\(name)")
    }

    @Test("A request says when it must not begin any more")
    func end() throws {
        let rows = try VectorFile.rows("remote/orders.jsonl", as: Row.self)
        let row = try #require(rows.first { $0.name == "valid" })
        var book = try book([], try #require(row.now))
        let order = try book.judge.read(try #require(row.token), named: try #require(row.jti))
        let clock = OrderBook.Clock(wall: try #require(row.now), now: 0)
        _ = try book.take(order, clock: clock, clockHolds: true)
        guard case .begin(let body) = book.step(order.key, clock).step else {
            Issue.record("nothing begins")
            return
        }
        let sent = try #require(try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any])
        #expect(sent["notAfter"] as? String == "2026-12-01T10:01:00.000Z")
        #expect(sent["order"] as? String == "A-17.1")
    }

    @Test("B1: an order that is here already is acknowledged after its end too: a refusal would say that nothing began")
    func lateAgain() throws {
        let rows = try VectorFile.rows("remote/orders.jsonl", as: Row.self)
        let row = try #require(rows.first { $0.again == true })
        let (token, now, jti) = (try #require(row.token), try #require(row.now), try #require(row.jti))
        var book = try book(row.before ?? [], now)
        let order = try book.judge.read(token, named: jti)
        for (wall, holds) in [(now + 500, true), (now - 500, true), (now, false)] {
            let verdict = try book.take(order, clock: .init(wall: wall, now: 0), clockHolds: holds)
            #expect(verdict == .again)
        }
        var other = order
        other.digest = "other"
        #expect(throws: OrderRefusal.idUsed) {
            try book.take(other, clock: .init(wall: now + 500, now: 0), clockHolds: true)
        }
    }

    @Test("B10: what an order must not have is named to its sender")
    func strangers() throws {
        func token(_ claims: String) -> String {
            "e30.\(String(decoding: Base64URL.encode(claims.utf8), as: UTF8.self)).AAAA"
        }
        #expect(OrderJudge.strangers(in: token(#"{"do":"start","iss":"i","colour":1,"of":"A"}"#)) == ["colour", "of"])
        let nested = token(#"{"do":"start","lane":"kiosk","request":{"type":"purchase","deadline":5,"lanes":["a"]}}"#)
        #expect(OrderJudge.strangers(in: nested) == ["request.deadline", "request.lanes"])
        #expect(
            OrderRefusal.unknownMember.words(about: OrderJudge.strangers(in: nested)).hasPrefix(
                "request.deadline, request.lanes: "))
        #expect(OrderJudge.strangers(in: token(#"{"do":"cancel","of":"A","lane":"kiosk"}"#)) == ["lane"])
        let odd = token("{\"do\":\"report\",\"of\":\"A\",\"\(String(repeating: "ü ", count: 90))\":1}")
        #expect(OrderJudge.strangers(in: odd).allSatisfy { $0.utf8.count == 64 && !$0.contains("ü") })
        for text in ["", "a.b", "..", "e30.e30.e30", "e30.W10.AAAA"] { #expect(OrderJudge.strangers(in: text) == []) }
        #expect(OrderRefusal.unknownMember.words(about: []) == OrderRefusal.unknownMember.words)
        #expect(OrderRefusal.lane.words(about: ["x"]) == OrderRefusal.lane.words)
    }

    @Test("An order under another name than its own, one that is long and one that is cut are refused by name")
    func forms() throws {
        let judge = try Setup.judge()
        let rows = try VectorFile.rows("remote/orders.jsonl", as: Row.self)
        let row = try #require(rows.first { $0.name == "valid" })
        let token = try #require(row.token)
        #expect(throws: OrderRefusal.malformed) { try judge.read(token, named: "A-17.9") }
        #expect(throws: OrderRefusal.tooLarge) {
            try judge.read(token + String(repeating: "A", count: 8_192), named: "A-17.1")
        }
        for text in ["", ".", "..", "a.b", "\(token).x", String(token.dropFirst(400)), "=.=.="] {
            #expect(throws: OrderRefusal.malformed) { try judge.read(text, named: "A-17.1") }
        }
        // One byte of it is another one: nothing of it holds any more.
        for index in stride(from: 0, to: token.utf8.count, by: 7) {
            var bytes = Array(token.utf8)
            bytes[index] = bytes[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            guard bytes != Array(token.utf8), index < token.utf8.count - 2 else { continue }
            #expect(throws: OrderRefusal.self, "byte \(index)") {
                try judge.read(String(decoding: bytes, as: UTF8.self), named: "A-17.1")
            }
        }
    }

    @Test("An sender's day ends at its limit, and what came to nothing does not count")
    func day() throws {
        let setup = try Setup.judge()
        var sender = try #require(setup.senders["https://pos.example"])
        sender.dayLimits = ["EUR": 100]
        var book = OrderBook(judge: OrderJudge(installation: setup.installation, senders: [sender]))
        func order(_ id: String, _ value: Int64, at now: Int64) -> Order {
            Order(
                key: OrderKey(sender: sender.name, id: id), keyID: "k", digest: id, issuedAt: now, expires: now + 60,
                purpose: .start(
                    .init(
                        lane: "kiosk", request: "{\"type\":\"purchase\"}", type: "purchase", value: value,
                        currency: "EUR", confirms: false)))
        }
        func take(_ id: String, _ value: Int64, at now: Int64) throws(OrderRefusal) {
            _ = try book.take(order(id, value, at: now), clock: .init(wall: now, now: 0), clockHolds: true)
        }
        try take("a", 60, at: 1_000)
        #expect(throws: OrderRefusal.dayLimit) { try take("b", 41, at: 1_001) }
        let step = book.step(OrderKey(sender: sender.name, id: "a"), .init(wall: 1_001, now: 0)).step
        _ = book.answered(
            OrderKey(sender: sender.name, id: "a"), .transaction(Snapshot(id: "t", state: .declined)), to: step, now: 0)
        try take("b", 41, at: 1_001)
        #expect(throws: OrderRefusal.dayLimit) { try take("c", 60, at: 80_000) }
        try take("c", 60, at: 1_001 + 86_400)
        #expect(throws: OrderRefusal.amount) { try take("d", 0, at: 1_001 + 86_400) }
    }
}
