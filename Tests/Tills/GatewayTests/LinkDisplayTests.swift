// SPDX-License-Identifier: Apache-2.0
import POSAPI
import PaymentValues
import TestSupport
import Testing

@testable import Gateway

@Suite("A link on the customer's display")
struct LinkDisplayTests {
    private static let sale = TransactionID("01a2037f-7168-7d2c-9e61-5263e834c583")
    private static let link = TransactionID("01a2037f-7168-7d2c-9e61-5263e834c584")
    private static let other = TransactionID("01a2037f-7168-7d2c-9e61-5263e834c585")
    private static let amount = Currency("EUR").map { Money(value: 1_250, currency: $0) }
    private static let code = "data:image/svg+xml,code"

    private static func event(
        _ name: EventName, of id: TransactionID? = link, lane: String = Transaction.noLane,
        _ change: (inout Event) -> Void = { _ in }
    ) -> Event {
        var event = Event(id: 7, name, at: DoorTests.now, lane: lane)
        event.transaction = id
        event.mode = .test
        if name == .linkOpened || name == .readReadyForTap { event.amount = amount }
        if name == .linkOpened {
            event.link = OpenLink(url: "https://pay.example/7", expiresAt: DoorTests.now.advanced(bySeconds: 900))
        }
        change(&event)
        return event
    }

    private static func result(
        _ outcome: PaymentResult.Outcome, _ change: (inout PaymentResult) -> Void = { _ in }
    ) -> PaymentResult {
        var result = PaymentResult(mode: .test, outcome: outcome)
        change(&result)
        return result
    }

    private static func atReader(_ name: EventName, of id: TransactionID? = sale) -> Event {
        event(name, of: id, lane: "main") { if name == .paymentDeclined { $0.result = Self.result(.declined) } }
    }

    /// The display after a sale that was declined, with the link that is to pay it.
    private func shown() -> LaneDisplay {
        var display = LaneDisplay(lane: "main")
        for name in [EventName.readReadyForTap, .paymentDeclined] { _ = display.happened(Self.atReader(name), at: 0) }
        #expect(display.opened(Self.event(.linkOpened), code: Self.code, at: 0) == true)
        return display
    }

    private func isShown(_ display: LaneDisplay) -> Bool {
        display.view.phase == .link && display.view.amount == Self.amount && display.view.qr == Self.code
    }

    @Test func `it takes the place of the decline with amount and code, and says that no money moves in test mode`() {
        let display = shown()
        #expect(isShown(display) && display.view.key == "link" && display.view.test == true)
        #expect(display.view.cursor == 7 && !display.view.phase.isResult)
    }

    @Test(arguments: [LaneStatus.State.ready, .preparing, .busy, .detached, .faulty])
    func `it needs no reader: neither the lane's state nor its reader's events take it away`(state: LaneStatus.State) {
        var display = shown()
        #expect((display.found(state, .test, at: 10) == false) && isShown(display))
        let unconcerned = EventName.allCases.filter {
            ![.readReadyForTap, .readCardDetected, .readRetry].contains($0)
        }
        for name in unconcerned {
            _ = display.happened(Event(id: 8, name, at: DoorTests.now, lane: "main"), at: 10)
            #expect(isShown(display), "\(name)")
        }
    }

    @Test func `the next sale takes its place for good, a stranger's too, and nothing of it stays`() {
        for event in [Self.atReader(.readReadyForTap, of: Self.other), Self.atReader(.readReadyForTap, of: nil)] {
            var display = shown()
            #expect(display.happened(event, at: 10) == true)
            #expect(display.view.phase == .ready && display.view.qr == nil)
            // What becomes of the link is told at the till; this customer has not paid.
            let paid = Self.event(.paymentApproved) { $0.result = Self.result(.approved) }
            #expect(display.happened(paid, at: 20) == false)
            #expect(display.view.phase == .ready)
            #expect(display.lost(at: 30) && display.found(.ready, .test, at: 40) && display.view.phase == .idle)
        }
    }

    @Test(arguments: [EventName.readReadyForTap, .readCardDetected, .readRetry, .readCompleted])
    func `it covers no sale that runs, whoever's that is`(name: EventName) {
        for owner in [Self.other, nil] {
            var display = LaneDisplay(lane: "main")
            _ = display.happened(Self.atReader(.readReadyForTap, of: owner), at: 0)
            _ = display.happened(Self.atReader(name, of: owner), at: 0)
            let before = display.view
            #expect(display.opened(Self.event(.linkOpened), code: Self.code, at: 1) == false)
            #expect(display.view == before)
        }
    }

    @Test func `it ends with what became of it: thanks, or that nothing was charged, or that it is taken back`() {
        let declined = Self.result(.declined) { $0.reason = .linkExpired }
        let takenBack = Self.result(.declined) { $0.reversal = .pending }
        let ends: [(EventName, PaymentResult, CustomerView.Phase)] = [
            (.paymentApproved, Self.result(.approved), .approved), (.paymentDeclined, declined, .cancelled),
            (.paymentDeclined, takenBack, .reversing),
        ]
        for (name, result, phase) in ends {
            let event = Self.event(name) { $0.result = result }
            var display = shown()
            #expect(display.happened(event, at: 10) == true)
            #expect(display.view.phase == phase && display.view.qr == nil)
            #expect((display.view.amount != nil) == (phase == .approved), "a sum stays with what was done")
            #expect(display.tick(at: 10 + LaneDisplay.resultTime) && display.view.phase == .idle)
            // Nothing brings it back.
            #expect(display.lost(at: 70_000) && display.found(.ready, .test, at: 70_001) && display.view.phase == .idle)
        }
    }

    @Test func `a link that is not on the display has no end there`() {
        var display = LaneDisplay(lane: "main")
        for name in [EventName.paymentApproved, .paymentDeclined, .paymentReversed, .readNotCompleted] {
            #expect(display.happened(Self.event(name), at: 0) == false, "\(name)")
        }
        #expect(display.view.phase == .idle)
    }

    @Test func `where its end does not come it goes by itself, a while after its time`() {
        var display = shown()
        let end: Int64 = 900_000 + LaneDisplay.linkGrace
        #expect(display.tick(at: end - 1) == false && isShown(display))
        #expect(display.tick(at: end) && display.view.phase == .idle)
    }

    @Test func `it comes back with the daemon, unless its time is over or what happened meanwhile is not known`() {
        for (at, state, isBack) in [
            (Int64(60_000), LaneStatus.State.ready, true), (60_000, .detached, true), (60_000, .busy, false),
            (2_000_000, .ready, false),
        ] {
            var display = shown()
            #expect(display.lost(at: 10) && display.view.phase == .offline && display.view.qr == nil)
            #expect(display.found(state, .test, at: at) && isShown(display) == isBack, "\(at) \(state)")
        }
        var display = shown()
        _ = display.lost(at: 10)
        _ = display.found(.ready, .test, at: 20)
        #expect(isShown(display) && display.missed() && display.view.phase == .idle)
        #expect(display.missed() == false)
    }
}

@Suite("On whose display a link is shown")
struct LinkPlaceTests {
    private static let sale = TransactionID("01a2037f-7168-7d2c-9e61-5263e834c583")
    private static let link = TransactionID("01a2037f-7168-7d2c-9e61-5263e834c584")
    private static let second = TransactionID("01a2037f-7168-7d2c-9e61-5263e834c585")

    private func event(_ name: EventName, of id: TransactionID?, lane: String, retryOf: TransactionID? = nil) -> Event {
        var event = Event(id: 1, name, at: DoorTests.now, lane: lane)
        (event.transaction, event.retryOf) = (id, retryOf)
        return event
    }

    @Test func `the lane of the sale that it pays, and of the link before it`() {
        var places = DisplayHub.Places()
        #expect(places.lane(of: event(.paymentDeclined, of: Self.sale, lane: "bar"), ["main", "bar"]) == "bar")
        let first = event(.linkOpened, of: Self.link, lane: "-", retryOf: Self.sale)
        #expect(places.lane(of: first, ["main", "bar"]) == "bar")
        #expect(places.lane(of: event(.paymentDeclined, of: Self.link, lane: "-"), []) == "bar")
        let second = event(.linkOpened, of: Self.second, lane: "-", retryOf: Self.link)
        #expect(places.lane(of: second, ["main", "bar"]) == "bar")
    }

    @Test func `else its till's only lane, and none where that has several or nobody knows it`() {
        var places = DisplayHub.Places()
        let opened = event(.linkOpened, of: Self.link, lane: "-")
        #expect(places.lane(of: opened, ["main", "bar"]) == nil && places.lane(of: opened, []) == nil)
        #expect(places.lane(of: opened, ["main"]) == "main")
    }

    @Test func `what else is on no lane is on no display, and an ended link is open no longer`() throws {
        var places = DisplayHub.Places()
        #expect(places.lane(of: event(.paymentApproved, of: Self.sale, lane: "-"), ["main"]) == nil)
        let link = try #require(Self.link)
        _ = places.lane(of: event(.linkOpened, of: link, lane: "-"), ["main"])
        #expect(places.isOpen(link))
        #expect(places.lane(of: event(.paymentApproved, of: link, lane: "-"), ["main"]) == "main")
        #expect(!places.isOpen(link))
        #expect(places.lane(of: event(.paymentReversed, of: link, lane: "-"), ["main"]) == nil)
    }

    @Test func `of many sales the oldest are forgotten, and what is open stays known`() throws {
        var places = DisplayHub.Places()
        let link = try #require(Self.link)
        _ = places.lane(of: event(.linkOpened, of: link, lane: "-"), ["main"])
        for _ in 0..<600 { _ = places.lane(of: event(.paymentApproved, of: TransactionID(), lane: "bar"), []) }
        #expect(places.isOpen(link))
        #expect(places.lane(of: event(.paymentApproved, of: link, lane: "-"), []) == "main")
        let retry = event(.linkOpened, of: Self.second, lane: "-", retryOf: link)
        #expect(places.lane(of: retry, []) == nil)
    }
}
