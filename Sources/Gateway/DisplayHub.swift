// SPDX-License-Identifier: Apache-2.0
import Linux
import LocalHTTP
import Synchronization
import Wire

/// The customer's view of every lane, and the displays that show it.
final class DisplayHub: Sendable {
    private struct Subscriber: Sendable {
        let till: String
        let lane: String
        let queue: EventQueue
    }

    private struct State {
        var lanes: [String: LaneDisplay] = [:]
        var subscribers: [UInt64: Subscriber] = [:]
        var nextKey: UInt64 = 0
        var isUp = false
        /// As the daemon said last.
        var mode: Mode?
    }

    private let state = Mutex(State())
    private let upstream: Upstream
    private static let displaysPerTill = 4
    private static let mostLanes = 256

    init(upstream: Upstream) { self.upstream = upstream }

    private static var now: Int64 { Int64(clamping: MachineClock.awake / 1_000_000) }

    /// - Returns: `nil` where the till has too many already.
    func subscribe(_ till: Till, lane: String) -> EventQueue? {
        let queue = EventQueue(maximumEvents: 128, maximumBytes: 256 << 10)
        let key = state.withLock { state -> UInt64? in
            guard state.subscribers.values.filter({ $0.till == till.till }).count < Self.displaysPerTill else {
                return nil
            }
            var display = state.lanes[lane] ?? LaneDisplay(lane: lane, mode: state.mode)
            if !state.isUp { _ = display.lost(at: Self.now) }
            if state.lanes.count < Self.mostLanes { state.lanes[lane] = display }
            state.nextKey &+= 1
            let subscriber = Subscriber(till: till.till, lane: lane, queue: queue)
            state.subscribers[state.nextKey] = subscriber
            Self.send(display.view, to: subscriber)
            return state.nextKey
        }
        guard let key else { return nil }
        let timer = Task {
            try? await Task.sleep(for: EventFanOut.life)
            queue.finish()
        }
        queue.onEnd { [weak self] in
            timer.cancel()
            _ = self?.state.withLock { $0.subscribers.removeValue(forKey: key) }
        }
        return queue
    }

    /// A till was revoked.
    func end(_ till: String) {
        let queues = state.withLock { $0.subscribers.values.filter { $0.till == till }.map(\.queue) }
        for queue in queues { queue.finish() }
    }

    func happened(_ event: Event) {
        guard let lane = event.lane else { return }
        change(lane) { $0.happened(event, at: Self.now) }
        guard let owner = event.till?.text, let id = event.transaction else { return }
        switch event.name {
        case .readReadyForTap: Task { await self.fetchDetails(of: id, owner, lane) }
        case .paymentApproved where event.result?.receiptURL != nil: Task { await self.fetchCode(of: id, owner, lane) }
        default: break
        }
    }

    /// The daemon answers; what happened on the lanes before is looked up.
    func connected() async {
        state.withLock { $0.isUp = true }
        guard let answer = try? await upstream.ask(HTTPClientRequest(.get, "/v1/status")), answer.status == 200,
            let status = try? WireJSON.decode(Status.self, from: answer.body)
        else { return }
        state.withLock { $0.mode = status.mode }
        for lane in status.lanes { change(lane.name) { $0.found(lane.state, status.mode, at: Self.now) } }
    }

    func lost() {
        state.withLock { $0.isUp = false }
        for lane in state.withLock({ Array($0.lanes.keys) }) { change(lane) { $0.lost(at: Self.now) } }
    }

    /// Moves on what time alone changes, until the task is cancelled.
    func run() async {
        while (try? await Task.sleep(for: .milliseconds(500))) != nil {
            let lanes = state.withLock { $0.subscribers.isEmpty ? [] : Array($0.lanes.keys) }
            for lane in lanes { change(lane) { $0.tick(at: Self.now) } }
        }
    }

    private func fetchDetails(of id: TransactionID, _ owner: String, _ lane: String) async {
        guard state.withLock({ state in state.subscribers.values.contains { $0.lane == lane } }),
            let answer = await upstream.look("/v1/transactions/\(id.text)", accept: "application/json", for: owner),
            answer.status == 200, let transaction = try? WireJSON.decode(Transaction.self, from: answer.body)
        else { return }
        change(lane) { $0.learn(transaction, at: Self.now) }
    }

    private func fetchCode(of id: TransactionID, _ owner: String, _ lane: String) async {
        guard state.withLock({ state in state.subscribers.values.contains { $0.lane == lane } }),
            let answer = await upstream.look(
                "/v1/transactions/\(id.text)/receipt", accept: "image/svg+xml", for: owner),
            answer.status == 200, let picture = String(validating: answer.body, as: UTF8.self)
        else { return }
        let address = "data:image/svg+xml," + HTTPClientRequest.percentEncoded(picture)
        change(lane) { $0.learn(qr: address, of: id) }
    }

    private func change(_ lane: String, _ body: (inout LaneDisplay) -> Bool) {
        state.withLock { state in
            guard state.lanes[lane] != nil || state.lanes.count < Self.mostLanes else { return }
            var display = state.lanes[lane] ?? LaneDisplay(lane: lane, mode: state.mode)
            let isNew = body(&display)
            state.lanes[lane] = display
            guard isNew else { return }
            for subscriber in state.subscribers.values where subscriber.lane == lane {
                Self.send(display.view, to: subscriber)
            }
        }
    }

    private static func send(_ view: CustomerView, to subscriber: Subscriber) {
        guard let json = try? WireJSON.encode(view) else { return }
        subscriber.queue.send(
            ServerSentEvent(id: String(view.cursor), name: "view", data: String(decoding: json, as: UTF8.self)))
    }
}
