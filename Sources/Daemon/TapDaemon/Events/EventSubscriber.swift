// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
import POSAPI
import PaymentValues
import Synchronization

/// One stream of events: what its client may see, and what waits while it gets what it has missed.
final class EventSubscriber: Sendable {
    /// By reference: dropping the oldest of a thousand moves the others, and an event by value is a kilobyte.
    final class Kept: Sendable {
        let event: Event
        /// For the views that asked first: whoever comes back gets what others got.
        private let messages = Mutex<[View: ServerSentEvent]>([:])
        /// Languages times roles that see results or not; more are encoded anew.
        private static let views = 8

        init(_ event: Event) { self.event = event }

        func message(for view: View, _ encode: EventHub.Encoder) -> ServerSentEvent? {
            if let known = messages.withLock({ $0[view] }) { return known }
            guard let message = view.message(event, encode) else { return nil }
            messages.withLock { if $0.count < Self.views { $0[view] = message } }
            return message
        }
    }

    /// What a client sees of an event, and in which words.
    struct View: Hashable {
        /// Of whose transactions it sees more than that somebody uses a lane.
        enum Scope: Hashable {
            case all
            /// Of those that gateways' tills have asked for.
            case tills
            case till(TillName?)

            func shown(_ event: Event) -> Event? {
                let isSeen =
                    switch self {
                    case .all: true
                    case .tills: event.transaction == nil || event.till != nil
                    case .till(let name): event.transaction == nil || event.till == name
                    }
                return isSeen ? event : event.ofSomebody
            }
        }

        let seesResults: Bool
        var seesPasses = false
        var audience = Audience.nobody
        /// Names of later versions are for who asks for them.
        var vocabulary = 1
        var scope = Scope.all
        /// Lanes that it hears of; `nil` for all.
        var lanes: Set<String>?

        /// Of what is on no lane nobody hears who sees some lanes of everybody.
        private func hears(of lane: String?) -> Bool {
            guard let lane, let lanes else { return true }
            return lane == Transaction.noLane ? scope != .all : lanes.contains(lane)
        }

        func message(_ event: Event, _ encode: EventHub.Encoder) -> ServerSentEvent? {
            guard event.name.vocabulary <= vocabulary, hears(of: event.lane), let event = scope.shown(event) else {
                return nil
            }
            var shown = seesResults ? event : event.withoutResult
            shown.loyalty = seesPasses ? event.loyalty : nil
            guard let json = encode(shown, audience) else { return nil }
            return ServerSentEvent(
                id: String(event.id), name: event.name.rawValue, data: String(decoding: json, as: UTF8.self))
        }
    }

    let view: View
    /// Sixty-four lanes that tap at once publish some four hundred before anybody reads one.
    let queue = EventQueue(maximumEvents: 2_048, maximumBytes: 2 << 20)
    /// New events, while the client gets older ones; `nil` once it has them all.
    private let waiting: Mutex<[Kept]?>

    init(_ view: View, isBehind: Bool) {
        self.view = view
        waiting = Mutex(isBehind ? [] : nil)
    }

    /// Whether the event is to be sent to the client now; otherwise it is sent after those before it.
    func takesNow(_ event: Kept) -> Bool {
        waiting.withLock { waiting in
            waiting?.append(event)
            return waiting == nil
        }
    }

    /// Sends what the client has missed and what has come meanwhile, until it has all or can take no more.
    func catchUp(_ missed: [Kept], _ encode: EventHub.Encoder) {
        var next = missed
        repeat {
            for kept in next {
                guard let message = kept.message(for: view, encode) else { continue }
                // It has been told that it missed some and asks again: nothing more comes on this stream.
                guard queue.send(message) == .queued else { return waiting.withLock { $0 = nil } }
            }
            next = waiting.withLock { waiting in
                let new = waiting ?? []
                waiting = new.isEmpty ? nil : []
                return new
            }
        } while !next.isEmpty
    }
}
