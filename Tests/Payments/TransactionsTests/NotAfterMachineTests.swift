// SPDX-License-Identifier: Apache-2.0
import POSAPI
import PSPAPI
import PaymentValues
import Testing

@testable import Transactions

@Suite("A wait for a card that ends at a time of the wall clock")
struct NotAfterMachineTests {
    private let start = Sample.start

    private func machine(_ type: TransactionType = .purchase, seconds: Int64, deadline: Int = 60) -> TransactionMachine
    {
        var demand = TransactionParameters(kind: .sale, owner: Principal(uid: 1_000))
        demand.deadline = deadline
        demand.notAfter = start.moment(of: start.wall.advanced(bySeconds: seconds))
        return TransactionMachine(Sample.transaction(type), demand, at: start)
    }

    /// So long after the start by the clock that nobody sets, and by the wall clock.
    private func moment(_ seconds: Int64, wall: Int64? = nil) -> Moment {
        Moment(
            monotonic: start.monotonic + seconds * 1_000, wall: start.wall.advanced(bySeconds: wall ?? seconds))
    }

    private func states(_ effects: [Effect]) -> [TransactionState] {
        effects.flatMap { (effect) -> [TransactionState] in
            if case .write(let write) = effect { write.changes.map(\.state) } else { [] }
        }
    }

    @Test(
        "N1: what was prepared only after its time never arms, whichever clock says so",
        arguments: [(8, nil), (9, nil), (100, nil), (8, -3_600), (3, 8), (3, 4_000)] as [(Int64, Int64?)])
    func slowStart(seconds: Int64, wall: Int64?) {
        for type in [TransactionType.purchase, .refund, .verification, .loyalty] {
            var machine = machine(type, seconds: 8)
            _ = machine.take(.begin, at: start)
            let effects = machine.take(.prepared(["east"]), at: moment(seconds, wall: wall))
            #expect(states(effects) == [.failed])
            for case .write(let write) in effects {
                #expect(write.changes.first?.error?.code == ErrorCode.requestTooLate.rawValue)
            }
        }
    }

    @Test(
        "N1: a slow start shortens the wait, and a clock that is set back does not lengthen it",
        arguments: [
            (0, nil, 8), (3, nil, 5), (7, nil, 1), (3, -3_600, 5), (3, 6, 2), (0, -600, 8),
        ] as [(Int64, Int64?, Int64)])
    func shortened(seconds: Int64, wall: Int64?, left: Int64) {
        var machine = machine(seconds: 8)
        _ = machine.take(.begin, at: start)
        let then = moment(seconds, wall: wall)
        #expect(machine.demand.cardTime(at: then) == left * 1_000)
        #expect(states(machine.take(.prepared(["east"]), at: then)) == [.armed])
        // With what the reader may take beyond it.
        #expect(machine.presentation == nil || machine.isWriting)
        _ = machine.take(.written(1), at: then)
        #expect(machine.due == then.monotonic + left * 1_000 + 15_000)
    }

    @Test("N1: the shorter of the two limits holds, and without a time the deadline alone")
    func both() {
        #expect(machine(seconds: 100, deadline: 30).demand.cardTime(at: start) == 30_000)
        #expect(machine(seconds: 20, deadline: 30).demand.cardTime(at: start) == 20_000)
        #expect(machine(seconds: -1, deadline: 30).demand.cardTime(at: start) == 0)
        var free = TransactionParameters(kind: .sale, owner: Principal(uid: 1_000))
        free.deadline = 30
        #expect(free.cardTime(at: moment(0, wall: 4_000_000)) == 30_000)
        free.notAfter = start.moment(of: Timestamp(milliseconds: .max))
        #expect(free.cardTime(at: start) == 30_000)
        free.notAfter = start.moment(of: Timestamp(milliseconds: .min))
        #expect(free.cardTime(at: start) == 0)
    }

    @Test("N1: a card that comes after the machine has slept over the time pays for nothing")
    func slept() {
        for (wall, expected) in [(8, TransactionState.reading), (3_600, .failed)] as [(Int64, TransactionState)] {
            var machine = machine(seconds: 8)
            _ = machine.take(.begin, at: start)
            _ = machine.take(.prepared(["east"]), at: start)
            _ = machine.take(.written(1), at: start)
            let then = moment(3, wall: wall)
            _ = machine.take(.won(lane: "east"), at: then)
            #expect(states(machine.take(.cardDetected, at: then)) == [expected])
        }
    }
}
