// SPDX-License-Identifier: Apache-2.0
import PINDeviceAPI
import POSAPI
import PSPAPI
import PaymentValues
import Testing

@testable import Transactions

/// What a payment does whose issuer wants the PIN with its answer, by the shortest stories.
struct IssuerPINMachineTests {
    private let wanted: [Move] = [
        .begin, .prepared, .written, .cardDetected, .written, .readForIssuer, .connected, .written, .tapFinished,
        .declinedForPIN, .written,
    ]

    private func play(_ moves: [Move]) -> Stage {
        var stage = Scenario.issuerPIN.start
        for move in moves { stage.play(move) }
        #expect(stage.faults.isEmpty, "\(stage.faults)")
        return stage
    }

    @Test func `the issuer's wish is no end: the device asks, and the payment stays sent`() {
        let stage = play(wanted)
        #expect(stage.pins == 1 && stage.books.transaction.state == .sent)
        #expect(stage.books.pins.map(\.state) == [.asked] && stage.continuation == nil)
        #expect(stage.sent?.features == [.singleTap], "the issuer was told that it may ask")
    }

    @Test func `with the PIN the same read goes on under a key of its own, and what the issuer then says counts`() {
        let sent = play(wanted + [.pinEntered, .written])
        #expect(sent.continuation == Sample.pin.attempt && sent.books.pins.map(\.state) == [.asked, .sent])
        #expect(sent.books.authorizations.allSatisfy { $0.pin == nil && $0.features == nil })
        #expect(play(wanted + [.pinEntered, .written, .approved, .written]).books.transaction.state == .approved)
        let declined = play(wanted + [.pinEntered, .written, .declined, .written])
        #expect(declined.books.transaction.state == .declined)
        #expect(declined.books.transaction.result?.responseCode == "51")
    }

    @Test func `without a PIN the issuer's decline stands, whatever the reason`() {
        let ends: [(Move, String?, PINAttempt.State)] = [
            (.pinCancelled, nil, .cancelled), (.pinTimedOut, "pin.timed_out", .timedOut),
            (.pinFailed, "pin.device_failed", .failed), (.due, "pin.timed_out", .timedOut),
            (.cancel, nil, .cancelled), (.stop, nil, .cancelled), (.reverse, nil, .cancelled),
        ]
        for (move, code, attempt) in ends {
            let stage = play(wanted + [move, .written])
            let transaction = stage.books.transaction
            #expect(transaction.state == .declined && transaction.error?.code == code, "\(move)")
            #expect(transaction.result?.responseCode == "70", "\(move)")
            #expect(transaction.result?.next == [.otherInterface, .otherCard, .otherMethod], "\(move)")
            #expect(stage.books.pins.map(\.state) == [.asked, attempt], "\(move)")
            #expect(stage.continuation == nil && stage.openWishes.isEmpty && stage.reversalQuestion == 0)
        }
    }

    @Test func `a lost answer to the continuation is asked about, sent again under its key, and else taken back`() {
        let continued = wanted + [.pinEntered, .written]
        let found = play(continued + [.unusable, .written, .due, .approved, .written])
        #expect(found.books.transaction.state == .approved)
        let again = play(continued + [.unusable, .written, .due, .neverSeen])
        #expect(again.how == .resend && again.continuation == Sample.pin.attempt)
        // Declined by a service that has forgotten the first time proves nothing.
        let forgotten = play(continued + [.unusable, .written, .due, .neverSeen, .declined])
        #expect(forgotten.asked?.changes.map(\.state) == [.reversing])
        let nobody = play(continued + [.notDelivered, .written])
        #expect(nobody.books.transaction.state == .declined, "a connection that never stood leaves nothing to doubt")
    }

    @Test func `a wrong PIN may be entered twice in all, and not when the issuer allows none`() {
        let second = play(wanted + [.pinEntered, .written, .declinedForPIN, .written])
        #expect(second.pins == 2)
        let third = play(
            wanted + [
                .pinEntered, .written, .declinedForPIN, .written, .lastPINEntered, .written, .declinedForPIN, .written,
            ])
        #expect(third.pins == 2 && third.books.transaction.state == .declined)
        var none = Sample.wantsPIN
        none.pinAttemptsLeft = 0
        var stage = play(Array(wanted.dropLast(2)))
        _ = stage.machine.take(.replied(.answered(none), question: stage.question), at: stage.now)
        #expect(stage.machine.writing?.write.changes.map(\.state) == [.declined])
    }

    @Test func `nobody is asked ten seconds before the read is too old, nor without a device`() {
        var late = play(Array(wanted.dropLast(2)))
        late.pass(45_001)
        let effects = late.machine.take(.replied(.answered(Sample.wantsPIN), question: late.question), at: late.now)
        #expect(late.machine.writing?.write.changes.map(\.state) == [.declined], "\(effects)")
        let plain: [Move] = [
            .begin, .prepared, .written, .cardDetected, .written, .read, .connected, .written, .tapFinished,
            .declinedForPIN, .written,
        ]
        let without = play(plain)
        #expect(without.books.transaction.state == .declined && without.pins == 0 && without.sent?.features == nil)
    }

    @Test func `after a doubt nobody is asked, and a cancel before the wish counts`() {
        let doubt = play(Array(wanted.dropLast(2)) + [.unusable, .written, .due, .declinedForPIN])
        #expect(doubt.asked?.changes.map(\.state) == [.reversing] && doubt.pins == 0)
        let cancelled = play(Array(wanted.dropLast(2)) + [.cancel, .declinedForPIN, .written])
        #expect(cancelled.books.transaction.state == .declined && cancelled.pins == 0)
    }

    @Test func `a start that finds the customer asked knows of the decline, and takes nothing back`() {
        let second = wanted + [.pinEntered, .written, .declinedForPIN, .written]
        for moves in [wanted, second] {
            var stage = play(moves)
            stage.die(wasTaken: false)
            #expect(stage.asked?.changes.map(\.state) == [.declined])
            stage.settle()
            #expect(stage.faults.isEmpty && stage.books.transaction.state == .declined, "\(stage.faults)")
            #expect(stage.books.transaction.error?.code == "interrupted" && stage.reversalQuestion == 0)
        }
    }

    @Test func `a start that finds no end of what was sent takes back whatever may stand`() {
        // The wish has come, and died with who had heard it; the PIN is on its way; its answer was lost.
        let unknown = wanted + [.pinEntered, .written, .unusable, .written]
        for moves in [Array(wanted.dropLast()), wanted + [.pinEntered, .written], unknown] {
            var stage = play(moves)
            stage.die(wasTaken: false)
            #expect(stage.asked?.changes.map(\.state) == [.reversing])
            stage.settle()
            #expect(stage.faults.isEmpty && stage.books.transaction.state == .reversed, "\(stage.faults)")
        }
        // The note that the PIN goes out is on the disk, and the PIN may have gone.
        var noted = play(wanted + [.pinEntered])
        noted.die(wasTaken: true)
        #expect(noted.asked?.changes.map(\.state) == [.reversing])
    }

    @Test func `the customer has 30 seconds and no more than are left, and all of those where the till says so`() throws
    {
        for (age, isAccessible, seconds): (Int64, Bool, Int64?) in [
            (0, false, 30), (20_000, false, 30), (30_000, false, 25), (45_000, false, 10), (45_001, false, nil),
            (0, true, 55), (20_000, true, 35), (45_000, true, 10), (45_001, true, nil),
        ] {
            var demand = Scenario.issuerPIN.demand
            demand.isAccessible = isAccessible
            var stage = Stage(Sample.transaction(.purchase), demand)
            for move in wanted.dropLast(2) { stage.play(move) }
            // The read is older than the question: what is asked about it may take long.
            stage.pass(age)
            stage.play(.declinedForPIN)
            let write = try #require(stage.asked)
            let asked = stage.machine.take(.written(write.number), at: stage.now).askedPIN
            #expect(asked.time == seconds.map { Duration.seconds($0) }, "\(age) \(isAccessible)")
            #expect(asked.notice?.timeout == seconds.map(Int.init))
            #expect(asked.notice?.accessible == (isAccessible && seconds != nil ? true : nil))
        }
    }

    @Test func `a PIN that comes later than 55 seconds after the read is not sent, and the decline stands`() {
        for (late, isSent): (Int64, Bool) in [(25_000, true), (25_001, false)] {
            var stage = play(Array(wanted.dropLast(2)))
            stage.pass(30_000)
            stage.play(.declinedForPIN)
            stage.play(.written)
            stage.pass(late)
            stage.play(.pinEntered)
            stage.play(.written)
            #expect((stage.continuation != nil) == isSent)
            #expect(stage.books.transaction.state == (isSent ? .sent : .declined))
            #expect(stage.books.transaction.error?.code == (isSent ? nil : "pin.timed_out"))
        }
    }

    @Test func `a device that fails is told to stop, and one that is done is not`() {
        for (move, isTold): (Move, Bool) in [
            (.pinFailed, true), (.due, true), (.cancel, true), (.pinCancelled, false), (.pinTimedOut, false),
            (.pinEntered, false),
        ] {
            #expect(play(wanted + [move, .written]).withdrawals == (isTold ? 1 : 0), "\(move)")
        }
    }

    @Test func `a PIN of another entry is none, whoever brings it`() {
        var stage = play(wanted)
        _ = stage.machine.take(.pin(.entered(Sample.lastPIN), Sample.pin.attempt), at: stage.now)
        #expect(stage.machine.writing?.write.changes.map(\.state) == [.declined])
    }

    @Test func `the device hears that a try is the issuer's last`() throws {
        for (left, isLast) in [(nil, false), (2, false), (1, true)] as [(Int?, Bool)] {
            var stage = play(Array(wanted.dropLast(2)))
            var answer = Sample.wantsPIN
            answer.pinAttemptsLeft = left
            _ = stage.machine.take(.replied(.answered(answer), question: stage.question), at: stage.now)
            let write = try #require(stage.machine.writing?.write)
            let asked = stage.machine.take(.written(write.number), at: stage.now).askedPIN
            #expect(asked.demand?.isLastTry == isLast)
        }
    }

    @Test func `an answer for another entry, or after the end, changes nothing`() {
        #expect(play(wanted + [.pinOfAnother]).machine.isPINAwaited)
        #expect(play(wanted + [.lastPINEntered]).machine.isPINAwaited, "the second entry has not begun")
        let cancelled = play(wanted + [.cancel, .written, .pinEntered])
        #expect(cancelled.books.transaction.state == .declined && cancelled.continuation == nil)
        let second = play(wanted + [.pinEntered, .written, .declinedForPIN, .written, .pinEntered])
        #expect(second.machine.isPINAwaited && second.continuation == Sample.pin.attempt, "the first block again")
    }
}
