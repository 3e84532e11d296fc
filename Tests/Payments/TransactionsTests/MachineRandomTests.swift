// SPDX-License-Identifier: Apache-2.0
import Foundation
import POSAPI
import PaymentValues
import Testing

@testable import Transactions

/// The same numbers from the same seed (SplitMix64).
struct Dice: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func oneIn(_ count: UInt64) -> Bool { next() % count == 0 }
}

/// One transaction with whatever a seed makes of it: likely moves mostly, impossible ones too, deaths, clocks that lie.
struct RandomStory {
    private(set) var stage: Stage
    private(set) var inputs = 0
    /// Only kept where somebody wants to read it.
    private(set) var lines: [String] = []
    private let isTold: Bool
    private let moves: [Move]
    private var dice: Dice

    init(seed: UInt64, isTold: Bool = false) {
        dice = Dice(seed)
        self.isTold = isTold
        let scenario = Scenario.allCases[Int(dice.next() % UInt64(Scenario.allCases.count))]
        stage = scenario.start
        moves = scenario.moves + [.earlyDue, .pass, .passLong, .wallBack, .wallAhead, .die, .cut]
        if isTold { lines.append("\(scenario)") }
        stage.books.mayStore = dice.oneIn(2)
        let length = 10 + Int(dice.next() % 50)
        for _ in 0..<length where stage.faults.isEmpty {
            step()
            // Little can happen to what is over.
            if stage.hasEnded, dice.oneIn(3) { break }
        }
        guard stage.faults.isEmpty else { return }
        stage.settle()
        if isTold { lines.append("settles: \(stage.machine.phase.name), \(stage.machine.transaction.state)") }
    }

    private mutating func step() {
        let move = pick()
        guard stage.allows(move) else { return }
        inputs += 1
        switch move {
        case .pass: stage.pass(Int64(dice.next() % 3_000))
        case .passLong: stage.pass(Int64(dice.next() % 600_000))
        case .wallBack: stage.now.wall.milliseconds -= Int64(dice.next() % 31_536_000_000)
        case .wallAhead: stage.now.wall.milliseconds += Int64(dice.next() % 31_536_000_000)
        case .die: stage.die(wasTaken: dice.oneIn(2))
        case .cut: stage.cut()
        default: stage.play(move)
        }
        guard isTold else { return }
        let write = stage.asked.map { " | writes \($0.changes.map(\.state.rawValue)) \($0.form)" } ?? ""
        lines.append("\(move) → \(stage.machine.phase.name), \(stage.books.transaction.state) written\(write)")
    }

    private mutating func pick() -> Move {
        if stage.asked != nil, !dice.oneIn(4) {
            return dice.oneIn(5) ? .full : .written
        }
        guard !dice.oneIn(5) else { return one(of: moves) }
        switch stage.machine.phase {
        case .created: return one(of: [.begin, .preparing, .prepared, .preparedTwo])
        case .preparing: return one(of: [.prepared, .preparedTwo, .notPrepared])
        case .armed: return one(of: [.ready, .won, .cardDetected, .cardDetected, .cardDetected, .cancel])
        case .reading:
            return one(of: [
                .read, .read, .read, .read, .readForIssuer, .readForIssuer, .readForPIN, .readForPIN, .cardAwaited,
                .cardLost, .cardDetected, .ticket, .seePhone, .declinedOffline,
                .unreadable, .passesSame,
            ])
        case .sealed: return one(of: [.connected, .connected, .notConnected])
        case .offered:
            return one(of: [.claimed, .claimed, .claimed, .tapFinished, .tapFinished, .due, .cancel, .stop])
        case .awaitingPIN:
            return one(of: [
                .pinEntered, .pinEntered, .pinEntered, .tapFinished, .pinCancelled, .pinTimedOut, .pinFailed, .due,
                .cancel,
            ])
        case .challenged:
            return one(of: [
                .pinEntered, .pinEntered, .pinEntered, .lastPINEntered, .lastPINEntered, .pinOfAnother, .pinCancelled,
                .pinTimedOut, .pinFailed, .due, .cancel, .reverse, .die,
            ])
        case .sent, .unknown:
            return one(of: [
                .declinedForPIN, .declinedForPIN, .tapFinished, .due, .due, .unusable, .approved, .declined, .unusable,
                .neverSeen, .running, .refused,
                .notDelivered,
                .cancel, .reverse,
                .forward, .forwardForgotten, .settleCharged, .settleNotCharged,
            ])
        // No machine of these stories is of a link.
        case .linked: return .due
        case .approved: return one(of: [.confirmed, .due, .reverse, .confirmedUnheard])
        case .reversing:
            return one(of: [
                .acknowledged, .reversalNeverSeen, .reversalNeverSeen, .notAcknowledged, .notAsked, .due, .due, .die,
                .settleCharged, .settleNotCharged, .hasten,
            ])
        case .leaving: return one(of: [.tapFinished, .cardMayGo, .due])
        case .unwritten: return .due
        case .settled: return one(of: [.due, .acknowledged, .approved, .declined, .die])
        case .stored: return one(of: [.forward, .forward, .declinedInQueue, .cancel])
        case .ended: return one(of: [.die, .forward, .reverse, .cancel, .lateApproved, .settleCharged])
        }
    }

    private mutating func one(of moves: [Move]) -> Move {
        moves.isEmpty ? .due : moves[Int(dice.next() % UInt64(moves.count))]
    }
}

struct MachineRandomTests {
    /// A million, or NFC_TAP_INPUTS.
    static var inputs: Int { ProcessInfo.processInfo.environment["NFC_TAP_INPUTS"].flatMap(Int.init) ?? 1_000_000 }

    static let shares = 4

    @Test(arguments: 0..<shares) func `R1 R2 R3 whatever happens at random, the rules hold`(_ share: Int) {
        var inputs = 0
        var stories: UInt64 = 0
        var ends: [TransactionState: Int] = [:]
        while inputs < Self.inputs / Self.shares {
            let seed = stories * UInt64(Self.shares) + UInt64(share)
            let story = RandomStory(seed: seed)
            stories += 1
            inputs += story.inputs
            ends[story.stage.books.transaction.state, default: 0] += 1
            guard let fault = story.stage.faults.first else { continue }
            let told = RandomStory(seed: seed, isTold: true).lines.joined(separator: "\n  ")
            Issue.record("NFC_TAP_SEED=\(seed): \(fault)\n  \(told)")
            return
        }
        #expect(inputs >= Self.inputs / Self.shares)
        let possible: [TransactionState] = [.approved, .declined, .stored, .cancelled, .failed, .reversed, .completed]
        for state in possible { #expect((ends[state] ?? 0) > 3, "\(ends)") }
    }

    @Test(.enabled(if: seed != nil, "tells the story of NFC_TAP_SEED")) func `a story is told by its seed`() throws {
        let story = RandomStory(seed: try #require(Self.seed), isTold: true)
        print(story.lines.joined(separator: "\n"))
        #expect(story.stage.faults.isEmpty)
    }

    static var seed: UInt64? { ProcessInfo.processInfo.environment["NFC_TAP_SEED"].flatMap(UInt64.init) }
}
