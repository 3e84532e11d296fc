// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
import POSAPI
import PaymentValues
import Synchronization

/// The daemon's events as tills see them.
enum EventSight {
    /// - Returns: what a till gets of an event; `nil` where it is none of its business.
    static func event(_ event: Event, for till: Till) -> Event? {
        let isOwn = event.till?.text == till.till
        // What is on no lane is its owner's business alone.
        if let lane = event.lane, !till.lanes.contains(lane), !isOwn || lane != Transaction.noLane { return nil }
        if isOwn { return till.powers.contains(.cashier) ? event : event.withoutResult }
        switch event.name.sight {
        case .everybody:
            var shown = event.withoutResult
            (shown.transaction, shown.operation, shown.till) = (nil, nil, nil)
            return shown
        case .owner: return nil
        case .lane:
            // Of another's sale: that the lane is busy, or free again.
            var shown = Event(id: event.id, event.name, at: event.at, lane: event.lane)
            (shown.mode, shown.percent, shown.step, shown.reason) = (
                event.mode, event.percent, event.step, event.reason
            )
            return shown
        }
    }
}

extension EventName {
    fileprivate enum Sight {
        /// Every till of the lane, or all where it is about none.
        case everybody
        /// Others of the lane hear that it happened.
        case lane
        case owner
    }

    fileprivate var sight: Sight {
        switch self {
        case .readerAttached, .readerDetached, .readerNotReady, .termsChanged, .profileApplied, .profileRefused,
            .clockUnbelievable, .clockBelieved, .dayClosed, .dayDiffers, .eventsMissed:
            .everybody
        case .prepareProgress, .readReadyForTap, .readCardDetected, .readCompleted, .readNotCompleted, .readCancelled:
            .lane
        case .readRetry, .readRemoveCard, .paymentAuthorizing, .paymentApproved, .paymentDeclined, .paymentUnknown,
            .paymentStored, .paymentReversed, .loyaltyResult, .queueForwarded, .queueFailed, .openItemContradicted,
            .operationDone, .operationRefused, .operationUnknown, .paymentRefunded, .paymentExpiring,
            .paymentExpired, .cardStored, .cardDeleted, .booksAttention, .pinRequested, .pinCompleted, .linkOpened,
            .tapOffered, .tapRefused, .sessionClaimed, .sessionCommitted, .sessionReleased, .sessionExpiring:
            .owner
        }
    }
}

/// One stream of the daemon's events for every till. Never waits for a till.
final class EventFanOut: Sendable {
    private struct Subscriber: Sendable {
        let till: Till
        let language: Language
        let queue: EventQueue
    }

    private struct State {
        var isUp = false
        var kept: [Event] = []
        /// The last event that was seen, kept or not.
        var last: UInt64?
        var subscribers: [UInt64: Subscriber] = [:]
        var nextKey: UInt64 = 0
    }

    private let state = Mutex(State())
    private static let capacity = 512
    static let streamsPerTill = 4
    /// Then the stream ends and the till asks again, so that forgotten tabs give way.
    static let life = Duration.seconds(15 * 60)

    enum Refusal: Error {
        case daemonAway, tooMany
    }

    var isUp: Bool { state.withLock { $0.isUp } }

    func connected() { state.withLock { $0.isUp = true } }

    /// The daemon's stream has ended: every till is told by the end of its own.
    func lost() {
        let queues = state.withLock { state in
            state.isUp = false
            defer { state.subscribers = [:] }
            return state.subscribers.values.map(\.queue)
        }
        for queue in queues { queue.finish() }
    }

    /// A till was revoked.
    func end(_ till: String) {
        let queues = state.withLock { state in
            let own = state.subscribers.filter { $0.value.till.till == till }
            for key in own.keys { state.subscribers[key] = nil }
            return own.values.map(\.queue)
        }
        for queue in queues { queue.finish() }
    }

    func arrived(_ event: Event) {
        state.withLock { state in
            state.last = event.id
            state.kept.append(event)
            if state.kept.count > Self.capacity { state.kept.removeFirst(state.kept.count - Self.capacity) }
            // Tills of one lane in one language mostly see the same.
            for subscriber in state.subscribers.values { Self.send(event, to: subscriber) }
        }
    }

    /// - Parameter cursor: the last event that the till has; later ones come first, after `events.missed` where nobody knows
    ///   whether there were others.
    func subscribe(_ till: Till, _ language: Language, after cursor: UInt64?) throws(Refusal) -> EventQueue {
        let queue = EventQueue(maximumEvents: 512, maximumBytes: 256 << 10)
        let outcome = state.withLock { state -> Result<UInt64, Refusal> in
            guard state.isUp else { return .failure(.daemonAway) }
            let own = state.subscribers.values.filter { $0.till.till == till.till }.count
            guard own < Self.streamsPerTill else { return .failure(.tooMany) }
            let subscriber = Subscriber(till: till, language: language, queue: queue)
            if let cursor {
                let isKept = state.kept.first.map { cursor >= $0.id &- 1 } ?? false
                let isGiven = state.last.map { cursor <= $0 } ?? false
                if cursor != state.last, !isKept || !isGiven {
                    var gap = Event(.eventsMissed)
                    gap.id = cursor
                    Self.send(gap, to: subscriber)
                }
                for event in state.kept where event.id > cursor { Self.send(event, to: subscriber) }
            }
            state.nextKey &+= 1
            state.subscribers[state.nextKey] = subscriber
            return .success(state.nextKey)
        }
        let key = try outcome.get()
        let timer = Task {
            try? await Task.sleep(for: Self.life)
            queue.finish()
        }
        queue.onEnd { [weak self] in
            timer.cancel()
            _ = self?.state.withLock { $0.subscribers.removeValue(forKey: key) }
        }
        return queue
    }

    private static func send(_ event: Event, to subscriber: Subscriber) {
        guard let shown = EventSight.event(event, for: subscriber.till),
            let json = try? WireJSON.encode(shown, for: Audience(language: subscriber.language))
        else { return }
        subscriber.queue.send(
            ServerSentEvent(
                id: String(event.id), name: event.name.rawValue, data: String(decoding: json, as: UTF8.self)))
    }
}
