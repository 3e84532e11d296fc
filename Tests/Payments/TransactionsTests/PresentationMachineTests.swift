// SPDX-License-Identifier: Apache-2.0
import POSAPI
import PaymentValues
import Testing

@testable import Transactions

/// What counts as a failed read (docs/internals/architecture.md): a presentation, not an activation of the chip.
struct PresentationMachineTests {
    private func play(_ scenario: Scenario, _ moves: Move...) -> Stage {
        var stage = scenario.start
        for move in moves { stage.play(move) }
        return stage
    }

    @Test("R1: a thousand activations of one presentation are no failed read, are not written down and told nobody")
    func activations() {
        var stage = play(.payment, .prepared, .written, .cardDetected, .written)
        let steps = stage.books.transaction.history.count
        for _ in 0..<1_000 {
            stage.play(.cardAwaited)
            stage.play(.cardDetected)
        }
        #expect(stage.asked == nil && !stage.hasReadFailed && stage.books.transaction.history.count == steps)
        for move in [Move.read, .connected, .written, .approved, .tapFinished, .written] { stage.play(move) }
        #expect(stage.books.transaction.state == .approved && stage.sends == 1 && stage.faults.isEmpty)
    }

    @Test("R1: a presentation that comes to nothing is one failed read, and the last one ends the payment")
    func presentations() {
        // Two tries in these stories.
        var stage = play(
            .payment, .prepared, .written, .cardDetected, .written, .cardAwaited, .cardDetected, .cardAwaited)
        stage.play(.cardLost)
        stage.play(.written)
        #expect(stage.hasReadFailed && stage.books.transaction.state == .armed)
        for move in [Move.cardDetected, .written, .cardAwaited, .cardLost, .written] { stage.play(move) }
        #expect(stage.books.transaction.state == .failed)
        #expect(stage.machine.transaction.error?.code == ErrorCode.readRetriesExhausted.rawValue)
        #expect(stage.faults.isEmpty)
    }

    @Test("R1: a presentation fails only after a read of it has, and once")
    func unheard() {
        for moves: [Move] in [[], [.cardDetected, .written], [.cardDetected, .written, .cardAwaited, .cardDetected]] {
            var stage = play(.payment, .prepared, .written)
            for move in moves + [.cardLost, .cardLost] { stage.play(move) }
            #expect(!stage.hasReadFailed && stage.asked == nil && stage.faults.isEmpty, "\(moves)")
        }
    }

    @Test("R1: a thousand tickets use up no try: each is told of, and a card pays after them")
    func tickets() throws {
        var stage = play(.payment, .prepared, .written)
        let steps = stage.books.transaction.history.count
        let told = stage.machine.take(.targetUnsupported(lane: "east"), at: stage.now)
        guard case .outward(.publish(let event), _) = told.first, told.count == 1 else {
            Issue.record("\(told)"); return
        }
        #expect(event.name == .readRetry && event.error?.code == ErrorCode.readCardUnsupported.rawValue)
        #expect(event.customerText == "Use another card")
        for _ in 0..<1_000 { stage.play(.ticket) }
        #expect(stage.asked == nil && !stage.hasReadFailed && stage.books.transaction.history.count == steps)
        for move in [Move.cardDetected, .written, .read, .connected, .written, .approved, .tapFinished, .written] {
            stage.play(move)
        }
        #expect(stage.books.transaction.state == .approved && stage.faults.isEmpty)
    }

    @Test("R4: a phone that wants its holder is told of before the field goes off, and no read has failed")
    func phone() {
        var stage = play(.payment, .prepared, .written, .cardDetected, .written, .seePhone, .cardAwaited)
        #expect(stage.asked?.changes.map(\.state) == [.armed])
        stage.play(.written)
        #expect(stage.books.transaction.state == .armed && !stage.hasReadFailed && stage.faults.isEmpty)
    }
}
