// SPDX-License-Identifier: Apache-2.0
import Codes
import TestSupport
import Testing

@testable import ECR

/// What a till may give back in a day.
struct RefundLimitTests {
    private static let limit = RefundLimit(each: 300, day: 1_000)
    private let euro: CurrencyCode

    init() throws { euro = try #require(CurrencyCode("EUR")) }

    private func desk() -> TillMachine { TillMachine(lane: "main", installation: "1", refundLimit: Self.limit) }

    // MARK: - In the words of each protocol

    /// Refunds of 2.50 are approved until one is refused.
    private func givesBack<Terminal: TillTerminal>(
        _ terminal: inout Terminal, until refused: [UInt8],
        ask: (inout Terminal) -> [TillEffect], read: (inout Terminal, [TillEffect]) -> [[UInt8]]
    ) throws {
        for number in 1...5 {
            let effects = ask(&terminal)
            let open = try #require(terminal.desk.open?.key)
            let refusal: TillRefusal? = effects.lazy.compactMap {
                if case .refuse(open, let refusal) = $0 { refusal } else { nil }
            }.first
            #expect((refusal != nil) == (number == 5))
            #expect(effects.contains { if case .start = $0 { true } else { false } } == (number != 5))
            let outcome =
                refusal.map { TillOutcome.notPaid($0) }
                ?? .approved(TillApproval(amount: 250, reference: "1"))
            let said = read(&terminal, terminal.handle(.settled(open, outcome), at: 0))
            #expect(said.contains { $0.starts(with: refused) } == (number == 5), "\(number): \(said)")
        }
        #expect(terminal.desk.givenBack == 1_000)
        // Sales go on, and the next day begins anew.
        _ = terminal.handle(.day(20_261_125), at: 0)
        #expect(terminal.desk.givenBack == 0)
    }

    private static func sent(_ effects: [TillEffect]) -> [[UInt8]] {
        effects.compactMap { if case .send(let bytes, _, _) = $0 { bytes } else { nil } }
    }

    @Test func `Caisse-AP says that a credit above the day's limit is refused`() throws {
        let line = TillConnection(1)
        var terminal = CaisseTerminal(desk: desk(), settings: .init(currency: euro, kinds: [.sale, .refund]))
        _ = terminal.handle(.day(20_261_124), at: 0)
        _ = terminal.handle(.connected(line, peer: "p"), at: 0)
        let credit = "CZ0040300CJ012012345678901CA00201CE003978CD0011CB003250"
        try givesBack(&terminal, until: Array((credit + "AE00201AF00204").utf8)) { terminal in
            terminal.handle(.bytes(Array(credit.utf8), line), at: 0) + terminal.handle(.timer(.quiet(line)), at: 50)
        } read: { terminal, effects in
            Self.sent(effects + terminal.handle(.sent(line), at: 0))
        }
    }

    @Test func `Caisse E+ says that a credit above the day's limit is refused`() throws {
        let line = TillConnection(1)
        var terminal = EPlusTerminal(desk: desk(), settings: .init(currency: euro, kinds: [.sale, .refund]))
        _ = terminal.handle(.day(20_261_124), at: 0)
        _ = terminal.handle(.connected(line, peer: "p"), at: 0)
        let credit = EPlusFrame.bytes(of: Array("0100000250011978          A010B010".utf8))
        try givesBack(&terminal, until: EPlusFrame.bytes(of: Array("017000002501978          ".utf8))) { terminal in
            [[0x05], credit, [0x04]].flatMap { terminal.handle(.bytes($0, line), at: 0) }
        } read: { terminal, _ in
            // The till gives the line to the terminal, and acknowledges what it says.
            [[0x06], [0x06]].flatMap { Self.sent(terminal.handle(.bytes($0, line), at: 0)) }
        }
    }

    @Test func `ZVT says that a refund above the day's limit exceeds the maximum`() throws {
        let line = TillConnection(1)
        var terminal = ZVTTerminal(
            desk: desk(), settings: .init(currency: euro, terminal: 1, refunds: true), line: .tcp)
        _ = terminal.handle(.day(20_261_124), at: 0)
        _ = terminal.handle(.connected(line, peer: "p"), at: 0)
        let refund: [UInt8] = [0x06, 0x31, 0x0D, 0, 0, 0, 0x04, 0, 0, 0, 0, 0x02, 0x50, 0x49, 0x09, 0x78]
        try givesBack(&terminal, until: [0x04, 0x0F, 0x07, 0x27, 0xC3]) { terminal in
            terminal.handle(.bytes(refund, line), at: 0)
        } read: { terminal, effects in
            Self.sent(effects) + [0, 1].flatMap { Self.sent(terminal.handle(.bytes([0x80, 0, 0], line), at: $0)) }
        }
    }

    // MARK: - At random

    /// What may have moved money, as the payment service knows it: it has never heard of a desk.
    private struct Shop {
        var random: SeededGenerator
        var desk: TillMachine
        var today: UInt32 = 20_261_101
        var ledger: [UInt64: Attempt] = [:]
        var moved: [AttemptKey: (day: UInt32, amount: Int64)] = [:]
        /// What the desk has yet to hear.
        var coming: [TillInput] = []
        var wrong: [String] = []
        var refused = 0
        var restarts = 0

        mutating func chance(_ perCent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < perCent }

        mutating func run(_ steps: Int, euro: CurrencyCode) {
            hear(.day(today))
            for _ in 0..<steps {
                switch Int.random(in: 0..<10, using: &random) {
                case 0 where chance(30): restart()
                // Now and then the clock is set back.
                case 1: today = chance(10) ? today - 1 : chance(40) ? today + 1 : today
                case 2...4: ask(euro)
                case 5 where chance(30): reverse()
                default:
                    guard let index = coming.indices.randomElement(using: &random) else { continue }
                    hear(coming.remove(at: index))
                }
                for (day, all) in Dictionary(grouping: moved.values, by: \.day).mapValues({ $0.map(\.amount) })
                where all.reduce(0, +) > 1_000 {
                    wrong.append("\(all) on \(day)")
                }
            }
        }

        private mutating func ask(_ euro: CurrencyCode) {
            hear(.day(today))
            var effects: [TillEffect] = []
            let kind: TillOrder.Kind = chance(80) ? .refund : .sale
            let order = TillOrder(kind: kind, amount: .random(in: 1...330, using: &random), currency: euro)
            // As long as the desk has something to hear, it may have to count what did not move.
            let isUpToDate = coming.isEmpty
            _ = desk.ask(order, peer: "p", confirmWithin: 30, &effects)
            perform(effects, isUpToDate ? order : nil)
        }

        private mutating func reverse() {
            var effects: [TillEffect] = []
            guard let paid = desk.finished.filter(\.phase.isPaid).randomElement(using: &random) else { return }
            desk.reverse(paid.key, &effects)
            perform(effects)
        }

        private mutating func hear(_ input: TillInput) {
            var effects: [TillEffect] = []
            if case .settled(let key, let outcome) = input {
                guard let attempt = desk.settle(key, outcome, at: 0, &effects), attempt.phase == .approved else {
                    return perform(effects)
                }
                if chance(20) {
                    desk.giveUp(key, &effects)
                } else if desk.beginTelling(key, at: 0, confirmWithin: 30, &effects) {
                    desk.told(key, at: 0, &effects)
                }
            } else {
                desk.acknowledged(input, &effects)
            }
            perform(effects)
        }

        private mutating func perform(_ effects: [TillEffect], _ order: TillOrder? = nil) {
            for effect in effects {
                if chance(3) { return restart() }
                switch effect {
                case .record(let attempt): ledger[attempt.number] = attempt
                case .start(let demand):
                    if demand.order.kind == .refund { moved[demand.key] = (today, demand.order.amount) }
                    settle(demand.key, demand.order.amount, isApproved: chance(75))
                case .refuse(let key, let refusal):
                    refused += 1
                    let before = moved.values.filter { $0.day >= today }.reduce(0) { $0 + $1.amount }
                    if let order, order.amount <= 300, before + order.amount <= 1_000 {
                        wrong.append("\(order.amount) refused after \(before)")
                    }
                    coming.append(.settled(key, .notPaid(refusal)))
                case .lookUp(let key):
                    let amount = ledger.values.first { $0.key == key }?.order.amount ?? 0
                    settle(key, amount, isApproved: moved[key] != nil && chance(50))
                case .confirm(let key): coming.append(.confirmed(key))
                case .takeBack(let key, _):
                    moved[key] = nil
                    coming.append(.takenBack(key))
                case .reverse(let key):
                    // What was reversed stays so, however often it is asked for.
                    let isDone = moved[key] == nil || chance(60)
                    if isDone { moved[key] = nil }
                    coming.append(.reversed(key, isDone ? .done : .refused))
                case .cancel, .send, .respond, .close, .arm, .spend, .book, .closeBatch, .alarm: break
                }
            }
        }

        private mutating func settle(_ key: AttemptKey, _ amount: Int64, isApproved: Bool) {
            guard isApproved else {
                moved[key] = nil
                return coming.append(.settled(key, .notPaid(TillRefusal(.declined))))
            }
            coming.append(.settled(key, .approved(TillApproval(amount: amount, reference: "1"))))
        }

        /// The program ends between two effects, and begins again from its ledger.
        private mutating func restart() {
            restarts += 1
            coming = []
            desk = TillMachine(
                lane: "main", installation: "1", attempts: ledger.values.shuffled(using: &random),
                refundLimit: RefundLimitTests.limit)
            hear(.day(today))
            var effects: [TillEffect] = []
            desk.restore(keepsWaiting: chance(50), &effects)
            perform(effects)
        }
    }

    @Test
    func
        `however refunds end, and whenever the program ends, no day's refunds are above the limit, and none is refused below it`()
        throws
    {
        var (refused, restarts, given) = (0, 0, 0)
        for seed in 0..<400 as Range<UInt64> {
            var shop = Shop(random: SeededGenerator(seed: seed), desk: desk())
            shop.run(400, euro: euro)
            #expect(shop.wrong == [], "seed \(seed)")
            refused += shop.refused
            restarts += shop.restarts
            given += shop.moved.count
        }
        #expect(refused > 400 && restarts > 400 && given > 400)
    }
}
