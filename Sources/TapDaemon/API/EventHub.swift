import LocalHTTP
import Synchronization
import Wire

/// Numbers the events, keeps the latest, and hands them to every subscriber. Never waits for one.
final class EventHub: Sendable {
    private struct Subscriber {
        let queue: EventQueue
        let seesResults: Bool
        let seesPasses: Bool
        let audience: Audience
    }

    /// By reference: dropping the oldest of a thousand moves the others, and an event by value is a kilobyte.
    private final class Kept: Sendable {
        let event: Event

        init(_ event: Event) { self.event = event }
    }

    private struct State {
        var next: UInt64
        var kept: [Kept] = []
        var subscribers: [UInt64: Subscriber] = [:]
        var nextKey: UInt64 = 0
    }

    private let state: Mutex<State>
    private let capacity: Int

    /// - Parameter firstID: beyond every cursor that was ever given.
    init(firstID: UInt64, capacity: Int = 1_024) {
        state = Mutex(State(next: firstID))
        self.capacity = capacity
    }

    /// Gives the event its number and sends it.
    func publish(_ event: Event) {
        state.withLock { state in
            // Whoever listens: passes are in answers to those who may have them only.
            var event = event.withoutPasses
            event.id = state.next
            state.next &+= 1
            state.kept.append(Kept(event))
            if state.kept.count > capacity { state.kept.removeFirst(state.kept.count - capacity) }
            for subscriber in state.subscribers.values { EventHub.send(event, to: subscriber) }
        }
    }

    /// A new stream.
    ///
    /// - Parameter cursor: the last event that the client has; later ones come first, after `events.missed` where some
    ///   of them are no longer kept. `nil` for new events only.
    func subscribe(
        after cursor: UInt64?, seesResults: Bool, seesPasses: Bool = false, audience: Audience = .nobody
    ) -> EventQueue {
        // Sixty-four lanes that tap at once publish some four hundred before anybody reads one.
        let queue = EventQueue(maximumEvents: 2_048, maximumBytes: 2 << 20)
        let key = state.withLock { state in
            let subscriber = Subscriber(
                queue: queue, seesResults: seesResults, seesPasses: seesPasses, audience: audience)
            if let cursor { EventHub.replay(state.kept, after: cursor, next: state.next, to: subscriber) }
            state.nextKey &+= 1
            state.subscribers[state.nextKey] = subscriber
            return state.nextKey
        }
        queue.onEnd { [weak self] in
            guard let self else { return }
            _ = self.state.withLock { $0.subscribers.removeValue(forKey: key) }
        }
        return queue
    }

    var subscriberCount: Int { state.withLock { $0.subscribers.count } }

    /// Drops what is older than `time`.
    func forget(before time: Timestamp) { state.withLock { $0.kept.removeAll { $0.event.at < time } } }

    /// What is kept about one transaction, oldest first.
    func kept(about id: TransactionID) -> [Event] {
        state.withLock { $0.kept.filter { $0.event.transaction == id } }.map(\.event)
    }

    /// Ends every stream after what is queued.
    func finish() {
        let queues = state.withLock { $0.subscribers.values.map(\.queue) }
        for queue in queues { queue.finish() }
    }

    private static func replay(_ kept: [Kept], after cursor: UInt64, next: UInt64, to subscriber: Subscriber) {
        let later = kept.filter { $0.event.id > cursor }
        let firstKept = kept.first?.event.id ?? next
        if cursor < firstKept, cursor &+ 1 != firstKept {
            var gap = Event(.eventsMissed)
            gap.id = cursor
            send(gap, to: subscriber)
        }
        for kept in later { send(kept.event, to: subscriber) }
    }

    private static func send(_ event: Event, to subscriber: Subscriber) {
        var shown = subscriber.seesResults ? event : event.withoutResult
        shown.loyalty = subscriber.seesPasses ? event.loyalty : nil
        guard let json = try? WireJSON.encode(shown, for: subscriber.audience) else { return }
        subscriber.queue.send(
            ServerSentEvent(
                id: String(event.id), name: event.name.rawValue, data: String(decoding: json, as: UTF8.self)))
    }
}
