// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import EMV
import Testing

/// What `nfc-tap read` makes of a card at the edge of the field, in a time of the test's own.
struct InspectionEdgeTests {
    /// What became of an inspection, when, and what was shown.
    private struct Told {
        var end: CardInspectionOutcome.End?
        var milliseconds: UInt64 = 0
        var messages: [UIRequest.Message] = []
    }

    private static let visa = CardActivation(technology: .typeA, uid: [8, 1, 2, 3], sak: 0x20)

    private func inspection() -> CardInspection {
        CardInspection(terminal: .test, data: [DataObject(0x9A, [0x26, 0x11, 0x28])])
    }

    /// - Parameters:
    ///   - pace: what the reader takes for an activation.
    ///   - steady: when the card begins to answer.
    private func read(steady: UInt64, pace: UInt64) throws -> Told {
        var card = try #require(CardCatalogue.card(named: "visa"))
        var machine = inspection()
        var told = Told()
        func now() -> TapInstant { TapInstant(nanoseconds: told.milliseconds * 1_000_000) }
        var step = machine.start(now: now())
        for _ in 0..<10_000 {
            told.messages += step.signals.map(\.message)
            switch step.action {
            case .activate(let off):
                told.milliseconds += off + pace
                card.powerOn()
                step = machine.activated(Self.visa, now: now())
            case .transmit(let command):
                told.milliseconds += 2
                if told.milliseconds >= steady, case .answer(let bytes) = card.answer(command.bytes) {
                    step = machine.received(try ResponseAPDU(bytes), now: now())
                } else {
                    step = machine.cardLost(now: now())
                }
            case .finished(let outcome):
                told.end = outcome.end
                return told
            }
        }
        return told
    }

    @Test(
        "R1: a card at the edge of the field is read as soon as it is steady, however fast the reader is",
        arguments: [2, 25, 100, 450] as [UInt64])
    func steady(pace: UInt64) throws {
        for steady in [300, 900, 2_000, 3_900] as [UInt64] {
            let told = try read(steady: steady, pace: pace)
            #expect(told.end == .complete, "steady after \(steady) ms")
            // A presentation that is not over is nothing to tell of.
            let isTold = told.messages.contains(.presentCardAgain)
            if steady < 1_000 { #expect(!isTold) }
        }
    }

    @Test(
        "R1: a card that is never steady ends after three presentations, and is told of after each",
        arguments: [2, 25, 100, 450] as [UInt64])
    func neverSteady(pace: UInt64) throws {
        let told = try read(steady: .max, pace: pace)
        #expect(told.end == .torn)
        #expect((4_500..<4_500 + 3 * (pace + 160)).contains(told.milliseconds), "\(told.milliseconds) ms")
        #expect(told.messages.count { $0 == .presentCardAgain } == 2)
    }

    @Test("R1: a ticket before nfc-tap read is told of once, and uses up no try")
    func ticket() {
        var machine = inspection()
        let ticket = CardActivation(technology: .typeA, uid: [4, 1, 2, 3, 4, 5, 6], sak: 0x00)
        func at(_ milliseconds: UInt64) -> TapInstant { TapInstant(nanoseconds: milliseconds * 1_000_000) }
        var messages = machine.start(now: at(0)).signals.map(\.message)
        for time in stride(from: UInt64(0), to: 30_000, by: 200) {
            _ = machine.activated(ticket, now: at(time))
            let step = machine.cardLost(now: at(time + 2))
            messages += step.signals.map(\.message)
            guard case .activate = step.action else {
                Issue.record("ends after \(time) ms")
                return
            }
        }
        #expect(messages == [.presentCard, .insertSwipeOrTryAnotherCard])
        let hasMetCard = machine.hasMetCard
        #expect(hasMetCard)
    }

    @Test("R1: a card that has left is asked for again, once")
    func left() {
        var machine = inspection()
        func at(_ milliseconds: UInt64) -> TapInstant { TapInstant(nanoseconds: milliseconds * 1_000_000) }
        _ = machine.start(now: at(0))
        _ = machine.activated(Self.visa, now: at(0))
        #expect(machine.cardLost(now: at(10)).signals.isEmpty)
        #expect(machine.fieldEmptied(now: at(200)).signals.map(\.message) == [.presentCardAgain])
        #expect(machine.fieldEmptied(now: at(300)).signals.isEmpty)
    }
}
