// SPDX-License-Identifier: Apache-2.0
import Testing
import Wire

@testable import Transactions

/// What was found wrong once, each by the shortest story that shows it.
struct MachineTests {
    private func play(_ scenario: Scenario, _ moves: Move...) -> Stage {
        var stage = scenario.start
        for move in moves { stage.play(move) }
        return stage
    }

    @Test func `a stored payment stays stored where the journal does not take that it goes out`() {
        for failure in [Move.full, .failed] {
            let stage = play(.stored, .forward, failure)
            #expect(stage.faults.isEmpty)
            #expect(stage.machine.transaction.state == .stored)
            #expect(stage.openWishes.isEmpty, "its forwarder waits for ever")
        }
        let declined = play(.stored, .declinedInQueue, .forward, .written)
        #expect(declined.openWishes.isEmpty, "its forwarder waits for ever")
    }

    @Test func `a card that is read where none was detected ends the payment in the journal too`() {
        for card in [Move.read, .declinedByCard] {
            let stage = play(.payment, .prepared, .written, card, .written)
            #expect(stage.books.transaction.state == .failed)
            #expect(stage.machine.isOver)
        }
    }

    @Test func `a read of passes never authorises anything`() {
        let stage = play(.loyalty, .prepared, .written, .cardDetected, .written, .read, .written)
        #expect(stage.books.transaction.state == .failed)
    }

    @Test func `the first answer to a question stands`() {
        let stage = play(
            .payment, .prepared, .written, .cardDetected, .written, .read, .connected, .written, .approved, .declined,
            .tapFinished, .written)
        #expect(stage.books.transaction.state == .approved)
    }

    @Test func `a reversal that the disk took late has its full time for the acknowledgement`() {
        var stage = play(
            .payment, .prepared, .written, .cardDetected, .written, .read, .connected, .written, .tapFinished, .cancel,
            .approved)
        for _ in 0..<60 {
            stage.play(.full)
            stage.play(.due)
        }
        stage.play(.written)
        #expect(stage.books.transaction.state == .reversing)
        #expect((stage.machine.due ?? 0) - stage.now.monotonic >= 5_000)
        stage.play(.acknowledged)
        stage.play(.written)
        #expect(stage.books.transaction.state == .reversed)
    }

    /// Which attempt a phone that wants its holder can end in, and whether the phone is what it ended of.
    private static let attempts: [([Move], TransactionState, CardholderMessage?)] = [
        ([.seePhone, .cardAwaited, .written, .timedOut], .failed, .seePhone),
        ([.seePhone, .cardAwaited, .written, .cancel, .withdrawn], .cancelled, .seePhone),
        ([.seePhone, .unreadable], .failed, .seePhone),
        // The phone lies there and asks again: its answer is still awaited.
        ([.seePhone, .cardAwaited, .written, .cardDetected, .written, .timedOut], .failed, .seePhone),
        // Another card came, and could not be read.
        ([.seePhone, .cardAwaited, .written, .cardDetected, .written, .unreadable], .failed, nil),
        ([.otherMessage, .cardAwaited, .written, .timedOut], .failed, nil),
        ([.unreadable], .failed, nil),
    ]

    @Test(arguments: attempts)
    func `an attempt that ends while a phone waits for its holder keeps that, in the books and in its last event`(
        moves: [Move], state: TransactionState, message: CardholderMessage?
    ) throws {
        var stage = play(.payment, .prepared, .written, .cardDetected, .written)
        for move in moves { stage.play(move) }
        stage.play(.written)
        #expect(stage.books.transaction.state == state)
        #expect(stage.machine.transaction.message == message)
        #expect(stage.faults.isEmpty)
    }

    @Test func `a phone that wants its holder is no failed read, however its tap ends`() {
        for moves: [Move] in [[.seePhone, .unreadable], [.seePhone, .cardAwaited, .written, .timedOut]] {
            var stage = play(.payment, .prepared, .written, .cardDetected, .written)
            for move in moves { stage.play(move) }
            #expect(!stage.hasReadFailed)
        }
        #expect(play(.payment, .prepared, .written, .cardDetected, .written, .unreadable).hasReadFailed)
    }

    @Test func `nothing of a card is in the words of a contradiction`() throws {
        var stage = Scenario.payment.start
        let read = try #require(Sample.read(stage.machine.transaction, at: stage.now.wall))
        let effects = stage.machine.take(.read(read), at: stage.now)
        let words = effects.compactMap { if case .local(.log(let found)) = $0 { found.what } else { nil } }
        #expect(words == ["read"])
    }

    @Test func `an approval can be confirmed in its last moment after a restart`() throws {
        let stage = Scenario.unconfirmed.start
        let due = try #require(stage.machine.due)
        #expect(due - stage.now.monotonic == 90_001)
    }

    @Test func `a late answer to an earlier round is none to a later one`() {
        var stage = play(.stored, .forward, .written, .neverSeen, .refused, .written)
        let earlier = stage.question
        stage.play(.forward)
        stage.play(.written)
        #expect(stage.question > earlier)
        #expect(stage.faults.isEmpty)
    }

    @Test func `what runs is not recovered, and what was never stored is not forwarded`() {
        let armed = play(.payment, .prepared, .written, .recover)
        #expect(armed.asked == nil)
        let doubted = play(
            .payment, .prepared, .written, .cardDetected, .written, .read, .connected, .written, .tapFinished,
            .unusable,
            .written, .cancel, .forward)
        #expect(doubted.openWishes.isEmpty)
        #expect(doubted.faults.isEmpty)
    }
}
