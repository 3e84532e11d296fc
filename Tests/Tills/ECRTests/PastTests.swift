// SPDX-License-Identifier: Apache-2.0
import Codes
import TestSupport
import Testing

@testable import ECR

/// What a desk still knows of payments that it does not keep whole.
struct PastTests {
    private let euro: CurrencyCode

    init() throws { euro = try #require(CurrencyCode("EUR")) }

    /// Two desks hear the same: one keeps as little as it may, the other forgets nothing. Whatever a till can ask, both answer
    /// the same.
    private struct Pair {
        private(set) var random: SeededGenerator
        let euro: CurrencyCode
        var short = TillMachine(lane: "main", installation: "1", refundLimit: limit, reversalTime: 60_000, keeps: 3)
        var whole = TillMachine(lane: "main", installation: "1", refundLimit: limit, reversalTime: 60_000, keeps: .max)
        var now: Int64 = 0
        var today: UInt32 = 20_261_124
        var wrong: [String] = []
        var met: Set<String> = []

        private static let limit = RefundLimit(each: 300, day: 1_000)

        init(seed: UInt64, euro: CurrencyCode) {
            random = SeededGenerator(seed: seed)
            self.euro = euro
        }

        private mutating func chance(_ perCent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < perCent }

        private mutating func both<Answer: Equatable>(
            _ what: String, _ ask: (inout TillMachine, inout [TillEffect]) -> Answer
        ) -> Answer {
            var (one, other): ([TillEffect], [TillEffect]) = ([], [])
            let answer = ask(&short, &one)
            if answer != ask(&whole, &other) || one != other { wrong.append("\(what) at \(now)") }
            return answer
        }

        mutating func step() {
            now += Int64.random(in: 0...20_000, using: &random)
            switch Int.random(in: 0..<20, using: &random) {
            case 0 where chance(20):
                _ = both("close") { desk, effects in desk.closeBatch(&effects) == () }
                met.insert("closed")
            case 1 where chance(30):
                today = chance(20) ? today - 1 : today + 1
                let day = today
                _ = both("day") { desk, effects in desk.acknowledged(.day(day), &effects) == () }
            case 2: reverse()
            case 3...5: book()
            case 6 where chance(20): restart()
            default: pay()
            }
            compare()
        }

        private mutating func pay() {
            let kind = [TillOrder.Kind.sale, .sale, .refund, .reservation].randomElement(using: &random) ?? .sale
            let name = kind == .sale && chance(60) ? "order \(Int.random(in: 0..<60, using: &random))" : nil
            let order = TillOrder(
                kind: kind, amount: kind == .sale ? 500 : .random(in: 1...200, using: &random), currency: euro,
                identity: name)
            let admission = both("ask") { desk, effects in
                switch desk.ask(order, peer: "p", confirmWithin: 30, &effects) {
                case .started(let key): return "\(key)"
                case .same(let attempt): return "same \(attempt.number) \(attempt.phase) \(attempt.order)"
                case .wait: return "wait"
                case .busy: return "busy"
                }
            }
            if admission.hasPrefix("same") { met.insert("same") }
            guard let open = whole.open else { return }
            let network = [TillNetwork.visa, .girocard, nil].randomElement(using: &random) ?? nil
            let (isApproved, isDelivered, isConfirmed, now) = (chance(80), chance(90), chance(90), now)
            let isAbove = kind == .refund && whole.isAboveLimit(order)
            if isAbove { met.insert("above") }
            _ = both("payment") { desk, effects in
                guard isApproved, !isAbove else {
                    return desk.settle(open.key, .notPaid(TillRefusal(.declined)), at: now, &effects)?.phase
                }
                let approval = TillApproval(amount: order.amount, network: network, reference: "\(open.number)")
                _ = desk.settle(open.key, .approved(approval), at: now, &effects)
                guard isDelivered, desk.beginTelling(open.key, at: now, confirmWithin: 30, &effects) else {
                    desk.giveUp(open.key, &effects)
                    desk.acknowledged(.takenBack(open.key), &effects)
                    return desk.attempt(open.key)?.phase
                }
                desk.told(open.key, at: now, &effects)
                desk.acknowledged(isConfirmed ? .confirmed(open.key) : .notConfirmed(open.key), &effects)
                return desk.attempt(open.key)?.phase
            }
        }

        /// As a till may: by receipt, within the time.
        private mutating func reverse() {
            let isPast = { [now] (attempt: Attempt) in now - (attempt.settledAt ?? .min / 2) > 60_000 }
            guard let found = whole.batch.filter({ !isPast($0) && $0.phase.isPaid }).randomElement(using: &random),
                found.order.kind != .reservation
            else { return }
            met.insert("reversed")
            let answer = [TillInput.Answer.done, .already, .refused].randomElement(using: &random) ?? .done
            _ = both("reverse") { desk, effects in
                desk.reverse(found.key, &effects)
                desk.acknowledged(.reversed(found.key, answer), &effects)
                return desk.lastFollowed?.number
            }
        }

        private mutating func book() {
            let receipt = UInt64.random(in: 1...(whole.counter + 1), using: &random)
            let (isDone, part) = (chance(80), Int64.random(in: 0...1, using: &random))
            let found = both("reservation") { desk, effects in
                let found = desk.reservation(receipt: receipt)
                if let found, found.isHeld {
                    desk.book(found.key, amount: found.order.amount * part, &effects)
                    desk.acknowledged(.booked(found.key, isDone ? .done : .refused), &effects)
                }
                return [found?.number, found?.booking?.number].map { $0 ?? 0 } + [desk.lastFollowed?.number ?? 0]
            }
            if found[1] > 0 { met.insert("booked again") }
        }

        private mutating func restart() {
            func again(_ desk: TillMachine, keeps: Int) -> TillMachine {
                var desk = TillMachine(
                    lane: "main", installation: "1", counter: desk.counter,
                    attempts: (desk.finished + (desk.open.map { [$0] } ?? [])).shuffled(), past: desk.past,
                    closedThrough: desk.closedThrough, refundLimit: Self.limit, reversalTime: 60_000, keeps: keeps)
                var effects: [TillEffect] = []
                desk.acknowledged(.day(today), &effects)
                return desk
            }
            short = again(short, keeps: 3)
            whole = again(whole, keeps: .max)
            met.insert("restarted")
        }

        private mutating func compare() {
            let answers = ZVTAnswer(terminal: 1, currency: euro)
            if answers.totals(short.turnover) != answers.totals(whole.turnover) {
                wrong.append("totals: \(short.turnover), \(whole.turnover)")
            }
            if short.givenBack != whole.givenBack { wrong.append("refunds \(short.givenBack), \(whole.givenBack)") }
            if short.held.map(\.number) != whole.held.map(\.number) { wrong.append("held") }
            if short.last?.number != whole.last?.number { wrong.append("last") }
        }
    }

    @Test func `a desk that keeps little answers as one that forgets nothing`() {
        var met: Set<String> = []
        var shortest = 0
        for seed in 0..<60 as Range<UInt64> {
            var pair = Pair(seed: seed, euro: euro)
            for _ in 0..<400 where pair.wrong.isEmpty { pair.step() }
            #expect(pair.wrong == [], "seed \(seed)")
            met.formUnion(pair.met)
            shortest = max(shortest, pair.whole.finished.count / max(1, pair.short.finished.count))
        }
        #expect(met == ["closed", "same", "reversed", "booked again", "restarted", "above"])
        #expect(shortest > 3)
    }

    private func sold(_ desk: inout TillMachine, _ order: TillOrder, at now: Int64 = 0) throws -> AttemptKey {
        var effects: [TillEffect] = []
        guard case .started(let key) = desk.ask(order, peer: "p", confirmWithin: 30, &effects) else { throw Refused() }
        let approval = TillApproval(amount: order.amount, network: .visa, reference: "r\(desk.counter)")
        _ = desk.settle(key, .approved(approval), at: now, &effects)
        #expect(desk.beginTelling(key, at: now, confirmWithin: 30, &effects))
        desk.told(key, at: now, &effects)
        desk.acknowledged(.confirmed(key), &effects)
        return key
    }

    private struct Refused: Error {}

    @Test func `totals are right beyond ten thousand payments of a batch, and little of them is kept whole`() throws {
        var desk = TillMachine(lane: "main", installation: "1")
        let order = TillOrder(kind: .sale, amount: 1_234, currency: euro)
        for number in 0..<12_000 as Range<Int64> { _ = try sold(&desk, order, at: number * 30_000) }
        #expect(desk.finished.count == TillMachine.kept)
        let totals = ZVTAnswer(terminal: 1, currency: euro).totals(desk.turnover)
        // 12,000 × 12.34; more than 255 of one kind have no place in the single totals.
        #expect(totals.bytes == [0x04, 0x0F, 0x09, 0x27, 0, 0x04, 0, 0x00, 0x14, 0x80, 0x80, 0x00])
        var effects: [TillEffect] = []
        desk.closeBatch(&effects)
        _ = try sold(&desk, order)
        #expect(desk.turnover.sums.map(\.amount) == [1_234] && desk.turnover.first == 12_001)
    }

    @Test func `a sale of a name is paid once, however many came after it and however often the program ended`() throws
    {
        var desk = TillMachine(lane: "main", installation: "1")
        func named(_ number: Int) -> TillOrder {
            TillOrder(kind: .sale, amount: 280, currency: euro, identity: "order \(number)")
        }
        let first = try sold(&desk, named(1))
        for number in 2...500 { _ = try sold(&desk, named(number), at: Int64(number) * 30_000) }
        for _ in 0..<2 {
            for number in [1, 2, 100, 499, 500] {
                var effects: [TillEffect] = []
                guard case .same(let attempt) = desk.ask(named(number), peer: "p", confirmWithin: 30, &effects) else {
                    throw Refused()
                }
                #expect(attempt.number == UInt64(number) && attempt.phase.isPaid && effects.isEmpty)
                #expect(attempt.approval?.reference == "r\(number)")
                if number == 1 { #expect(attempt.key == first) }
            }
            var other = named(1)
            other.amount = 281
            var copy = desk
            _ = try sold(&copy, other)
            desk = TillMachine(
                lane: "main", installation: "1", counter: desk.counter, attempts: desk.finished, past: desk.past)
        }
    }

    @Test func `what can be reversed stays whole as long as it can, however many came after it`() throws {
        var desk = TillMachine(lane: "main", installation: "1", reversalTime: 900_000)
        let order = TillOrder(kind: .sale, amount: 280, currency: euro)
        let first = try sold(&desk, order)
        for _ in 0..<300 { _ = try sold(&desk, order, at: 900_000) }
        #expect(desk.attempt(first)?.phase == .confirmed)
        _ = try sold(&desk, order, at: 900_001)
        #expect(desk.attempt(first) == nil)
    }

    @Test(arguments: [Attempt.Phase.told, .takingBack, .reversing])
    func `what the daemon has not answered stays whole, and is asked for again after a restart`(
        phase: Attempt.Phase
    ) throws {
        let key = AttemptKey(lane: "main", installation: "1", counter: 1)
        let order = TillOrder(kind: .sale, amount: 280, currency: euro)
        let waiting = Attempt(key: key, number: 1, order: order, peer: "p", phase: phase)
        var desk = TillMachine(lane: "main", installation: "1", attempts: [waiting])
        for number in 1...200 { _ = try sold(&desk, order, at: Int64(number) * 100_000) }
        #expect(desk.finished.count == TillMachine.kept + 1 && desk.finished.first?.key == key)
        desk = TillMachine(lane: "main", installation: "1", attempts: desk.finished, past: desk.past)
        var effects: [TillEffect] = []
        desk.restore(keepsWaiting: false, &effects)
        let expected: TillEffect =
            switch phase {
            case .told: .confirm(key)
            case .takingBack: .takeBack(key, .notDelivered)
            default: .reverse(key)
            }
        #expect(effects == [expected])
    }
}
