// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import PaymentValues
import ReaderCore
import ReaderVirtual
import Synchronization
import TapSession
import Testing

@testable import TapDaemon

@Suite("Several lanes that wait for one card", .timeLimit(.minutes(5)))
struct LaneRaceTests {
    private func steps(_ race: LaneRace) async -> [String] {
        var words: [String] = []
        for await _ in race.news {
            for step in race.takeProgress() { words.append(word(step)) }
        }
        return words
    }

    private func word(_ step: TapProgress) -> String {
        switch step {
        case .won(let lane): "won \(lane)"
        case .left(let lane, _): "left \(lane)"
        case .ended(.reader(let error)): "ended \(error)"
        case .ended: "ended"
        case .waiting(let lane, _): "waiting \(lane)"
        case .endedWithPasses: "passes"
        case .cardLeft, .signal, .loyaltySignal, .passes, .result: "more"
        }
    }

    @Test("The first card wins, the others are cancelled at that moment, and only the winner is heard from then on")
    func first() async {
        let race = LaneRace(["a", "b", "c"])
        #expect(race.place(of: "b").claim())
        #expect(!race.place(of: "a").claim() && !race.place(of: "c").claim())
        #expect(race.place(of: "b").claim(), "the same card may be read again")
        #expect(race.place(of: "a").cancellation.isCancelled && race.place(of: "c").cancellation.isCancelled)
        #expect(!race.place(of: "b").cancellation.isCancelled)
        race.place(of: "a").yield(.ended(.reader(.cancelled)))
        race.place(of: "b").yield(.endedWithPasses)
        #expect(!race.othersAreFree.hasFired)
        race.place(of: "a").finish()
        race.place(of: "c").finish()
        #expect(race.othersAreFree.hasFired)
        race.place(of: "b").finish()
        #expect(await steps(race) == ["won b", "passes"])
    }

    @Test("However many cards come in the same moment, exactly one wins", arguments: [2, 8, 64])
    func sameMoment(count: Int) async {
        let names = (0..<count).map { "lane-\($0)" }
        for _ in 0..<200 {
            let race = LaneRace(names)
            let winners = await withTaskGroup(of: Bool.self) { group in
                for name in names { group.addTask { race.place(of: name).claim() } }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(winners == 1)
            #expect(names.count { race.place(of: $0).cancellation.isCancelled } == count - 1)
        }
    }

    @Test("What a lane reports while somebody listens arrives once and in its order, and the end comes after all of it")
    func inOrder() async {
        let reports = (0..<100).map { "step \($0)" }
        for _ in 0..<100 {
            let race = LaneRace(["a"])
            async let told = steps(race)
            let place = race.place(of: "a")
            #expect(place.claim())
            for report in reports { place.yield(.waiting(report, .cardLeft)) }
            place.finish()
            #expect(await told == ["won a"] + reports.map { "waiting \($0)" })
        }
    }

    @Test("Cancelled before a card: no card can win any more, and nobody waits for a thread that hangs")
    func cancelled() async {
        let race = LaneRace(["a", "b"])
        race.cancel()
        #expect(!race.place(of: "a").claim())
        #expect(await steps(race) == ["ended \(ReaderError.cancelled)"])
        #expect(race.isDecided.hasFired && race.winner == nil)
    }

    @Test("Cancelled after a card has won: that card is read to its end")
    func tooLate() async {
        let race = LaneRace(["a"])
        #expect(race.place(of: "a").claim())
        race.cancel()
        race.place(of: "a").yield(.endedWithPasses)
        race.place(of: "a").finish()
        #expect(await steps(race) == ["won a", "passes"])
    }

    @Test("A lane that drops out leaves the others waiting; the last one ends it, with the time being over where it is")
    func droppedOut() async {
        let race = LaneRace(["a", "b"])
        race.place(of: "a").yield(.ended(.reader(.timedOut)))
        race.place(of: "a").finish()
        #expect(!race.isDecided.hasFired)
        race.place(of: "b").yield(.ended(.reader(.detached)))
        race.place(of: "b").finish()
        #expect(race.isDecided.hasFired)
        #expect(await steps(race) == ["left a", "left b", "ended \(ReaderError.timedOut)"])
    }

    @Test("Threads that hang beyond the time for the card are given up")
    func givenUp() async {
        let race = LaneRace(["a"])
        race.giveUp()
        let told = await steps(race)
        #expect(told.count == 1 && told[0].hasPrefix("ended") && !race.place(of: "a").claim())
    }

    @Test("A card that comes second is let go without a single command")
    func secondCard() throws {
        let race = LaneRace(["a", "b"])
        #expect(race.place(of: "a").claim())
        let commands = Commands()
        let control = try VirtualReaderControl { _ in nil }
        try control.present(CountingCard(commands: commands), named: "counting")
        let reader = RacingReader(VirtualReader(control), race.place(of: "b"))
        #expect(throws: ReaderError.cancelled) {
            try reader.activate(
                until: monotonicNow().advanced(byMilliseconds: 60_000), cancellation: TapCancellation())
        }
        #expect(commands.count.withLock { $0 } == 0)
        #expect(control.answer(to: "state").contains("field=off"))
    }
}

/// Tells how often it was asked anything.
private struct CountingCard: VirtualCard {
    let commands: Commands
    let activation = CardActivation(technology: .typeA, uid: [0x08, 0, 0, 1], sak: 0x20)

    mutating func powerOn() {}

    mutating func answer(_ command: [UInt8]) -> VirtualCardReply {
        commands.count.withLock { $0 += 1 }
        return .answer([0x6A, 0x82])
    }
}

private final class Commands: Sendable {
    let count = Mutex(0)
}
