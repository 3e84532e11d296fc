// SPDX-License-Identifier: Apache-2.0
import POSAPI
import PaymentValues
import Testing

@testable import Gateway
@testable import LocalHTTP

@Suite("What a till sees of the daemon's events")
struct EventSightTests {
    private func till(_ roles: TillRole..., lanes: [String] = ["main"]) -> Till {
        Till(
            till: "bar-1", hash: "", roles: roles, lanes: lanes, types: [.purchase], origins: [],
            createdAt: DoorTests.now)
    }

    private func seen(_ event: Event, of owner: String?, for till: Till) -> Event? {
        EventSight.event(named(event, owner), for: till)
    }

    private func named(_ event: Event, _ owner: String?) -> Event {
        var event = event
        event.till = owner.flatMap { TillName($0) }
        return event
    }

    private func event(_ name: EventName, lane: String? = "main", isSale: Bool = true) -> Event {
        var event = Event(id: 7, name, at: DoorTests.now, lane: lane)
        if isSale {
            event.transaction = TransactionID("01a2037f-7168-7d2c-9e61-5263e834c583")
            event.result = PaymentResult(mode: .test, outcome: .approved)
            event.amount = Currency("EUR").map { Money(value: 1, currency: $0) }
            event.card = MaskedCard(scheme: "Visa", last4: "0010", masked: "************0010")
        }
        return event
    }

    @Test func `a cashier's till sees its own sale whole`() {
        let own = event(.paymentApproved)
        #expect(seen(own, of: "bar-1", for: till(.cashier)) == named(own, "bar-1"))
    }

    @Test(arguments: EventName.allCases)
    func `of another's sale it sees that the lane is busy, and nothing of the sale`(
        name: EventName
    ) {
        for owner in ["bar-2", nil] {
            guard let shown = seen(event(name), of: owner, for: till(.cashier)) else { continue }
            #expect(shown.transaction == nil && shown.result == nil && shown.amount == nil && shown.card == nil)
            #expect(!name.rawValue.hasPrefix("payment") && !name.rawValue.hasPrefix("operation"))
        }
    }

    @Test func `what happens on other lanes is none of its business`() {
        #expect(seen(event(.readReadyForTap, lane: "other"), of: "bar-1", for: till(.cashier)) == nil)
        #expect(seen(event(.readerDetached, lane: "other", isSale: false), of: nil, for: till(.cashier)) == nil)
    }

    @Test func `what is on no lane is its own till's alone, from the link's address to its end`() {
        for name in [EventName.linkOpened, .paymentApproved, .paymentDeclined, .readNotCompleted] {
            var own = event(name, lane: Transaction.noLane)
            own.link = OpenLink(url: "https://pay.example/7", expiresAt: DoorTests.now)
            #expect(seen(own, of: "bar-1", for: till(.cashier)) == named(own, "bar-1"))
            #expect(seen(own, of: "bar-1", for: till(.monitor))?.link == nil)
            for other in ["bar-2", nil] {
                #expect(seen(own, of: other, for: till(.cashier)) == nil, "\(name)")
            }
        }
    }

    @Test func `a monitor and a till of passes see no results and no amounts`() {
        for role in [TillRole.monitor, .loyalty] {
            let shown = seen(event(.paymentApproved), of: "bar-1", for: till(role))
            #expect(shown?.result == nil && shown?.amount == nil && shown?.card == nil)
        }
    }

    @Test func `what is no sale's goes to everybody`() {
        #expect(seen(event(.termsChanged, lane: nil, isSale: false), of: nil, for: till(.monitor)) != nil)
        #expect(seen(event(.readerAttached, isSale: false), of: nil, for: till(.cashier)) != nil)
    }

    @Test func `a till that was away gets what it missed, once, and is told where nobody knows`() async throws {
        let hub = EventFanOut()
        #expect(throws: EventFanOut.Refusal.daemonAway) { try hub.subscribe(till(.cashier), .english, after: nil) }
        hub.connected()
        var known = event(.paymentApproved)
        for number in UInt64(10)...12 {
            known.id = number
            hub.arrived(named(known, "bar-1"))
        }
        // 9 is the event before the first that is kept; nobody knows what came before it, or whose number 13 is.
        let cursors: [(UInt64, String)] = [
            (13, "13"), (12, ""), (11, "12"), (9, "10 11 12"), (8, "8 10 11 12"), (0, "0 10 11 12"),
        ]
        for (cursor, expected) in cursors {
            let queue = try hub.subscribe(till(.cashier), .english, after: cursor)
            queue.finish()
            let text = String(decoding: await queue.next() ?? [], as: UTF8.self)
            let ids = text.split(separator: "\n").filter { $0.hasPrefix("id: ") }.map { $0.dropFirst(4) }
            #expect(ids.joined(separator: " ") == expected, "\(cursor)")
            #expect(text.contains("events.missed") == (cursor < 9 || cursor > 12))
            queue.close()
        }
    }

    @Test func `streams of one till are few, and end with the daemon's own`() async throws {
        let hub = EventFanOut()
        hub.connected()
        let queues = try (0..<EventFanOut.streamsPerTill).map { _ in
            try hub.subscribe(till(.cashier), .english, after: nil)
        }
        #expect(throws: EventFanOut.Refusal.tooMany) { try hub.subscribe(till(.cashier), .english, after: nil) }
        hub.lost()
        for queue in queues { #expect(await queue.next() == nil) }
        #expect(throws: EventFanOut.Refusal.daemonAway) { try hub.subscribe(till(.cashier), .english, after: nil) }
    }

    @Test func `a revoked till's streams end, and no other's`() async throws {
        let hub = EventFanOut()
        hub.connected()
        let queue = try hub.subscribe(till(.cashier), .english, after: nil)
        hub.end("bar-2")
        hub.arrived(named(event(.paymentApproved), "bar-1"))
        #expect(await queue.next() != nil)
        hub.end("bar-1")
        #expect(await queue.next() == nil)
    }
}
