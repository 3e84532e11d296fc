// SPDX-License-Identifier: Apache-2.0
import Testing
import Wire

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

    @Test func `a start that finds it takes back whatever may stand`() {
        for moves in [wanted, wanted + [.pinEntered, .written]] {
            var stage = play(moves)
            stage.die(wasTaken: false)
            #expect(stage.asked?.changes.map(\.state) == [.reversing])
            stage.settle()
            #expect(stage.faults.isEmpty && stage.books.transaction.state == .reversed, "\(stage.faults)")
        }
    }
}
