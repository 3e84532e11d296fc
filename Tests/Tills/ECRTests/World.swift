// SPDX-License-Identifier: Apache-2.0
import Codes
import ECR
import TestSupport

/// What a till hears of its line.
protocol TillSide: AnyObject {
    func received(_ bytes: [UInt8], _ connection: TillConnection, _ world: World)
    func lost(_ connection: TillConnection, _ world: World)
}

/// The daemon, the wire, the disk and the clock around one machine. Everything that can go wrong there goes wrong at random: lines are
/// cut, the program ends between any two effects, outcomes come late, never, or after a cancel.
final class World {
    struct Faults {
        var cuts = 0
        var ends = 0
        /// Bytes of a serial line that arrive changed, in a thousand.
        var noise = 0
    }

    var random: SeededGenerator
    private(set) var now: Int64 = 0
    var machine: any TillTerminal
    let make: (TillMachine) -> any TillTerminal
    weak var till: (any TillSide)?
    let service: Service
    let faults: Faults
    let isSerial: Bool
    /// What happened is written down only where somebody wants to read it: a run that failed is run again.
    let tells: Bool
    private(set) var ledger: [UInt64: Attempt] = [:]
    private var counter: UInt64 = 0
    private var closedThrough: UInt64 = 0
    private(set) var alarms: [TillAlarm] = []
    private(set) var starts: [AttemptKey: Int] = [:]
    private(set) var story: [String] = []
    private var events: [(time: Int64, order: UInt64, run: (World) -> Void)] = []
    private var order: UInt64 = 0
    private var connections: UInt64 = 0
    private var timers: [TillTimer: UInt64] = [:]
    /// Connections that both sides have open.
    private var live: Set<TillConnection> = []
    private var unread: Set<TillConnection> = []
    private var epoch = 0
    private var towardsTill: [TillConnection: Int64] = [:]
    private var fromTill: [TillConnection: Int64] = [:]

    init(
        seed: UInt64, faults: Faults, isSerial: Bool = false, tells: Bool,
        make: @escaping (TillMachine) -> any TillTerminal
    ) {
        random = SeededGenerator(seed: seed)
        service = Service()
        self.faults = faults
        self.isSerial = isSerial
        self.tells = tells
        self.make = make
        machine = make(TillMachine(lane: "main", installation: "test"))
    }

    func chance(_ perMille: Int) -> Bool { Int.random(in: 0..<1_000, using: &random) < perMille }

    func after(_ delay: ClosedRange<Int64>, _ run: @escaping (World) -> Void) {
        order += 1
        events.append((now + Int64.random(in: delay, using: &random), order, run))
    }

    func run() {
        var steps = 0
        while let next = events.indices.min(by: {
            (events[$0].time, events[$0].order) < (events[$1].time, events[$1].order)
        }) {
            steps += 1
            guard steps < 50_000 else { return note("does not end") }
            let event = events.remove(at: next)
            now = max(now, event.time)
            event.run(self)
        }
    }

    func note(_ text: @autoclosure () -> String) { if tells { story.append("\(now) \(text())") } }

    // MARK: - The machine

    func feed(_ input: TillInput) {
        note("→ \(input)")
        carryOut(machine.handle(input, at: now))
    }

    func feed(_ request: ProxyRequest, on connection: TillConnection) {
        live.insert(connection)
        note("→ \(request.path) \(connection.number)")
        carryOut(machine.request(request, on: connection, at: now))
    }

    private func carryOut(_ effects: [TillEffect]) {
        let begun = epoch
        for effect in effects {
            if chance(faults.ends) { end() }
            guard begun == epoch else { return }
            perform(effect)
        }
        if chance(faults.ends) { end() }
    }

    /// The program ends, and begins again from its ledger.
    private func end() {
        epoch += 1
        note("--- ends")
        timers = [:]
        let gone = live
        live = []
        unread = []
        for connection in gone { after(0...5) { world in world.till?.lost(connection, world) } }
        machine = make(
            TillMachine(
                lane: "main", installation: "test", counter: counter, attempts: Array(ledger.values),
                closedThrough: closedThrough))
        feed(.restored)
    }

    private func perform(_ effect: TillEffect) {
        note("  \(effect)")
        switch effect {
        case .send(let bytes, let connection, let isApproval): send(bytes, connection, isApproval)
        case .respond(let response, let connection): respond(response, connection)
        case .close(let connection):
            guard live.remove(connection) != nil else { break }
            after(1...20) { world in world.till?.lost(connection, world) }
        case .arm(let timer, let time): arm(timer, time)
        case .record(let attempt):
            ledger[attempt.number] = attempt
            counter = max(counter, attempt.number)
        case .spend(let number): counter = max(counter, number)
        case .closeBatch(let number): closedThrough = number
        case .start(let demand):
            starts[demand.key, default: 0] += 1
            service.begin(demand.key, demand.order, within: demand.confirmWithin, self)
        case .refuse(let key, let refusal): after(0...5) { $0.feed(.settled(key, .notPaid(refusal))) }
        case .lookUp(let key):
            if let attempt = ledger.values.first(where: { $0.key == key }) {
                service.begin(key, attempt.order, within: 30, self)
            }
        case .cancel(let key): service.cancel(key, self)
        case .confirm(let key): service.confirm(key, self)
        case .takeBack(let key, _): service.takeBack(key, self)
        case .reverse(let key): service.reverse(key, self)
        case .book(let booking, let key): service.book(booking, of: key, self)
        case .alarm(let alarm): alarms.append(alarm)
        }
    }

    private func arm(_ timer: TillTimer, _ time: Int64) {
        order += 1
        let own = order
        let begun = epoch
        timers[timer] = own
        after(time...time) { world in
            guard world.epoch == begun, world.timers[timer] == own else { return }
            world.timers[timer] = nil
            world.feed(.timer(timer))
        }
    }

    // MARK: - The wire

    func connect(peer: String = "10.0.0.7") -> TillConnection {
        connections += 1
        let connection = TillConnection(connections)
        live.insert(connection)
        feed(.connected(connection, peer: peer))
        return connection
    }

    func newExchange() -> TillConnection {
        connections += 1
        return TillConnection(connections)
    }

    /// A line keeps its order, in either direction.
    private func inOrder(_ connection: TillConnection, toTill: Bool, _ delay: Int64) -> Int64 {
        let time = max(now + delay, (toTill ? towardsTill : fromTill)[connection] ?? 0)
        if toTill { towardsTill[connection] = time } else { fromTill[connection] = time }
        return time - now
    }

    func isLive(_ connection: TillConnection) -> Bool { live.contains(connection) }

    /// What the till sends arrives in pieces.
    func sendFromTill(_ bytes: [UInt8], _ connection: TillConnection) {
        if chance(faults.cuts) { return cut(connection) }
        var rest = bytes[...]
        var delay: Int64 = 1
        while !rest.isEmpty {
            var piece = Array(rest.prefix(Int.random(in: 1...max(1, rest.count), using: &random)))
            rest = rest.dropFirst(piece.count)
            if chance(faults.noise) { piece[0] ^= 0x41 }
            delay += Int64.random(in: 0...10, using: &random)
            let arrival = inOrder(connection, toTill: false, delay)
            after(arrival...arrival) { world in
                if world.live.contains(connection) { world.feed(.bytes(piece, connection)) }
            }
        }
    }

    func closeFromTill(_ connection: TillConnection) {
        guard live.remove(connection) != nil else { return }
        let loss: TillInput.Loss = unread.remove(connection) == nil ? .closed : .reset
        after(0...20) { world in world.feed(.lost(connection, loss)) }
    }

    /// Both sides lose the connection, and what was on its way.
    ///
    /// - Parameter isAnswerLost: the terminal hears a reset, which it hears only of what was not read.
    func cut(_ connection: TillConnection, isAnswerLost: Bool = false) {
        guard !isSerial, live.remove(connection) != nil else { return }
        note("--- cut \(connection.number)")
        let isUnread = unread.remove(connection) != nil || isAnswerLost
        after(0...50) { world in world.till?.lost(connection, world) }
        after(0...3_000) { world in world.feed(.lost(connection, isUnread ? .reset : .closed)) }
    }

    private func send(_ bytes: [UInt8], _ connection: TillConnection, _ isApproval: Bool) {
        guard live.contains(connection) else {
            if isApproval { after(0...1) { $0.feed(.lost(connection, .closed)) } }
            return
        }
        if chance(faults.cuts) {
            cut(connection, isAnswerLost: true)
        } else {
            if isApproval { unread.insert(connection) }
            var bytes = bytes
            if chance(faults.noise), !bytes.isEmpty { bytes[bytes.count / 2] ^= 0x24 }
            let arrival = inOrder(connection, toTill: true, Int64.random(in: 2...30, using: &random))
            after(arrival...arrival) { world in
                guard world.live.contains(connection) else { return }
                world.unread.remove(connection)
                world.till?.received(bytes, connection, world)
            }
        }
        if isApproval {
            let begun = epoch
            after(0...0) { world in if world.epoch == begun { world.feed(.sent(connection)) } }
        }
    }

    private func respond(_ response: ProxyResponse, _ connection: TillConnection) {
        guard live.remove(connection) != nil else { return }
        let begun = epoch
        if chance(faults.cuts) {
            after(0...10) { world in if world.epoch == begun { world.feed(.lost(connection, .reset)) } }
            after(0...50) { world in world.till?.lost(connection, world) }
            return
        }
        after(0...10) { world in if world.epoch == begun { world.feed(.sent(connection)) } }
        after(0...10) { world in world.till?.received(response.body, connection, world) }
    }
}

/// The payment daemon: it knows of keys, and keeps or gives back money.
final class Service {
    private enum State { case running, approved, confirmed, back, no }

    private var states: [AttemptKey: State] = [:]
    private(set) var orders: [AttemptKey: TillOrder] = [:]
    private(set) var booked: [AttemptKey: Booking] = [:]
    private var refused: Set<AttemptKey> = []
    private(set) var asked: [AttemptKey: Int] = [:]

    /// Payments whose money stays with the shop.
    func kept(_ order: TillOrder? = nil) -> Int {
        states.count { $0.value == .confirmed && (order == nil || orders[$0.key] == order) }
    }

    var open: Int { states.count { $0.value == .running || $0.value == .approved } }

    func begin(_ key: AttemptKey, _ order: TillOrder, within: Int, _ world: World) {
        guard states[key] == nil else { return tell(key, world) }
        states[key] = .running
        orders[key] = order
        for _ in 0..<Int.random(in: 0...3, using: &world.random) {
            world.after(1...40_000) { world in
                let step = TillProgress.Step.allCases.randomElement(using: &world.random) ?? .other
                world.feed(.progress(key, TillProgress(step, text: "Bitte Karte vorhalten")))
            }
        }
        let isSlow = world.chance(60)
        world.after(isSlow ? 100_000...700_000 : 1...60_000) { [self] world in
            guard states[key] == .running else { return }
            settle(key, isApproved: world.chance(700), within, world)
        }
    }

    private func settle(_ key: AttemptKey, isApproved: Bool, _ within: Int, _ world: World) {
        states[key] = isApproved ? .approved : .no
        tell(key, world)
        guard isApproved else { return }
        // What nobody confirms in time comes back by itself.
        world.after(Int64(within) * 1_000...Int64(within) * 1_000) { [self] world in
            guard states[key] == .approved else { return }
            states[key] = .back
            tell(key, world)
        }
    }

    private func tell(_ key: AttemptKey, _ world: World) {
        guard let order = orders[key], let state = states[key] else { return }
        let outcome: TillOutcome
        switch state {
        case .running: return
        case .approved, .confirmed: outcome = .approved(Self.approval(order.amount))
        case .back: outcome = .notPaid(TillRefusal(.takenBack))
        case .no: outcome = .notPaid(TillRefusal(.declined, hostCode: 51, text: "Abgelehnt"))
        }
        world.after(0...30) { $0.feed(.settled(key, outcome)) }
        // An outcome that is told twice changes nothing.
        if world.chance(100) { world.after(0...500) { $0.feed(.settled(key, outcome)) } }
    }

    static func approval(_ amount: Int64) -> TillApproval {
        TillApproval(
            amount: amount, maskedCard: "************0010", authorisation: "123456", aid: "A0000000031010",
            network: .visa, reference: "000001", time: TillTime(month: 11, day: 22, hour: 12, minute: 0, second: 0),
            receipts: [
                TillReceipt(copy: .merchant, lines: ["Händlerbeleg", "Betrag 12,50 €"]),
                TillReceipt(copy: .customer, lines: ["Kundenbeleg"]),
            ])
    }

    func cancel(_ key: AttemptKey, _ world: World) {
        guard states[key] == .running, world.chance(600) else {
            return world.after(0...30) { $0.feed(.tooLate(key)) }
        }
        states[key] = .no
        tell(key, world)
    }

    func confirm(_ key: AttemptKey, _ world: World) {
        switch states[key] {
        case .approved, .confirmed:
            states[key] = .confirmed
            world.after(0...30) { $0.feed(.confirmed(key)) }
        case .running, .back, .no, nil: world.after(0...30) { $0.feed(.notConfirmed(key)) }
        }
    }

    func takeBack(_ key: AttemptKey, _ world: World) {
        switch states[key] {
        case .running, .approved, .confirmed: states[key] = .back
        case .back, .no, nil: break
        }
        world.after(0...30) { $0.feed(.takenBack(key)) }
    }

    /// Each booking once, and only one of a payment.
    func book(_ booking: Booking, of key: AttemptKey, _ world: World) {
        asked[booking.key, default: 0] += 1
        if booked[key] == nil, states[key] == .confirmed || states[key] == .approved, !refused.contains(booking.key) {
            if world.chance(150) { refused.insert(booking.key) } else { booked[key] = booking }
        }
        let answer: TillInput.Answer = booked[key]?.key == booking.key ? .done : .refused
        world.after(0...(world.chance(100) ? 400_000 : 5_000)) { $0.feed(.booked(key, answer)) }
    }

    func reverse(_ key: AttemptKey, _ world: World) {
        let isKept = states[key] == .confirmed || states[key] == .approved
        states[key] = .back
        world.after(0...2_000) { $0.feed(.reversed(key, isKept ? .done : .already)) }
    }
}
