// SPDX-License-Identifier: Apache-2.0
import PaymentValues
import Testing

@testable import Gateway
@testable import LocalHTTP

@Suite("What wakes the displays", .timeLimit(.minutes(5)))
struct DisplayHubTests {
    @Test func `at rest nothing wakes: only what is shown and changes by itself has a time`() async throws {
        let hub = DisplayHub(upstream: Upstream(path: "/nowhere"))
        // The daemon does not answer: the staff is called in a while, if somebody looks.
        hub.lost()
        #expect(hub.wakesAt == nil)
        var news = hub.news.makeAsyncIterator()
        var book = TillRegistry()
        book.pair(TillDraft(till: "bar-1", roles: [.display], lanes: ["main"]), DoorTests.token, at: DoorTests.now)
        let till = try #require(book.tills["bar-1"])
        let first = try #require(hub.subscribe(till, lane: "main"))
        let due = try #require(hub.wakesAt)
        // Whoever tells the daemon of displays hears of each, and of its end.
        await news.next()
        let second = try #require(hub.subscribe(till, lane: "main"))
        #expect(hub.wakesAt == due && hub.shownLanes == ["main"])
        await news.next()
        first.close()
        #expect(hub.wakesAt == due && hub.shownLanes == ["main"])
        await news.next()
        second.close()
        #expect(hub.wakesAt == nil && hub.shownLanes.isEmpty)
        await news.next()
    }
}
