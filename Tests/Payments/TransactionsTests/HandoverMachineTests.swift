// SPDX-License-Identifier: Apache-2.0
import POSAPI
import PSPAPI
import PaymentValues
import Testing

@testable import Transactions

@Suite("The machine of a tap whose read goes on as an operation")
struct HandoverMachineTests {
    private let now = Sample.start

    /// Goes on to a card that is being read.
    private func reading() throws -> TransactionMachine {
        var demand = TransactionParameters(kind: .refund, owner: Principal(uid: 1))
        demand.isHandedOver = true
        var machine = TransactionMachine(Sample.transaction(.refund), demand, at: now)
        _ = machine.take(.begin, at: now)
        for input in [Input.prepared(["east"]), .won(lane: "east"), .cardDetected] {
            for case .write(let write) in machine.take(input, at: now) {
                _ = machine.take(.written(write.number), at: now)
            }
        }
        try #require(machine.transaction.state == .reading)
        return machine
    }

    private func write(_ effects: [Effect]) -> Write? {
        for case .write(let write) in effects { return write }
        return nil
    }

    private func outward(_ effects: [Effect]) -> [Outward] {
        effects.compactMap { if case .outward(let outward, _) = $0 { outward } else { nil } }
    }

    @Test func `What is read is on the disk before it is handed over, once, and nothing is asked or sent from here`()
        throws
    {
        var machine = try reading()
        let read = try #require(Sample.read(machine.transaction, at: now.wall))
        let sealing = machine.take(.read(read), at: now)
        let sealed = try #require(write(sealing))
        #expect(sealed.changes.map(\.state) == [.sealed] && sealed.changes[0].authorization == read.request)
        #expect(outward(sealing).isEmpty)
        let out = outward(machine.take(.written(sealed.number), at: now))
        #expect(out == [.passRefundRead(read.request), .settleReader])
        #expect(!machine.isOver)
        let end = machine.take(.tapFinished, at: now)
        #expect(machine.isOver && machine.transaction.state == .sealed && machine.due == nil)
        let names = outward(end).compactMap { if case .publish(let event) = $0 { event.name } else { nil } }
        #expect(names == [.readCompleted, .paymentAuthorizing])
        for input in [Input.due, .connected, .replied(.answered(Sample.answer(.approved)), question: 1)] {
            #expect(machine.take(input, at: now).isEmpty)
        }
    }

    @Test func `A reader that hangs holds it up for no longer than any other`() throws {
        var machine = try reading()
        let read = try #require(Sample.read(machine.transaction, at: now.wall))
        let sealed = try #require(write(machine.take(.read(read), at: now)))
        _ = machine.take(.written(sealed.number), at: now)
        let due = try #require(machine.due)
        var later = now
        later.monotonic = due
        _ = machine.take(.due, at: later)
        #expect(machine.isOver)
    }

    @Test func `Handed over it cannot be cancelled, and before it can`() throws {
        var machine = try reading()
        let read = try #require(Sample.read(machine.transaction, at: now.wall))
        let sealed = try #require(write(machine.take(.read(read), at: now)))
        _ = machine.take(.written(sealed.number), at: now)
        let answer = outward(machine.take(.cancel(.client, RequestID(1)), at: now))
        #expect(answer == [.answer(RequestID(1), .tooLate(.sealed, becomesReversal: false))])

        var armed = try reading()
        _ = armed.take(.cancel(.client, RequestID(1)), at: now)
        let ended = try #require(write(armed.take(.ended(.readCancelled, withoutApplication: false), at: now)))
        #expect(ended.changes.map(\.state) == [.cancelled])
    }

    @Test func `A read that the journal does not take ends it, and nothing is handed over`() throws {
        var machine = try reading()
        let read = try #require(Sample.read(machine.transaction, at: now.wall))
        let sealed = try #require(write(machine.take(.read(read), at: now)))
        let out = outward(machine.take(.notWritten(sealed.number, .full), at: now))
        #expect(machine.transaction.state == .failed)
        #expect(!out.contains { if case .passRefundRead = $0 { true } else { false } })
    }

    @Test func `A start that finds it sealed ends it: nothing has left`() throws {
        var recorded = Sample.transaction(.refund)
        recorded.state = .sealed
        recorded.history = [TransactionState.created, .armed, .reading, .sealed].map {
            Transaction.Step(state: $0, at: now.wall)
        }
        var machine = TransactionMachine(
            recorded: recorded, TransactionParameters(kind: .refund, owner: Principal(uid: 1)), at: now)
        let failed = try #require(write(machine.take(.recover(), at: now)))
        #expect(failed.changes.map(\.state) == [.failed])
        #expect(failed.changes[0].error?.code == "interrupted")
    }
}
