// SPDX-License-Identifier: Apache-2.0
import ECR
import MDB

/// One sale of a vending machine to which something can happen yet, as the ledger keeps it.
struct Vend: Codable, Equatable, Sendable {
    /// What the daemon has to hear of it, however often this program ends meanwhile.
    enum Debt: String, Codable, Sendable {
        /// The goods are out, or the machine has not said otherwise.
        case keep
        /// Nobody has anything for it.
        case giveBack
    }

    let key: AttemptKey
    var sale: MDBSale
    /// The machine may still say something of it.
    var isOpen = true
    var debt: Debt?

    /// Nothing more can happen to it.
    var isOver: Bool { !isOpen && debt == nil }
}

/// What stands between a vending machine's peripheral and the daemon, without I/O: each sale has a key, and what is owed for it is written
/// down before the daemon hears of it.
struct VendingTerminal: Sendable {
    enum Effect: Equatable, Sendable {
        /// Right now, or not at all.
        case send([UInt16])
        /// On disk before any effect behind it.
        case record(Vend)
        case ask(TillEffect)
        case arm(MDBTimer, milliseconds: Int64)
        case alarm(Alarm)
    }

    /// Somebody has to look.
    enum Alarm: Equatable, Sendable {
        /// No goods came, and the money was not given back.
        case moneyWithoutGoods(AttemptKey)
        /// The goods are out, and the daemon has not kept the money: it was not told in time.
        case goodsWithoutMoney(AttemptKey)
    }

    private(set) var wire: MDBWire
    private(set) var vends: [UInt64: Vend]
    private let till: TillsFile.Till
    private let installation: String
    /// Approved since this program began.
    private var approved: Set<UInt64> = []

    /// Milliseconds since its approval after which a sale is given up: what is left of the daemon's time is for the goods.
    private static let late: Int64 = 30_000
    /// Seconds before the machine's patience ends, for the payment service.
    private static let margin = 5

    init(_ till: TillsFile.Till, _ vending: TillsFile.Till.Vending, _ contents: TillLedger.Contents, at now: UInt64) {
        wire = MDBWire(MDBPeripheral(vending.settings, counter: contents.counter), at: now)
        (self.till, installation, vends) = (till, contents.installation, contents.vends)
    }

    // MARK: - What happens

    /// Once, before anything else.
    mutating func restored() -> [Effect] {
        let open = vends.values.filter(\.isOpen).sorted { $0.sale.number < $1.sale.number }
        // One at a time was open, unless the ledger was damaged.
        for vend in open.dropLast() {
            vends[vend.sale.number]?.isOpen = false
            vends[vend.sale.number]?.debt = [.told, .sold].contains(vend.sale.phase) ? .keep : .giveBack
        }
        let owed = vends.values.filter { $0.debt != nil }.sorted { $0.sale.number < $1.sale.number }
        return carry(
            wire.handle(.restored(open.last?.sale)), changed: open.dropLast().map(\.sale.number),
            asks: owed.flatMap(payment))
    }

    /// - Parameter now: before the look at which nothing waited.
    mutating func quiet(at now: UInt64) -> [Effect] { carry(wire.quiet(at: now)) }

    mutating func receive(_ bytes: [UInt8]) -> [Effect] { carry(wire.receive(bytes)) }

    mutating func fired(_ timer: MDBTimer) -> [Effect] { carry(wire.handle(.timer(timer))) }

    /// - Returns: what is to be written now; `nil` where it would begin too late.
    mutating func answer(_ words: [UInt16], at now: UInt64) -> [UInt8]? { wire.answer(words, at: now) }

    /// What the daemon has said.
    mutating func handle(_ input: TillInput) -> [Effect] {
        switch input {
        case .settled(let key, let outcome): return settled(key, outcome)
        case .confirmed(let key): return confirmed(key, [])
        case .notConfirmed(let key): return confirmed(key, [.alarm(.goodsWithoutMoney(key))])
        case .reversed(let key, let answer):
            guard let vend = vend(key), answer != .unknown else { return [] }
            let isBack = answer != .refused
            return paid(vend, [isBack ? .reversed(vend.sale.number) : .notReversed(vend.sale.number)])
                + (isBack ? [] : [.alarm(.moneyWithoutGoods(key))])
        case .progress(let key, let progress):
            guard let vend = vend(key), progress.step == .reversed else { return [] }
            // By somebody else, before the machine has heard of the approval.
            return carry(wire.handle(.denied(vend.sale.number)))
        // Of a till's line and its desk.
        case .restored, .connected, .bytes, .lost, .sent, .timer, .tooLate, .takenBack, .booked, .identified, .receipts,
            .day:
            return []
        }
    }

    private mutating func confirmed(_ key: AttemptKey, _ alarms: [Effect]) -> [Effect] {
        guard let vend = vend(key) else { return [] }
        // Its failure was heard meanwhile.
        guard vend.debt == .keep else { return payment(vend) }
        return paid(vend, []) + alarms
    }

    private func vend(_ key: AttemptKey) -> Vend? { vends.values.first { $0.key == key } }

    private mutating func settled(_ key: AttemptKey, _ outcome: TillOutcome) -> [Effect] {
        guard let vend = vend(key) else { return [] }
        let number = vend.sale.number
        switch outcome {
        case .notPaid:
            // Whatever had to go back was never taken, or is on its way.
            if vend.debt == .giveBack { return paid(vend, [.denied(number), .reversed(number)]) }
            return carry(wire.handle(.denied(number)))
        case .approved(let approval):
            approved.insert(number)
            if vend.debt == .giveBack { return payment(vend) }
            // Told again: the machine has it, or the daemon is being told that it is kept.
            guard vend.isOpen, vend.sale.phase == .asked else { return [] }
            // A part of the sum is no payment.
            guard approval.amount == vend.sale.amount, approval.age < Self.late else {
                vends[number]?.debt = .giveBack
                return carry(
                    wire.handle(.denied(number)), changed: [number], asks: [.ask(.reverse(key))])
            }
            return carry(wire.handle(.approved(number)))
        }
    }

    /// The daemon has answered what was owed.
    private mutating func paid(_ vend: Vend, _ inputs: [MDBInput]) -> [Effect] {
        vends[vend.sale.number]?.debt = nil
        return carry(inputs.flatMap { wire.handle($0) }, changed: [vend.sale.number])
    }

    /// What the daemon is asked for what is owed.
    private func payment(_ vend: Vend) -> [Effect] {
        switch vend.debt {
        case .keep: [.ask(.confirm(vend.key))]
        // Of an earlier run: it may wait for a card yet, or be approved.
        case .giveBack:
            approved.contains(vend.sale.number)
                ? [.ask(.reverse(vend.key))] : [.ask(.cancel(vend.key)), .ask(.lookUp(vend.key))]
        case nil: []
        }
    }

    // MARK: - What follows

    /// - Parameters:
    ///   - changed: sales that are not as they were written.
    ///   - asks: of the daemon, behind what is written.
    private mutating func carry(
        _ effects: [MDBEffect], changed: [UInt64] = [], asks: [Effect] = []
    ) -> [Effect] {
        var (done, changed, asks): ([Effect], Set<UInt64>, [Effect]) = ([], Set(changed), asks)
        for effect in effects {
            switch effect {
            case .send(let words): done += records(&changed) + [.send(words)]
            case .arm(let timer, let time): done.append(.arm(timer, milliseconds: time))
            case .record(let sale?):
                let new = Vend(key: key(sale.number), sale: sale)
                vends[sale.number, default: new].sale = sale
                changed.insert(sale.number)
            case .record(nil):
                for vend in vends.values where vend.isOpen {
                    vends[vend.sale.number]?.isOpen = false
                    changed.insert(vend.sale.number)
                }
            case .start(let sale, let seconds):
                let order = TillOrder(kind: .sale, amount: sale.amount, currency: till.currency)
                let deadline = max(1, Int(wire.peripheral.settings.responseSeconds) - Self.margin)
                let demand = StartRequest(
                    key: key(sale.number), order: order, deadline: deadline, confirmWithin: seconds)
                asks.append(.ask(.start(demand)))
            case .confirm(let number):
                owe(.keep, number, &changed)
                asks += vends[number].map(payment) ?? []
            case .reverse(let number):
                // A confirmation that is under way is answered first.
                let isConfirming = vends[number]?.debt == .keep
                owe(.giveBack, number, &changed)
                if !isConfirming { asks += vends[number].map(payment) ?? [] }
            case .cancel(let number):
                owe(.giveBack, number, &changed)
                // Its outcome comes by itself.
                asks += vends[number].map { [.ask(.cancel($0.key))] } ?? []
            // No card is read before a machine asks.
            case .ask, .release: break
            }
        }
        return done + records(&changed) + asks
    }

    private mutating func owe(_ debt: Vend.Debt, _ number: UInt64, _ changed: inout Set<UInt64>) {
        vends[number]?.debt = debt
        changed.insert(number)
    }

    /// Each once, as it is now: half of a change is nowhere.
    private mutating func records(_ changed: inout Set<UInt64>) -> [Effect] {
        let written = changed.sorted().compactMap { vends[$0] }
        changed = []
        for vend in written where vend.isOver {
            vends[vend.sale.number] = nil
            approved.remove(vend.sale.number)
        }
        return written.map(Effect.record)
    }

    private func key(_ number: UInt64) -> AttemptKey {
        AttemptKey(lane: till.lane, installation: installation, counter: number)
    }
}
