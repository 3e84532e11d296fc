// SPDX-License-Identifier: Apache-2.0
import Codes
import Testing

@testable import ECR

/// The table of repeats, row by row.
struct TillMachineTests {
    private var desk = TillMachine(lane: "main", installation: "7f3a", counter: 41)
    private var effects: [TillEffect] = []
    private let order: TillOrder
    private let named: TillOrder

    init() throws {
        let euro = try #require(CurrencyCode("EUR"))
        order = TillOrder(kind: .sale, amount: 280, currency: euro)
        named = TillOrder(kind: .sale, amount: 280, currency: euro, identity: "order 1, payment 1")
    }

    private mutating func ask(_ order: TillOrder) -> TillMachine.Admission {
        desk.ask(order, peer: "p", confirmWithin: 30, &effects)
    }

    private mutating func start(_ order: TillOrder) throws -> AttemptKey {
        guard case .started(let key) = ask(order) else { throw Refused() }
        return key
    }

    private struct Refused: Error {}

    private mutating func approve(_ key: AttemptKey, at now: Int64 = 0) -> Attempt? {
        desk.settle(key, .approved(TillApproval(amount: 280, maskedCard: "****1", reference: "1")), at: now, &effects)
    }

    private mutating func pay(_ order: TillOrder, at now: Int64 = 0) throws -> AttemptKey {
        let key = try start(order)
        _ = approve(key, at: now)
        #expect(desk.beginTelling(key, at: now, confirmWithin: 30, &effects))
        desk.told(key, at: now, &effects)
        return key
    }

    @Test func `a key is made of lane, installation and counter, and of nothing in the request`() {
        #expect(AttemptKey(lane: "bar", installation: "7f3a", counter: 12).text == "ecr-bar-7f3a-12")
        #expect(AttemptKey(lane: "Bär 1", installation: "a", counter: 1).text == "ecr-B_228_r_32_1-a-1")
        #expect(
            AttemptKey(lane: "a-1", installation: "2", counter: 3)
                != AttemptKey(lane: "a", installation: "1-2", counter: 3))
    }

    @Test mutating func `an attempt is on disk before the daemon is asked, under the next number`() throws {
        let key = try start(order)
        #expect(key.text == "ecr-main-7f3a-42")
        guard case .record(let attempt)? = effects.first, case .start(let demand)? = effects.last else {
            throw Refused()
        }
        #expect(effects.count == 2 && attempt.key == key && demand.key == key)
        #expect(demand.deadline == 90 && demand.confirmWithin == 30)
    }

    @Test mutating func `two equal sales one after the other are two payments`() throws {
        let first = try pay(order)
        let second = try pay(order)
        #expect(first != second)
    }

    @Test mutating func `during a sale another one is refused, and the same one joins`() throws {
        let key = try start(order)
        #expect(ask(order) == .busy)
        _ = desk.settle(key, .notPaid(TillRefusal(.declined)), at: 0, &effects)
        let other = try start(named)
        #expect(ask(order) == .busy)
        guard case .same(let attempt) = ask(named) else { throw Refused() }
        #expect(attempt.key == other)
    }

    @Test mutating func `a sale that was paid is paid once, however often it is asked for by its name`() throws {
        let key = try pay(named)
        _ = try pay(order)
        guard case .same(let attempt) = ask(named) else { throw Refused() }
        #expect(attempt.key == key)
    }

    @Test mutating func `a sale of a name that was not paid, or was taken back, is a new payment`() throws {
        let first = try start(named)
        _ = desk.settle(first, .notPaid(TillRefusal(.declined)), at: 0, &effects)
        let second = try pay(named)
        desk.takeBack(second, .malfunction, &effects)
        let third = try start(named)
        #expect(Set([first, second, third]).count == 3)
    }

    @Test mutating func `after one that was given up everybody waits for its end`() throws {
        let key = try start(order)
        desk.giveUp(key, &effects)
        #expect(effects.last == .cancel(key))
        #expect(ask(order) == .wait)
        #expect(ask(named) == .wait)
        #expect(approve(key) == nil)
        #expect(effects.last == .takeBack(key, .notDelivered))
        _ = try start(order)
    }

    @Test mutating func `an approval of another sum is no approval`() throws {
        let key = try start(order)
        let attempt = desk.settle(key, .approved(TillApproval(amount: 279, reference: "1")), at: 0, &effects)
        #expect(attempt?.phase == .takingBack)
        #expect(effects.last == .takeBack(key, .otherAmount))
    }

    @Test mutating func `an approval is told while the daemon still keeps it, and taken back after that`() throws {
        let key = try start(order)
        _ = approve(key, at: 1_000)
        #expect(desk.beginTelling(key, at: 26_000, confirmWithin: 30, &effects))
        #expect(!desk.beginTelling(key, at: 26_001, confirmWithin: 30, &effects))
        #expect(effects.last == .takeBack(key, .late))
    }

    @Test mutating func `an approval that is heard of late is told within what is left of the daemon's time`() throws {
        for (age, isTold) in [(Int64(25_000), true), (25_001, false), (.max, false), (-5_000, true)] {
            let key = try start(order)
            var approval = TillApproval(amount: 280, maskedCard: "****1", reference: "1")
            approval.age = age
            _ = desk.settle(key, .approved(approval), at: 1_000_000, &effects)
            #expect(desk.beginTelling(key, at: 1_000_000, confirmWithin: 30, &effects) == isTold, "\(age)")
            if isTold { desk.giveUp(key, &effects) } else { #expect(effects.last == .takeBack(key, .late)) }
        }
    }

    @Test mutating func `the same card and sum within a minute calls a person, and is not refused`() throws {
        _ = try pay(order, at: 0)
        #expect(!effects.contains { if case .alarm = $0 { true } else { false } })
        let second = try pay(order, at: 60_000)
        #expect(effects.contains(.alarm(.sameCardAgain(second))))
        effects = []
        _ = try pay(order, at: 120_001)
        #expect(!effects.contains { if case .alarm = $0 { true } else { false } })
    }

    @Test(arguments: Attempt.Phase.allCases) func `after a restart each attempt is brought to its end`(
        phase: Attempt.Phase
    ) throws {
        let key = AttemptKey(lane: "main", installation: "7f3a", counter: 7)
        let attempt = Attempt(key: key, number: 7, order: order, peer: "p", phase: phase)
        var desk = TillMachine(lane: "main", installation: "7f3a", attempts: [attempt])
        var effects: [TillEffect] = []
        desk.restore(keepsWaiting: false, &effects)
        let outward = effects.filter { !$0.isRecord }
        switch phase {
        case .running, .givenUp: #expect(outward == [.lookUp(key), .cancel(key)] && desk.open?.phase == .givenUp)
        case .approved: #expect(outward == [.takeBack(key, .notDelivered)] && desk.open == nil)
        case .telling:
            #expect(outward == [.alarm(.endedWhileTelling(key)), .takeBack(key, .notDelivered)] && desk.open == nil)
        case .told: #expect(outward == [.confirm(key)])
        case .takingBack: #expect(outward == [.takeBack(key, .notDelivered)])
        case .reversing: #expect(outward == [.reverse(key)])
        case .confirmed, .takenBack, .notPaid, .reversed: #expect(effects == [])
        }
        #expect(desk.counter == 7)
    }
}
