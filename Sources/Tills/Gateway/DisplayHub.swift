// SPDX-License-Identifier: Apache-2.0
import Linux
import LocalHTTP
import POSAPI
import PaymentValues
import Synchronization

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
        var networks: [String]?
        var places = Places()
        /// When the next of the lanes that are shown changes by itself.
        var alarm: (at: Int64, task: Task<Void, Never>)?
    }

    /// On which lane's display something is shown that is on no lane itself: a link, where the sale was that it pays.
    struct Places {
        /// Of what has happened lately, oldest first.
        private var lanes: [TransactionID: String] = [:]
        private var order: [TransactionID] = []
        private var links: [TransactionID: String] = [:]
        private static let most = 512

        func isOpen(_ link: TransactionID) -> Bool { links[link] != nil }

        mutating func forgetLinks() { links = [:] }

        /// - Parameter own: lanes of whose transaction it is.
        mutating func lane(of event: Event, _ own: [String]) -> String? {
            guard event.lane == Transaction.noLane else {
                if let id = event.transaction, let lane = event.lane { note(id, lane) }
                return event.lane
            }
            guard let id = event.transaction else { return nil }
            guard event.name == .linkOpened else {
                return event.name.endsLink ? links.removeValue(forKey: id) : links[id]
            }
            let only = own.count == 1 ? own.first : nil
            guard let lane = lanes[id] ?? event.retryOf.flatMap({ lanes[$0] }) ?? only else { return nil }
            note(id, lane)
            if links.count < Self.most { links[id] = lane }
            return lane
        }

        private mutating func note(_ id: TransactionID, _ lane: String) {
            if lanes.updateValue(lane, forKey: id) == nil { order.append(id) }
            if order.count > Self.most { lanes[order.removeFirst()] = nil }
        }
    }

    private let state = Mutex(State())
    private let upstream: Upstream
    /// Something has become of the displays that the daemon may have to know: one is open or closed, or the daemon is there again.
    let news: AsyncStream<Void>
    private let teller: AsyncStream<Void>.Continuation
    private static let displaysPerTill = 4
    private static let mostLanes = 256
    private static let attempts = 3

    init(upstream: Upstream) {
        self.upstream = upstream
        (news, teller) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    private static var now: Int64 { Int64(clamping: MachineClock.awake / 1_000_000) }

    /// - Returns: `nil` where the till has too many already.
    func subscribe(_ till: Till, lane: String) -> EventQueue? {
        let queue = EventQueue(maximumEvents: 128, maximumBytes: 256 << 10)
        let key = state.withLock { state -> UInt64? in
            guard state.subscribers.values.filter({ $0.till == till.till }).count < Self.displaysPerTill else {
                return nil
            }
            var display = state.lanes[lane] ?? LaneDisplay(lane: lane, mode: state.mode, networks: state.networks)
            if !state.isUp { _ = display.lost(at: Self.now) }
            // While nobody looked time has not moved it on.
            _ = display.tick(at: Self.now)
            if state.lanes.count < Self.mostLanes { state.lanes[lane] = display }
            state.nextKey &+= 1
            let subscriber = Subscriber(till: till.till, lane: lane, queue: queue)
            state.subscribers[state.nextKey] = subscriber
            Self.send(display.view, to: subscriber)
            setAlarm(&state)
            return state.nextKey
        }
        guard let key else { return nil }
        teller.yield()
        let timer = Task {
            try? await Task.sleep(for: EventFanOut.life)
            queue.finish()
        }
        queue.onEnd { [weak self] in
            timer.cancel()
            self?.left(key)
        }
        return queue
    }

    private func left(_ key: UInt64) {
        state.withLock { state in
            state.subscribers[key] = nil
            setAlarm(&state)
        }
        teller.yield()
    }

    /// Lanes whose amounts somebody is shown now.
    var shownLanes: [String] { state.withLock { Set($0.subscribers.values.map(\.lane)).sorted() } }

    /// Says once more that there is something to tell.
    func remind(in time: Duration) -> Task<Void, Never> {
        Task { [teller] in
            if (try? await Task.sleep(for: time)) != nil { teller.yield() }
        }
    }

    /// A till was revoked.
    func end(_ till: String) {
        let queues = state.withLock { $0.subscribers.values.filter { $0.till == till }.map(\.queue) }
        for queue in queues { queue.finish() }
    }

    /// - Parameter own: lanes of the till whose transaction it is.
    func happened(_ event: Event, on own: [String] = []) {
        if event.name == .eventsMissed { return forgetLinks() }
        if event.name == .profileApplied { Task { await self.askNetworks() } }
        guard let lane = state.withLock({ $0.places.lane(of: event, own) }) else { return }
        change(lane) { $0.happened(event, at: Self.now) }
        guard let owner = event.till?.text, let id = event.transaction else { return }
        switch event.name {
        case .linkOpened: Task { await self.show(event, of: id, owner, lane) }
        case .readReadyForTap: Task { await self.fetchDetails(of: id, owner, lane) }
        case .paymentApproved, .paymentStored, .paymentUnknown, .paymentReversed:
            let hasCode = event.name == .paymentApproved && event.result?.receiptURL != nil
            Task {
                // A display that was opened since does not know what the card was asked for.
                if !knowsAct(of: id, lane) { await self.fetchDetails(of: id, owner, lane) }
                if hasCode { await self.fetchCode(of: id, owner, lane) }
                if event.name == .paymentApproved { await self.offerReceipt(of: id, owner, lane) }
            }
        default: break
        }
    }

    private func knowsAct(of id: TransactionID, _ lane: String) -> Bool {
        state.withLock { state in
            guard let display = state.lanes[lane], display.transaction == id else { return true }
            // Whether a card was stored is known at its end.
            return display.view.type != nil && display.view.type != .verification
        }
    }

    /// The daemon answers; what happened on the lanes before is looked up.
    func connected() async {
        state.withLock { $0.isUp = true }
        teller.yield()
        guard let status = await status() else { return }
        state.withLock { $0.mode = status.mode }
        take(status.networks)
        for lane in status.lanes { change(lane.name) { $0.found(lane.state, status.mode, at: Self.now) } }
    }

    private func status() async -> Status? {
        guard let answer = try? await upstream.ask(HTTPClientRequest(.get, "/v1/status")), answer.status == 200 else {
            return nil
        }
        return try? WireJSON.decode(Status.self, from: answer.body)
    }

    /// Another profile may take other cards.
    private func askNetworks() async {
        if let status = await status() { take(status.networks) }
    }

    private func take(_ networks: [String]?) {
        let lanes = state.withLock { state in
            state.networks = networks
            return Array(state.lanes.keys)
        }
        for lane in lanes { change(lane) { $0.taking(networks) } }
    }

    func lost() {
        state.withLock { $0.isUp = false }
        for lane in state.withLock({ Array($0.lanes.keys) }) { change(lane) { $0.lost(at: Self.now) } }
    }

    /// Wakes for what time alone changes, once for the first of it; where nobody looks, and where nothing is due, for nothing.
    private func setAlarm(_ state: inout State) {
        let shown = Set(state.subscribers.values.map(\.lane))
        let due = shown.compactMap { state.lanes[$0]?.due }.min()
        guard due != state.alarm?.at else { return }
        state.alarm?.task.cancel()
        state.alarm = due.map { due in
            (
                due,
                Task { [weak self] in
                    guard (try? await Task.sleep(for: .milliseconds(max(0, due - Self.now)))) != nil else { return }
                    self?.ring(due)
                }
            )
        }
    }

    /// When it wakes next, in milliseconds of its clock; `nil` at rest.
    var wakesAt: Int64? { state.withLock { $0.alarm?.at } }

    private func ring(_ due: Int64) {
        let lanes = state.withLock { state in
            if state.alarm?.at == due { state.alarm = nil }
            return Set(state.subscribers.values.map(\.lane))
        }
        for lane in lanes { change(lane) { $0.tick(at: max(due, Self.now)) } }
    }

    private func fetchDetails(of id: TransactionID, _ owner: String, _ lane: String) async {
        guard isShown(lane),
            let answer = await upstream.look("/v1/transactions/\(id.text)", accept: "application/json", for: owner),
            answer.status == 200, let transaction = try? WireJSON.decode(Transaction.self, from: answer.body)
        else { return }
        change(lane) { $0.learn(transaction, at: Self.now) }
    }

    private func fetchCode(of id: TransactionID, _ owner: String, _ lane: String) async {
        guard isShown(lane), let code = await code(of: id, owner) else { return }
        change(lane) { $0.learn(qr: code, of: id) }
    }

    /// The QR code of a receipt, as an address that holds it.
    private func code(of id: TransactionID, _ owner: String) async -> String? {
        guard
            let answer = await upstream.look(
                "/v1/transactions/\(id.text)/receipt", accept: "image/svg+xml", for: owner),
            answer.status == 200, let picture = String(validating: answer.body, as: UTF8.self)
        else { return nil }
        return "data:image/svg+xml," + HTTPClientRequest.percentEncoded(picture)
    }

    private func isShown(_ lane: String) -> Bool {
        state.withLock { state in state.subscribers.values.contains { $0.lane == lane } }
    }

    /// Where the payment service sends receipts, whoever stands at the display may have one.
    private func offerReceipt(of id: TransactionID, _ owner: String, _ lane: String) async {
        guard isShown(lane), await status()?.sendsReceipts == true else { return }
        // Of the system's generator, which nobody can foresee.
        let word = (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }.joined()
        change(lane) { $0.offer(word: word, of: id, owner, at: Self.now) }
    }

    /// The wish of a customer who stands at a lane's display.
    ///
    /// - Returns: why there is no receipt; `nil` where it is sent.
    func sendReceipt(_ wish: DisplayReceipt, on lane: String) async -> ErrorCode? {
        let asked = state.withLock { $0.lanes[lane]?.ask(by: wish.word) }
        guard let asked else { return .receiptNotAvailable }
        let code = await upstream.send(wish.to, of: asked.id, for: asked.owner)
        change(lane) { $0.answered(wish.word, isTaken: code == nil) }
        return code
    }

    /// Shows a link once its code is there, unless it has ended by then. Whoever opens the display later sees it, too.
    private func show(_ event: Event, of id: TransactionID, _ owner: String, _ lane: String) async {
        for attempt in 0..<Self.attempts {
            if attempt > 0 { try? await Task.sleep(for: .seconds(1)) }
            guard state.withLock({ $0.places.isOpen(id) }) else { return }
            guard let code = await code(of: id, owner) else { continue }
            change(lane, while: { $0.places.isOpen(id) }) { $0.opened(event, code: code, at: Self.now) }
            return await fetchDetails(of: id, owner, lane)
        }
    }

    private func forgetLinks() {
        let lanes = state.withLock { state in
            state.places.forgetLinks()
            return Array(state.lanes.keys)
        }
        for lane in lanes { change(lane) { $0.missed() } }
    }

    private func change(
        _ lane: String, while holds: (State) -> Bool = { _ in true }, _ body: (inout LaneDisplay) -> Bool
    ) {
        state.withLock { state in
            guard holds(state), state.lanes[lane] != nil || state.lanes.count < Self.mostLanes else { return }
            var display = state.lanes[lane] ?? LaneDisplay(lane: lane, mode: state.mode, networks: state.networks)
            let isNew = body(&display)
            state.lanes[lane] = display
            setAlarm(&state)
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

extension EventName {
    fileprivate var endsLink: Bool {
        switch self {
        case .paymentApproved, .paymentDeclined, .paymentReversed, .readNotCompleted, .readCancelled: true
        // Nobody knows yet how it ends: the customer may still pay.
        case .paymentUnknown: false
        case .readerAttached, .readerDetached, .readerNotReady, .prepareProgress, .readReadyForTap, .readCardDetected,
            .readRetry, .readRemoveCard, .readCompleted, .pinRequested, .pinCompleted, .linkOpened,
            .paymentAuthorizing, .paymentStored, .loyaltyResult, .queueForwarded, .queueFailed, .openItemContradicted,
            .termsChanged, .profileApplied, .profileRefused, .clockUnbelievable, .clockBelieved, .operationDone,
            .operationRefused, .operationUnknown, .paymentRefunded, .paymentExpiring, .paymentExpired, .cardStored,
            .cardDeleted, .dayClosed, .dayDiffers, .booksAttention, .eventsMissed,
            .tapOffered, .tapRefused, .sessionClaimed, .sessionCommitted, .sessionReleased, .sessionExpiring:
            false
        }
    }
}
