// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import EMV
import Foundation
import POSAPI
import PSPAPI
import PaymentValues
import ReaderCore
import Rigs
import TapSession
import TestSupport
import Testing
import Transactions

@testable import TapDaemon

/// Says, at any call, whatever `CardReader` has a word for: that is all that any driver can say of any reader.
private final class WobblyReader: TimedReader {
    enum Thing: CaseIterable {
        case nothing, visa, mastercard, tag, otherCard, twoCards, mute
    }

    struct Lying {
        var thing: Thing
        var from: UInt64
    }

    private static let faults: [ReaderError] = [
        .detached, .inUse, .faulty(code: 5), .serviceUnavailable(.pcscdNotRunning), .serviceUnavailable(.accessDenied),
        .serviceUnavailable(.workerMissing), .serviceUnavailable(.unknownReader),
        .serviceUnavailable(.unsuitableReader), .serviceUnavailable(.otherVersion),
    ]

    let identity = ReaderIdentity(name: "wobbly", model: "wobbly", driver: .virtual)
    private(set) var milliseconds: UInt64 = 0
    private var random: SeededGenerator
    /// What lies there from when on; the last stays.
    private let story: [Lying]
    /// From then on nothing fails.
    private let steady: UInt64
    /// Of looks and commands before it, in a hundred.
    private let share: Int
    /// The reader itself fails, too.
    private let isWeak: Bool
    private let look: ClosedRange<UInt64>
    private var card: (any VirtualCard)?
    /// Which of `story` was activated, as long as it is active.
    private var active: Int?
    private var lastSeen: Int?
    private var isTold = false
    private(set) var shown = ReaderFeedback.idle
    /// Codes of what the reader itself failed with.
    private(set) var failures: Set<ErrorCode> = []
    /// A whole answer that no such card gives: by it the sale may end.
    private(set) var hasLied = false
    /// How often something left, as far as the reader said so.
    private(set) var departures = 0

    init(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var (story, time) = ([Lying](), UInt64(0))
        for _ in 0..<Int.random(in: 1...5, using: &random) {
            story.append(Lying(thing: Thing.allCases.randomElement(using: &random) ?? .nothing, from: time))
            time += UInt64.random(in: 1...2_500, using: &random)
        }
        steady = time
        // Whoever cannot pay takes the card away and brings it again.
        story.append(Lying(thing: .nothing, from: time))
        story.append(Lying(thing: Bool.random(using: &random) ? .visa : .mastercard, from: time + 1_500))
        self.story = story
        share = Int.random(in: 0...60, using: &random)
        isWeak = Int.random(in: 0..<3, using: &random) == 0
        // As libnfc looks, and as pcscd does.
        look = Bool.random(using: &random) ? 10...40 : 60...450
        self.random = random
    }

    var description: String {
        "\(story.map { "\($0.thing) from \($0.from)" }), \(share) in 100 fail until \(steady), \(isWeak ? "weak, " : "")"
            + "looks of \(look)"
    }

    /// Of the things that were there; what no payment can come from may end the sale by what it says.
    var hadOtherCard: Bool { story.contains { $0.thing == .otherCard } }
    var time: UInt64 { steady }

    /// The card that lies there when all is over.
    var activeThing: Thing? { active.map { story[$0].thing } }

    func pass(_ time: UInt64) { milliseconds += time }

    private var index: Int { story.lastIndex { $0.from <= milliseconds } ?? 0 }

    private var fails: Bool { milliseconds < steady && Int.random(in: 0..<100, using: &random) < share }

    /// One time in twelve that something fails on a weak reader it is the reader.
    private func failOfItsOwn() throws(ReaderError) {
        guard isWeak, Int.random(in: 0..<12, using: &random) == 0,
            let fault = Self.faults.randomElement(using: &random)
        else { return }
        failures.insert(ErrorCode(fault))
        active = nil
        throw fault
    }

    func activate(until deadline: TapInstant, cancellation: TapCancellation) throws(ReaderError) -> CardPresence {
        active = nil
        while true {
            guard !cancellation.isCancelled else { throw .cancelled }
            guard now < deadline else { throw .timedOut }
            pass(UInt64.random(in: look, using: &random))
            if fails {
                try failOfItsOwn()
                switch Int.random(in: 0..<6, using: &random) {
                case 0: return .collision
                case 1: return .unreadable
                case 2:
                    departures += 1
                    return .emptied
                default: continue
                }
            }
            if let presence = presence() { return presence }
        }
    }

    private func presence() -> CardPresence? {
        let here = index
        defer { lastSeen = here }
        if here != lastSeen { isTold = false }
        switch story[here].thing {
        case .nothing:
            guard let lastSeen, story[lastSeen].thing != .nothing else { return nil }
            departures += 1
            return .emptied
        case .tag: return .card(Rigs.Tag.mifareClassic.activation)
        case .twoCards, .mute:
            guard !isTold else { return nil }
            isTold = true
            return story[here].thing == .twoCards ? .collision : .unreadable
        case .visa, .mastercard, .otherCard:
            if card == nil || here != lastSeen { card = Self.card(story[here].thing) }
            card?.powerOn()
            active = here
            return card.map { .card($0.activation) }
        }
    }

    private static func card(_ thing: Thing) -> (any VirtualCard)? {
        thing == .otherCard ? DressedCard(Rigs.Tag.desfire) : CardCatalogue.card(named: "\(thing)")
    }

    func transmit(_ command: CommandAPDU, until deadline: TapInstant) throws(ReaderError) -> ResponseAPDU {
        pass(UInt64.random(in: 3...40, using: &random))
        guard active == index else { return try lose() }
        guard fails else { return try answer(command) }
        try failOfItsOwn()
        switch Int.random(in: 0..<8, using: &random) {
        // Its answer comes, and as late as anything may.
        case 0:
            milliseconds = max(milliseconds, deadline.milliseconds - 1)
            return try active == index ? answer(command) : lose()
        case 1:
            milliseconds = max(milliseconds, deadline.milliseconds)
            active = nil
            throw .timedOut
        case 2:
            hasLied = true
            let lies: [[UInt8]] = [
                [0x6F, 0x00], [0x69, 0x85], [0x6A, 0x82], [0x90, 0x00], [0x6F, 0xFF, 0x84, 0x00, 0x90, 0x00],
            ]
            guard let lie = lies.randomElement(using: &random), let response = try? ResponseAPDU(lie) else { break }
            return response
        default: break
        }
        return try lose()
    }

    private func answer(_ command: CommandAPDU) throws(ReaderError) -> ResponseAPDU {
        guard case .answer(let bytes)? = card?.answer(command.bytes), let response = try? ResponseAPDU(bytes) else {
            return try lose()
        }
        return response
    }

    private func lose() throws(ReaderError) -> ResponseAPDU {
        active = nil
        throw .cardLost
    }

    func release() { active = nil }
    func waitForRemoval(until deadline: TapInstant, cancellation: TapCancellation) throws(ReaderError) {}
    func check() throws(ReaderError) {}
    func show(_ feedback: ReaderFeedback) { shown = feedback }
    func close() {}
}

extension TapInstant {
    fileprivate var milliseconds: UInt64 { UInt64(nanoseconds / 1_000_000) }
}

/// What `WobbleSweepTests` do on drivers and in true time, here by the reader's whole vocabulary and in no time.
@Suite("R1 Readers' faults in virtual time", .timeLimit(.minutes(240)))
struct WobbleInVirtualTimeTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let rounds = environment["NFC_TAP_WOBBLES"].flatMap(UInt64.init) ?? 1_000
    private static let seed = environment["NFC_TAP_SEED"].flatMap(UInt64.init) ?? 1

    @Test(
        "R1: a thousand sales with anything that a reader can say, at any call, end rightly, and the next customer pays"
    )
    func random() throws {
        let seeds = Self.seed..<Self.seed + Self.rounds
        let begin = ContinuousClock.now
        var (ends, wrong) = ([String: Int](), 0)
        for seed in seeds {
            let reader = WobblyReader(seed)
            let end = try VirtualSale().pay(on: reader)
            ends[end.isPaid ? "paid" : end.error?.code ?? "\(end.state)", default: 0] += 1
            // What is left of the faults is the first customer's.
            if reader.milliseconds < reader.time + 1_500 { reader.pass(reader.time + 1_500 - reader.milliseconds) }
            let next = try VirtualSale().pay(on: reader)
            var faults = Self.faults(end, reader)
            if !next.isPaid || next.failedReads > 0 { faults.append("the next customer: \(next)") }
            wrong += faults.count
            for fault in faults { Issue.record("seed \(seed): \(reader.description): \(fault)") }
        }
        print(
            "virtual time: \(seeds.count) cases, \(wrong) wrong, in \(ContinuousClock.now - begin); seeds \(seeds), "
                + "\(ends.sorted { $0.key < $1.key })")
    }

    /// What is wrong with an end.
    private static func faults(_ end: VirtualSale.End, _ reader: WobblyReader) -> [String] {
        var faults: [String] = []
        var named = reader.failures
        if reader.hasLied { named.formUnion([.readCardUnsupported, .readCardUnreadable, .readOtherInterface]) }
        if reader.hadOtherCard { named.insert(.readCardUnsupported) }
        if end.failedReads == 3 { named.insert(.readRetriesExhausted) }
        // A presentation ends with the card, or after a second at the earliest.
        let most = reader.departures + Int(reader.time / 1_000) + 1
        if end.failedReads > most { faults.append("\(end.failedReads) tries in \(most) presentations") }
        if end.isPaid {
            if end.results.count != 1 { faults.append("\(end.results.count) results of one sale") }
            let scheme = end.asked.last?.card.scheme ?? "nothing"
            if !["Visa", "Mastercard"].contains(scheme) { faults.append("paid by \(scheme)") }
            if end.asked.last?.amount.value != VirtualSale.amount { faults.append("another sum") }
            if end.results.last?.read?.clearTags.hex.contains("9F0206000000001250") != true {
                faults.append("another sum in the card's data")
            }
        } else if end.state != .failed || !named.contains(where: { $0.rawValue == end.error?.code }) {
            faults.append("ends as \(end.state) \(end.error?.code ?? ""), told of \(end.told)")
        } else {
            if end.error?.message.isEmpty != false || end.error?.resolution.isEmpty != false {
                faults.append("fails without a word")
            }
            if end.results.contains(where: { $0.read != nil }) { faults.append("a read that was taken was lost") }
            if !end.asked.isEmpty { faults.append("the payment service was asked") }
            if reader.shown == .ready || reader.shown == .processing { faults.append("the lamp says \(reader.shown)") }
        }
        return faults
    }
}
