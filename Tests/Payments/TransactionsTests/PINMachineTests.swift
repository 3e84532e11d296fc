// SPDX-License-Identifier: Apache-2.0
import PINDeviceAPI
import POSAPI
import PSPAPI
import PaymentValues
import Testing

@testable import Transactions

/// What a payment does whose card wants a PIN, by the shortest stories.
struct PINMachineTests {
    private let asked: [Move] = [.begin, .prepared, .written, .cardDetected, .written, .readForPIN, .written]

    private func play(_ moves: [Move]) -> Stage {
        var stage = Scenario.pin.start
        for move in moves { stage.play(move) }
        #expect(stage.faults.isEmpty, "\(stage.faults)")
        return stage
    }

    @Test func `nothing is sent before the PIN is there, and then it goes with the request and nowhere else`() {
        let waiting = play(asked)
        #expect(waiting.machine.isPINAwaited && waiting.sent == nil)
        #expect(waiting.books.transaction.state == .sealed, "a start that finds it knows that nothing has left")
        let sent = play(asked + [.pinEntered, .connected, .written])
        #expect(sent.sent?.pin == Sample.pin)
        #expect(sent.books.authorizations.count == 1)
        #expect(sent.books.authorizations.allSatisfy { $0.pin == nil }, "a PIN block is never written down")
    }

    @Test func `whatever ends the entry ends the payment, and nothing was sent`() {
        let ends: [(Move, TransactionState, String?, PINAttempt.State)] = [
            (.pinCancelled, .cancelled, nil, .cancelled), (.pinTimedOut, .failed, "pin.timed_out", .timedOut),
            (.pinFailed, .failed, "pin.device_failed", .failed), (.due, .failed, "pin.timed_out", .timedOut),
            (.cancel, .cancelled, nil, .cancelled), (.stop, .cancelled, nil, .cancelled),
        ]
        for (move, state, code, attempt) in ends {
            let stage = play(asked + [move, .written])
            #expect(stage.books.transaction.state == state, "\(move)")
            #expect(stage.books.transaction.error?.code == code, "\(move)")
            #expect(stage.books.pins.map(\.state) == [.asked, attempt], "\(move)")
            #expect(stage.sends == 0 && stage.openWishes.isEmpty)
        }
        #expect(play(asked + [.pinCancelled, .written]).books.transaction.cancelledBy == .customer)
        #expect(play(asked + [.cancel, .written]).books.transaction.cancelledBy == .client)
    }

    @Test func `a PIN that comes later than 55 seconds after the read is not sent`() {
        var stage = play(asked)
        stage.pass(55_001)
        stage.play(.pinEntered)
        stage.play(.written)
        #expect(stage.sends == 0)
        #expect(stage.books.transaction.error?.code == "pin.timed_out")
    }

    @Test func `the customer has 30 seconds, and all 55 where the till says so`() throws {
        for (isAccessible, seconds) in [(false, 30), (true, 55)] {
            var demand = Scenario.pin.demand
            demand.isAccessible = isAccessible
            var stage = Stage(Sample.transaction(.purchase), demand)
            for move in self.asked.dropLast() { stage.play(move) }
            let write = try #require(stage.asked)
            let asked = stage.machine.take(.written(write.number), at: stage.now).askedPIN
            #expect(asked.time == .seconds(seconds) && asked.notice?.timeout == seconds)
            #expect(asked.notice?.accessible == (isAccessible ? true : nil))
            #expect(stage.machine.due == stage.now.monotonic + Int64(seconds) * 1_000 + 2_000)
        }
    }

    @Test func `a device that fails is told to stop, and one that is done is not`() {
        for (move, isTold): (Move, Bool) in [
            (.pinFailed, true), (.due, true), (.cancel, true), (.pinCancelled, false), (.pinTimedOut, false),
        ] {
            #expect(play(asked + [move, .written]).withdrawals == (isTold ? 1 : 0), "\(move)")
        }
        #expect(play(asked + [.pinEntered, .connected, .written]).withdrawals == 0)
    }

    @Test func `a PIN of another entry is none, whoever brings it`() {
        var stage = play(asked)
        _ = stage.machine.take(.pin(.entered(Sample.lastPIN), Sample.pin.attempt), at: stage.now)
        #expect(stage.machine.writing?.write.changes.map(\.state) == [.failed])
    }

    @Test func `an answer for another entry, or after the end, changes nothing`() {
        #expect(play(asked + [.pinOfAnother]).machine.isPINAwaited)
        let cancelled = play(asked + [.cancel, .written, .pinEntered, .connected])
        #expect(cancelled.books.transaction.state == .cancelled && cancelled.sends == 0)
    }

    @Test func `a cancel that came while the card was read counts before anybody is asked for a PIN`() {
        let stage = play([.begin, .prepared, .written, .cardDetected, .written, .cancel, .readForPIN, .written])
        #expect(stage.books.transaction.state == .cancelled && stage.pins == 0)
        #expect(stage.openWishes.isEmpty)
    }

    @Test func `a payment with a PIN is never stored for later, since its PIN is on no disk`() {
        let away = play(asked + [.pinEntered, .notConnected, .written])
        #expect(away.books.transaction.state == .failed)
        let passedOn = play(asked + [.tapFinished, .pinEntered, .connected, .written, .notDelivered, .written])
        #expect(passedOn.books.transaction.state == .declined)
    }

    @Test func `a start that finds it while the PIN was awaited ends it, and once it was sent takes it back`() {
        var waiting = play(asked)
        waiting.die(wasTaken: false)
        waiting.settle()
        #expect(waiting.faults.isEmpty, "\(waiting.faults)")
        #expect(waiting.books.transaction.state == .failed)
        var sent = play(asked + [.pinEntered, .connected, .written])
        sent.die(wasTaken: false)
        #expect(sent.asked?.changes.map(\.state) == [.reversing])
    }
}
