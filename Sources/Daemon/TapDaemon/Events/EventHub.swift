// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
import POSAPI
import PaymentValues
import Synchronization

/// Numbers the events, keeps the latest, and hands them to every subscriber. Never waits for one.
///
/// Events are encoded outside the lock of what is kept, and once for all subscribers who see the same of them.
final class EventHub: Sendable {
    typealias Encoder = @Sendable (Event, Audience) -> [UInt8]?

    private struct State {
        var next: UInt64
        var kept: [EventSubscriber.Kept] = []
        var subscribers: [UInt64: EventSubscriber] = [:]
        var nextKey: UInt64 = 0
    }

    /// Held while an event is on its way to all subscribers, so that each gets them in order. Taken before `state`.
    private let delivery = Mutex(())
    private let state: Mutex<State>
    private let capacity: Int
    private let encode: Encoder

    /// - Parameters:
    ///   - firstID: beyond every cursor that was ever given.
    ///   - encode: JSON of an event; `nil` for one that nobody gets.
    init(
        firstID: UInt64, capacity: Int = 1_024,
        encode: @escaping Encoder = { event, audience in try? WireJSON.encode(event, for: audience) }
    ) {
        state = Mutex(State(next: firstID))
        self.capacity = capacity
        self.encode = encode
    }

    /// Gives the event its number and sends it.
    func publish(_ event: Event) {
        delivery.withLock { _ in
            let (kept, subscribers) = state.withLock { state in
                // Whoever listens: passes are in answers to those who may have them only.
                var event = event.withoutPasses
                event.id = state.next
                state.next &+= 1
                let kept = EventSubscriber.Kept(event)
                state.kept.append(kept)
                if state.kept.count > capacity { state.kept.removeFirst(state.kept.count - capacity) }
                return (kept, Array(state.subscribers.values))
            }
            for subscriber in subscribers where subscriber.takesNow(kept) {
                guard let message = kept.message(for: subscriber.view, encode) else { continue }
                subscriber.queue.send(message)
            }
        }
    }

    /// A new stream.
    ///
    /// - Parameter cursor: the last event that the client has; later ones come first, after `events.missed` where some
    ///   of them are no longer kept, or it was never given. `nil` for new events only.
    func subscribe(
        after cursor: UInt64?, _ view: EventSubscriber.View
    ) -> EventQueue {
        let subscriber = EventSubscriber(view, isBehind: cursor != nil)
        let (key, missed) = state.withLock { state in
            state.nextKey &+= 1
            state.subscribers[state.nextKey] = subscriber
            return (state.nextKey, cursor.map { EventHub.missed(state, after: $0) } ?? [])
        }
        if cursor != nil { subscriber.catchUp(missed, encode) }
        subscriber.queue.onEnd { [weak self] in
            guard let self else { return }
            _ = self.state.withLock { $0.subscribers.removeValue(forKey: key) }
        }
        return subscriber.queue
    }

    var subscriberCount: Int { state.withLock { $0.subscribers.count } }

    /// Drops what is older than `time`.
    func forget(before time: Timestamp) { state.withLock { $0.kept.removeAll { $0.event.at < time } } }

    /// What is kept about one transaction, oldest first.
    func kept(about id: TransactionID) -> [Event] {
        state.withLock { $0.kept.filter { $0.event.transaction == id && $0.event.name.vocabulary == 1 } }.map(\.event)
    }

    /// Ends every stream after what is queued.
    func finish() {
        delivery.withLock { _ in
            let queues = state.withLock { $0.subscribers.values.map(\.queue) }
            for queue in queues { queue.finish() }
        }
    }

    /// What a client with this cursor has not got, after a word on what is gone.
    private static func missed(_ state: State, after cursor: UInt64) -> [EventSubscriber.Kept] {
        let later = state.kept.filter { $0.event.id > cursor }
        let firstKept = state.kept.first?.event.id ?? state.next
        // A cursor that was never given is another daemon's, or of books that were put back: nobody knows what came after it.
        guard cursor >= state.next || (cursor < firstKept && cursor &+ 1 != firstKept) else { return later }
        var gap = Event(.eventsMissed)
        gap.id = cursor
        return [EventSubscriber.Kept(gap)] + later
    }
}
