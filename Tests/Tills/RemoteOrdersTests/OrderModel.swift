// SPDX-License-Identifier: Apache-2.0
import PaymentValues
import TestSupport

@testable import RemoteOrders

/// A daemon, a backend and a disk in virtual time, around the real book: each can be away, forget its answers, or die.
struct OrderModel {
    struct Payment {
        var state: TransactionState
        var armedUntil: Int64
        var isConfirmed: Bool?
        var confirmBy: Int64 = 0
        var armedAt: Int64
        /// Not on the disk when the power failed: the daemon knows nothing of it.
        var isForgotten = false
    }

    static let sender = OrderSender(
        name: "https://pos.example", till: "remote-shop", keys: [], lanes: ["kiosk"], limits: ["EUR": 5_000])
    static let lanes = "kiosk"

    var dice: SeededGenerator
    var wall: Int64 = 1_796_119_200
    /// What the bridge's clock adds.
    var skew: Int64 = 0
    var now: UInt64 = 1_000
    var book: OrderBook
    var disk: [OrderBook.Line] = []
    /// The daemon's payments by key, in the order in which they began.
    var payments: [(key: String, payment: Payment)] = []
    var barred: Set<String> = []
    /// Requests that are still on their way to the daemon, though the bridge has given them up.
    var late: [(key: String, body: String)] = []
    /// Whether the daemon knows withdrawals by key that never came, and `notAfter`.
    let bars: Bool
    var daemonIsAway = false
    var lineIsCut = false
    /// Orders that the backend has made.
    var orders: [String: Order] = [:]
    var queue: [String] = []
    var withdrawn: Set<String> = []
    /// What the backend heard last of each.
    var heard: [String: (seq: Int, said: String)] = [:]
    var taken: Set<String> = []
    var refused: [String: OrderRefusal] = [:]
    var faults: [String] = []

    init(seed: UInt64, bars: Bool) {
        dice = SeededGenerator(seed: seed)
        self.bars = bars
        book = OrderBook(judge: OrderJudge(installation: "here", senders: [OrderModel.sender]))
    }

    var clock: OrderBook.Clock { .init(wall: wall + skew, now: now) }

    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &dice) < percent }

    // MARK: - Backend

    mutating func put(confirms: Bool) {
        let id = "A-\(orders.count)"
        let life = Int64.random(in: 5...60, using: &dice)
        let request = confirms ? #"{"type":"purchase","confirmWithin":6}"# : #"{"type":"purchase"}"#
        orders[id] = Order(
            key: OrderKey(sender: Self.sender.name, id: id), keyID: "k", digest: id, issuedAt: wall,
            expires: wall + life,
            purpose: .start(
                .init(
                    lane: "kiosk", request: request, type: "purchase", value: 100, currency: "EUR", confirms: confirms))
        )
        queue.append(id)
    }

    mutating func cancel() {
        guard let other = orders.keys.sorted().filter({ $0.hasPrefix("A") }).randomElement(using: &dice) else { return }
        let id = "C-\(orders.count)"
        orders[id] = Order(
            key: OrderKey(sender: Self.sender.name, id: id), keyID: "k", digest: id, issuedAt: wall, expires: wall + 60,
            purpose: .cancel(of: other))
        withdrawn.insert(other)
        queue.append(id)
    }

    /// A poll is answered with up to four orders; some are handed out again, or arrive late.
    mutating func poll(delay: Int64 = 0) {
        guard !lineIsCut else { return }
        queue.removeAll { id in
            guard let order = orders[id], case .start = order.purpose else { return false }
            return order.expires <= wall && !taken.contains(id)
        }
        let handed = queue.prefix(4).compactMap { orders[$0] }
        wall += delay
        now += UInt64(delay) * 1_000
        // Not here in full after 30 s: nothing of it is taken.
        guard delay <= 30 else { return }
        for order in OrderBook.inTurn(handed) {
            let id = order.key.id
            do throws(OrderRefusal) {
                if case .taken(let lines) = try book.take(order, clock: clock, clockHolds: abs(skew) <= 30) {
                    disk += lines
                }
                taken.insert(id)
            } catch {
                refused[id] = error
            }
            // The acknowledgement may be lost; then it is handed out again.
            if chance(80) { queue.removeAll { $0 == id } }
        }
    }

    /// The backend is killed: it has not written down what was acknowledged last, and hands it out again.
    mutating func killBackend() {
        lineIsCut = true
        for id in taken.sorted() where !queue.contains(id) && chance(30) { queue.append(id) }
    }

    private mutating func hear(_ saying: OrderSaying) -> Bool {
        guard !lineIsCut else { return false }
        let said = saying.snapshot?.state.rawValue ?? saying.outcome?.code ?? saying.outcome?.outcome ?? ""
        let last = heard[saying.key.id]
        if let last, last.seq == saying.seq, last.said != said {
            faults.append("\(saying.idempotencyKey) says \(last.said), and then \(said)")
        }
        if last.map({ $0.seq < saying.seq }) ?? true { heard[saying.key.id] = (saying.seq, said) }
        // It was heard, and its answer lost.
        return chance(90)
    }

    // MARK: - Daemon

    private func index(_ key: String) -> Int? { payments.firstIndex { $0.key == key && !$0.payment.isForgotten } }

    private func snapshot(_ index: Int) -> Snapshot {
        let payment = payments[index].payment
        return Snapshot(
            id: "t-\(index)", state: payment.state,
            needsConfirmation: payment.state == .approved && payment.isConfirmed == false)
    }

    /// The daemon is killed. Who waited for a card waits no more; what was on its way to it may still lie in its socket, which systemd holds.
    mutating func killDaemon() {
        daemonIsAway = true
        for index in payments.indices where payments[index].payment.state == .armed {
            payments[index].payment.state = .failed
        }
        late.removeAll { _ in Int.random(in: 0..<2, using: &dice) == 0 }
    }

    /// All of the shop is without power: what was not synced is gone. A payment is synced when its card was read.
    mutating func failPower() {
        for index in payments.indices where payments[index].payment.state == .armed && chance(50) {
            payments[index].payment.isForgotten = true
        }
        killDaemon()
        late = []
        die()
    }

    mutating func time(_ seconds: Int64) {
        wall += seconds
        now += UInt64(seconds) * 1_000
        if !late.isEmpty, chance(30) {
            let request = late.removeFirst()
            if let order = orders[request.key], wall <= order.expires { _ = begin(request.key, request.body) }
        }
        for index in payments.indices {
            let payment = payments[index].payment
            if payment.state == .armed, wall > payment.armedUntil { payments[index].payment.state = .failed }
            if payment.state == .approved, payment.isConfirmed == false, wall > payment.confirmBy {
                payments[index].payment.state = .reversed
            }
        }
    }

    mutating func card() {
        guard let index = payments.indices.filter({ payments[$0].payment.state == .armed }).randomElement(using: &dice)
        else { return }
        payments[index].payment.state = chance(70) ? .approved : .declined
        payments[index].payment.confirmBy = wall + 6
    }

    mutating func begin(_ key: String, _ body: String) -> DaemonAnswer {
        if barred.contains(key) { return .refused("order.cancelled", isRetryable: false) }
        if index(key) != nil { return .unclear }
        if payments.contains(where: { $0.payment.state == .armed && !$0.payment.isForgotten }) {
            return .refused("reader.busy", isRetryable: true)
        }
        let digits = body.dropFirst("{\"deadline\":".utf8.count).prefix { $0.isNumber }
        let deadline = Int64(digits) ?? 0
        if !(1...120).contains(deadline) || !body.contains("\"detached\":true,\"lane\":\"kiosk\"") {
            faults.append("a wrong request: \(body)")
        }
        let end = bars ? orders[key]?.expires ?? .max : .max
        payments.append(
            (
                key,
                Payment(
                    state: .armed, armedUntil: min(wall + deadline, end),
                    isConfirmed: body.contains("confirmWithin") ? false : nil, armedAt: wall)
            ))
        return .transaction(snapshot(payments.count - 1))
    }

    /// One step of one order; what it asks of the daemon may get no answer.
    mutating func work() {
        guard let key = book.open(wall: wall + skew).randomElement(using: &dice) else { return }
        work(key)
    }

    mutating func work(_ key: OrderKey) {
        let (lines, step) = book.step(key, clock)
        disk += lines
        let isLost = chance(10)
        var answer: DaemonAnswer
        switch step {
        case .wait, .rest: return
        case .say(let saying):
            let isTaken = hear(saying)
            disk += book.heard(saying, isTaken, now: now)
            return
        case _ where daemonIsAway: answer = .unsent
        case .begin(let body) where bars && chance(20):
            late.append((key.id, body))
            answer = .unclear
        case .begin(let body): answer = begin(key.id, body)
        case .find(let id): answer = index(id).map { .transaction(snapshot($0)) } ?? .unknown
        case .look(let transaction, _):
            answer =
                Int(transaction.dropFirst(2)).flatMap {
                    payments[$0].payment.isForgotten ? nil : .transaction(snapshot($0))
                }
                ?? .unknown
        case .withdraw(let id): answer = withdraw(id)
        case .confirm(let transaction):
            guard let number = Int(transaction.dropFirst(2)) else { return }
            if payments[number].payment.state == .approved {
                payments[number].payment.isConfirmed = true
                if let last = heard[key.id], last.said != "approved" {
                    faults.append("\(key.id) is confirmed, and the backend heard \(last.said)")
                }
                answer = .transaction(snapshot(number))
            } else {
                answer = .refused("confirmation.too_late", isRetryable: false)
            }
        }
        if isLost, !daemonIsAway { answer = .unclear }
        disk += book.answered(key, answer, to: step, now: now)
    }

    private mutating func withdraw(_ id: String) -> DaemonAnswer {
        guard let index = index(id) else {
            guard bars else { return .unknown }
            barred.insert(id)
            return .outcome(.neverBegan)
        }
        guard payments[index].payment.state == .armed else {
            return .outcome(.init(outcome: "nothingToCancel", state: payments[index].payment.state))
        }
        payments[index].payment.state = .cancelled
        return .outcome(.init(outcome: "cancelled"))
    }

    /// What is settled has been told, and nobody waits for a card.
    var isQuiet: Bool {
        book.untold.count == 0
            && payments.allSatisfy {
                $0.payment.isForgotten || $0.payment.state.isSettled && heard[$0.key]?.said == $0.payment.state.rawValue
            }
    }

    /// The bridge is killed, and started again with what is on its disk.
    mutating func die() {
        book = OrderBook(judge: book.judge)
        for line in disk { book.read(line) }
    }
}
