// SPDX-License-Identifier: Apache-2.0
import POSAPI
import PSPAPI
import PaymentValues
import Testing

@testable import Transactions

@Suite("The machine when the wall clock is wrong (rule R2)")
struct MachineClockTests {
    private let start = Sample.start

    /// So long after the start by the clock that nobody sets, and by the wall clock.
    private func moment(_ seconds: Int64, wall: Int64) -> Moment {
        Moment(monotonic: start.monotonic + seconds * 1_000, wall: start.wall.advanced(bySeconds: wall))
    }

    private func recorded(_ states: [TransactionState], confirmBy: Int64? = nil) -> Transaction {
        var transaction = Sample.transaction(.purchase)
        transaction.history = states.map { Transaction.Step(state: $0, at: start.wall) }
        transaction.state = states.last ?? .created
        transaction.updatedAt = start.wall
        transaction.confirmation = confirmBy.map { Confirmation(due: start.wall.advanced(bySeconds: $0)) }
        return transaction
    }

    private let sent: [TransactionState] = [.created, .armed, .reading, .sealed, .sent]

    @Test(
        "A3 a reversal that another run planned is due at its time, or at once where that is too far away to be right",
        arguments: [(0, 10), (9, 1), (10, 0), (500, 0), (-365 * 86_400, 0), (-600, 0), (-590, 600)] as [(Int64, Int64)])
    func reversal(wall: Int64, left: Int64) {
        let plan = ReversalPlan(reason: .timeout, attempts: 3, due: start.wall.advanced(bySeconds: 10))
        var machine = TransactionMachine(
            recorded: recorded(sent + [.approved, .reversing]),
            TransactionParameters(kind: .sale, owner: Principal(uid: 1_000)),
            reversal: plan,
            at: moment(0, wall: wall))
        _ = machine.take(.recover(), at: moment(0, wall: wall))
        #expect(machine.due == start.monotonic + left * 1_000)
    }

    @Test(
        "A3 an approval of another run waits for its confirmation for as long as it has, and not before it was given",
        arguments: [(0, 60), (29, 31), (31, 30), (59, 30), (60, 30), (4_000, 30), (-1, 30), (-3_600, 30)]
            as [(Int64, Int64)])
    func unconfirmed(wall: Int64, left: Int64) {
        let machine = TransactionMachine(
            recorded: recorded(sent + [.approved], confirmBy: 60),
            TransactionParameters(kind: .sale, owner: Principal(uid: 1_000)),
            at: moment(0, wall: wall))
        #expect(machine.due == start.monotonic + left * 1_000 + 1)
        #expect(machine.isConfirmable(at: moment(left, wall: -3_600)) == true)
        let late = Moment(monotonic: start.monotonic + left * 1_000 + 1, wall: start.wall)
        #expect(machine.isConfirmable(at: late) == false)
    }

    /// A power cut after the till was told and before the journal had its confirmation; whatever its clock says afterwards.
    @Test(
        "W2: the time without power is none in which a till could confirm: 30 s from the start, and no more",
        arguments: [(1, 4_000), (30, 31), (30, 86_400), (30, -86_400), (600, 601), (5, 6)] as [(Int64, Int64)])
    func powerCut(within: Int64, wall: Int64) {
        var machine = TransactionMachine(
            recorded: recorded(sent + [.approved], confirmBy: within),
            TransactionParameters(kind: .sale, owner: Principal(uid: 1_000)), at: moment(0, wall: wall))
        let early = moment(30, wall: wall + 30)
        #expect(machine.isConfirmable(at: early) == true)
        #expect(machine.take(.due, at: early).isEmpty, "it is not taken back while a confirmation counts")
        let late = Moment(monotonic: early.monotonic + 1, wall: early.wall)
        #expect(machine.isConfirmable(at: late) == false)
        let effects = machine.take(.due, at: late)
        #expect(
            effects.contains {
                if case .write(let write) = $0 { write.changes.map(\.state) == [.reversing] } else { false }
            })
    }

    @Test("W2: an approval that was confirmed, or needs no confirmation, gets no time from a start")
    func nothingToConfirm() {
        for isConfirmed in [false, true] {
            var transaction = recorded(sent + [.approved], confirmBy: isConfirmed ? 30 : nil)
            transaction.confirmation?.confirmedAt = start.wall
            let machine = TransactionMachine(
                recorded: transaction, TransactionParameters(kind: .sale, owner: Principal(uid: 1_000)),
                at: moment(0, wall: 60))
            #expect(machine.due == nil && machine.isConfirmable(at: moment(0, wall: 60)) == nil)
        }
    }

    /// What came of a sale whose answer was lost with the power, when the service that is asked has never seen it.
    private func forwarded(
        _ hours: Int64, at clock: @escaping @Sendable (Int64, Moment) -> Timestamp?, then right: Int64
    ) -> (behind: Stage, right: Stage) {
        var stage = Scenario.stored.start
        for move in [Move.forward, .written] { stage.play(move) }
        let sent = stage.now.wall
        stage.now.wall = sent.advanced(bySeconds: hours * 3_600)
        stage.latest = { clock(0, $0) }
        stage.die(wasTaken: false)
        let asked = stage.how
        for move in [Move.neverSeen, .written] where stage.asked != nil || move == .neverSeen { stage.play(move) }
        if asked != .query { stage.faults.append("the service is not asked first") }
        let behind = stage
        stage.now.wall = sent.advanced(bySeconds: right * 3_600)
        stage.latest = { clock(1, $0) }
        for move in [Move.forward, .neverSeen, .written] where stage.asked != nil || move != .written {
            stage.play(move)
        }
        return (behind, stage)
    }

    @Test(
        "W11: a clock that nobody believes makes no key too old: the service is asked, and a person is told by a clock that is believed",
        arguments: [-1, -8_760, 8_760] as [Int64])
    func unbelieved(hours: Int64) {
        for (right, open) in [(1, .neverSeen), (25, .keyLifeOver)] as [(Int64, OpenReason)] {
            let (behind, stage) = forwarded(hours, at: { $0 == 0 ? nil : $1.wall }, then: right)
            #expect(behind.books.open == nil && !behind.isResent, "\(hours) hours")
            #expect(behind.books.transaction.state == .unknown && behind.openWishes.isEmpty)
            #expect(stage.books.open == open && stage.isResent == (open == .neverSeen), "\(right) hours later")
            #expect(behind.faults.isEmpty && stage.faults.isEmpty)
        }
    }

    @Test("W11: nor does one that is believed and stands before what was sent")
    func before() {
        let (behind, stage) = forwarded(-1, at: { $1.wall }, then: 2)
        #expect(behind.books.open == nil && !behind.isResent)
        #expect(stage.books.open == .neverSeen && stage.isResent)
        #expect(behind.faults.isEmpty && stage.faults.isEmpty)
    }
}
