// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
import POSAPI
import PaymentValues
import Synchronization
import TestSupport
import Testing

@testable import TapDaemon

@Suite("The hub of events", .timeLimit(.minutes(5)))
struct EventHubTests {
    /// What a subscriber of `hub` gets over a real socket, up to `count` events.
    private func received(
        from hub: EventHub, after cursor: UInt64?, seesResults: Bool = true, count: Int
    ) async throws -> [(id: String?, event: Event)] {
        let folder = try TestFolder()
        let server = HTTPServer(socket: try ListeningSocket(path: folder.path + "/s"), logger: Shop.quiet) { _ in
            .events(hub.subscribe(after: cursor, EventSubscriber.View(seesResults: seesResults)))
        }
        async let end: Void = server.run()
        var all: [(id: String?, event: Event)] = []
        let events = try await HTTPClient(path: folder.path + "/s").events(
            HTTPClientRequest(.get, "/"), answerWithin: hangLimit)
        for try await event in events {
            all.append((event.id, try WireJSON.decode(Event.self, from: Array(event.data.utf8))))
            if all.count == count { break }
        }
        server.shutDown(grace: .zero)
        try await end
        return all
    }

    private func hub(_ events: Int, from first: UInt64 = 100, capacity: Int = 8) -> EventHub {
        let hub = EventHub(firstID: first, capacity: capacity)
        for _ in 0..<events { hub.publish(Event(.readerAttached, lane: "a")) }
        return hub
    }

    @Test("Numbers begin where they are told to and grow by one")
    func numbers() async throws {
        let got = try await received(from: hub(3), after: 99, count: 3)
        #expect(got.map(\.event.id) == [100, 101, 102])
        #expect(got.map(\.id) == ["100", "101", "102"])
    }

    @Test("A cursor within what is kept gets exactly what comes after it")
    func replay() async throws {
        #expect(try await received(from: hub(5), after: 102, count: 2).map(\.event.id) == [103, 104])
    }

    @Test("A cursor older than what is kept is told so first, and keeps its number until then")
    func gap() async throws {
        let got = try await received(from: hub(20), after: 105, count: 9)
        #expect(got[0].event.name == .eventsMissed && got[0].id == "105")
        #expect(got.dropFirst().map(\.event.id) == Array(112...119))
    }

    @Test("A cursor that was never given is told so, and keeps its number until something comes")
    func neverGiven() async throws {
        for cursor in [UInt64(103), 5_000, .max] {
            let got = try await received(from: hub(3), after: cursor, count: 1)
            #expect(got[0].event.name == .eventsMissed && got[0].id == "\(cursor)")
        }
    }

    @Test("The last cursor of an earlier run that nothing came after is no gap")
    func noGap() async throws {
        #expect(try await received(from: hub(2), after: 99, count: 2).allSatisfy { $0.event.name != .eventsMissed })
    }

    @Test("Who may not see results gets the event without card, amount and result")
    func filtered() async throws {
        let hub = EventHub(firstID: 1)
        var event = Event(.paymentApproved, lane: "till-1")
        event.transaction = TransactionID()
        event.result = PaymentResult(mode: .test, outcome: .approved)
        event.card = MaskedCard(scheme: "Visa", last4: "0010", masked: "****0010")
        event.amount = Money(value: 1, currency: try #require(Currency("EUR")))
        hub.publish(event)
        let seen = try await received(from: hub, after: 0, seesResults: false, count: 1)[0].event
        #expect(seen.name == .paymentApproved && seen.transaction == event.transaction && seen.lane == "till-1")
        #expect(seen.result == nil && seen.card == nil && seen.amount == nil)
        let whole = try await received(from: hub, after: 0, count: 1)[0].event
        #expect(whole.result == event.result && whole.card == event.card && whole.amount == event.amount)
    }

    @Test("What is on no lane goes to whoever sees its till's, and not to who watches some lanes")
    func noLane() throws {
        let bar = try #require(TillName("bar-1"))
        var event = Event(.linkOpened, lane: Transaction.noLane)
        (event.transaction, event.till) = (TransactionID(), bar)
        event.link = OpenLink(url: "https://pay.example/7", expiresAt: .now)
        event.amount = Money(value: 1, currency: try #require(Currency("EUR")))
        func seen(_ scope: EventSubscriber.View.Scope, _ seesResults: Bool = true, vocabulary: Int = 2) -> String? {
            var view = EventSubscriber.View(seesResults: seesResults, vocabulary: vocabulary, scope: scope)
            view.lanes = ["lane-0"]
            return view.message(event) { event, _ in try? WireJSON.encode(event) }?.data
        }
        #expect(seen(.tills)?.contains("https://pay.example/7") == true)
        #expect(seen(.till(bar))?.contains("https://pay.example/7") == true)
        #expect(seen(.till(TillName("bar-2"))) == nil && seen(.all) == nil)
        #expect(seen(.till(bar), vocabulary: 1) == nil)
        let watched = try #require(seen(.till(bar), false))
        #expect(!watched.contains("pay.example") && !watched.contains("amount"))
    }

    @Test("An event is encoded once for all who see the same of it")
    func encodedOnce() {
        let encoded = Mutex(0)
        let hub = EventHub(firstID: 1) { event, audience in
            encoded.withLock { $0 += 1 }
            return try? WireJSON.encode(event, for: audience)
        }
        let german = Audience(language: .german)
        let queues = [
            hub.subscribe(after: nil, EventSubscriber.View(seesResults: true)),
            hub.subscribe(after: nil, EventSubscriber.View(seesResults: true)),
            hub.subscribe(after: nil, EventSubscriber.View(seesResults: false)),
            hub.subscribe(after: nil, EventSubscriber.View(seesResults: false)),
            hub.subscribe(after: nil, EventSubscriber.View(seesResults: true, audience: german)),
        ]
        hub.publish(Event(.readerAttached, lane: "a"))
        #expect(encoded.withLock { $0 } == 3 && hub.subscriberCount == queues.count)
    }

    @Test("While events are encoded the hub answers, and what is published meanwhile comes after what was missed")
    func replayOutsideTheLock() async throws {
        let inner = Mutex<EventHub?>(nil)
        let hub = EventHub(firstID: 100) { event, audience in
            // A lock that is held here would be taken twice.
            if event.id == 100, let hub = inner.withLock({ $0 }) { hub.publish(Event(.readerDetached, lane: "b")) }
            return try? WireJSON.encode(event, for: audience)
        }
        for _ in 0..<3 { hub.publish(Event(.readerAttached, lane: "a")) }
        inner.withLock { $0 = hub }
        let got = try await received(from: hub, after: 99, count: 4)
        inner.withLock { $0 = nil }
        #expect(got.map(\.event.id) == [100, 101, 102, 103])
        #expect(got.last?.event.name == .readerDetached)
    }

    @Test("A client that cannot take all it has missed is told so, and nothing more is encoded for it")
    func overflow() {
        let encoded = Mutex(0)
        let hub = EventHub(firstID: 1, capacity: 5_000) { event, audience in
            encoded.withLock { $0 += 1 }
            return try? WireJSON.encode(event, for: audience)
        }
        for _ in 0..<5_000 { hub.publish(Event(.readerAttached, lane: "a")) }
        #expect(encoded.withLock { $0 } == 0)
        let queue = hub.subscribe(after: 0, EventSubscriber.View(seesResults: true))
        #expect(encoded.withLock { $0 } <= 2_049 && encoded.withLock { $0 } > 1_000)
        #expect(queue.send(ServerSentEvent(id: "1", name: "x", data: "")) == .closed)
    }

    @Test("What is kept about a transaction is only that")
    func about() throws {
        let hub = EventHub(firstID: 1)
        var event = Event(.readCardDetected)
        event.transaction = TransactionID()
        hub.publish(event)
        hub.publish(Event(.readerAttached))
        #expect(hub.kept(about: try #require(event.transaction)).map(\.id) == [1])
    }
}

@Suite("Waiting and working", .timeLimit(.minutes(5)))
struct ConcurrencyTests {
    @Test("What has happened is waited for by nobody any more, and what happens wakes everybody")
    func occasion() async {
        let occasion = OneShot()
        await withTaskGroup { group in
            for _ in 0..<50 { group.addTask { await occasion.wait() } }
            group.addTask { occasion.fire() }
        }
        await occasion.wait()
        #expect(occasion.hasFired)
    }

    @Test("A wait ends with its time and with its task")
    func bounded() async {
        let occasion = OneShot()
        await occasion.wait(atMost: .milliseconds(1))
        let task = Task { await occasion.wait() }
        task.cancel()
        await task.value
        #expect(!occasion.hasFired)
    }

    @Test("A closed queue ends what it has and takes nothing more")
    func queue() async {
        let queue = WorkQueue()
        let done = Mutex(0)
        for _ in 0..<20 { #expect(queue.add { done.withLock { $0 += 1 } }) }
        queue.close()
        #expect(!queue.add { done.withLock { $0 += 100 } })
        await queue.run()
        #expect(done.withLock { $0 } == 20)
    }
}
