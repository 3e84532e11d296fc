// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import Foundation
import POSAPI
import PaymentValues
import Rigs
import Synchronization
import TestSupport
import Testing

/// A card at the edge of the field: for some time after it was put there a share of its answers arrives as half a status word.
private struct EdgeCard: VirtualCard {
    private var card: any VirtualCard
    private let steady: ContinuousClock.Instant
    private let share: Int
    private var seed: UInt64

    init(_ card: any VirtualCard, failingFor time: Duration, _ share: Int, seed: UInt64) {
        self.card = card
        steady = ContinuousClock.now.advanced(by: time)
        self.share = share
        self.seed = seed
    }

    var activation: CardActivation { card.activation }

    mutating func powerOn() { card.powerOn() }

    mutating func answer(_ command: [UInt8]) -> VirtualCardReply {
        seed &+= 1
        var random = SeededGenerator(seed: seed)
        // What the reader answers by itself is in order.
        guard command.first != 0xFF, ContinuousClock.now < steady, Int.random(in: 0..<100, using: &random) < share
        else {
            return card.answer(command)
        }
        return .answer([0x90])
    }
}

/// A reader of which it is known how the air between it and a card can fail.
private protocol EdgyDesk: SweepDesk {
    /// One error of the air at the next command.
    func disturbAir(_ random: inout SeededGenerator)

    /// Returns once the field may have another thing in it without being a field with two.
    func awaitLook() async throws
}

extension PN532Desk: EdgyDesk {
    fileprivate func disturbAir(_ random: inout SeededGenerator) {
        // Time-out, CRC, parity, framing, RF protocol (PN532 user manual section 7.1).
        let statuses: [PN532Status] = [.timeOut, .checksum, .parity, .framing, .protocolError]
        emulator.fault(.status(statuses.randomElement(using: &random) ?? .timeOut))
    }

    /// One search takes several commands, and what comes and goes within it is two cards: the second InListPassiveTarget from
    /// now on follows an answer without a card.
    fileprivate func awaitLook() async throws {
        for _ in 0..<2 {
            let look = OneLook()
            emulator.whenReceived(0x4A) { look.isOver.withLock { $0 = true } }
            try await eventually("a look at the empty field") { look.isOver.withLock { $0 } }
        }
    }
}

/// A command that is waited for.
private final class OneLook: Sendable {
    let isOver = Mutex(false)
}

extension IFDDesk: EdgyDesk {
    /// Not at all: pcscd often does not look in between, and takes the next for the one before.
    fileprivate func awaitLook() async throws {}

    fileprivate func disturbAir(_ random: inout SeededGenerator) {
        let codes: [IFDCode] = [.communicationError, .responseTimeout]
        let moments: [IFDMoment] = [.powerUp, .command(1), .command(3)]
        reader.fault(
            .code(codes.randomElement(using: &random) ?? .communicationError),
            at: moments.randomElement(using: &random) ?? .powerUp)
    }
}

/// What `EdgeOfFieldTests` do in virtual time, through the unmodified libnfc and the unmodified pcscd, on several readers of each at
/// a time: most of it is waiting.
@Suite(
    "R1 The edge of the field, on real drivers", .serialized, .timeLimit(.minutes(240)),
    .enabled(
        if: PrivatePCSCD.missing == nil || ProcessInfo.processInfo.environment["CI"] != nil,
        Comment(rawValue: PrivatePCSCD.missing ?? "")))
struct WobbleAtTheEdgeTests {
    private static let environment = ProcessInfo.processInfo.environment
    /// Presentations on each of the two; `make check-wobbles` wants more.
    private static let count = environment["NFC_TAP_WOBBLES"].flatMap(Int.init).map { min($0, 1_000) } ?? 12
    private static let seed = environment["NFC_TAP_SEED"].flatMap(UInt64.init) ?? 1
    private static let lanes = 6
    /// Tags to a sale.
    private static let tags = 10

    @Test("R1: cards that fail for up to two seconds and then lie still pay behind libnfc and behind pcscd")
    func edge() async throws {
        let seeds = Self.seed..<Self.seed + UInt64(Self.count)
        try await both("edge of the field", "\(seeds.count) cards on each of two, seeds \(seeds)", seeds)
    }

    /// In virtual time, `WobbleInVirtualTimeTests` has the same: here each tag is waited for, and a machine without a processor to spare
    /// calls the slow emulator a reader that is gone.
    @Test(
        "R1: tickets, stickers and key fobs use up no try behind libnfc and behind pcscd",
        .enabled(if: ProcessInfo.processInfo.environment["NFC_TAP_WOBBLES"] != nil, "make check-wobbles runs it"))
    func tags() async throws {
        let sales = max(2, Self.count / Self.tags)
        let seeds = Self.seed..<Self.seed + UInt64(sales)
        try await both("tags", "\(sales * Self.tags) tags on each of two, seeds \(seeds)", seeds, tags: Self.tags)
    }

    private func both(_ name: String, _ what: String, _ seeds: Range<UInt64>, tags: Int = 0) async throws {
        let bench = try SweepBench(lanes: Self.lanes)
        let tally = SweepTally(name)
        let (pcsc, libnfc, till) = (bench.pcsc, bench.libnfc, bench.till)
        async let first: Void = tally.work(pcsc, till, Self.cases(seeds, tags))
        async let second: Void = tally.work(libnfc, till, Self.cases(seeds, tags))
        _ = await (first, second)
        try bench.expectBalancedBooks()
        tally.report(what)
    }

    private static func cases<Desk>(_ seeds: Range<UInt64>, _ tags: Int) -> [SweepCase<Desk>] where Desk: EdgyDesk {
        seeds.map { seed in
            { @Sendable (sweep: Sweep<Desk>) in
                tags > 0 ? await sweep.run(tags: tags, seed: seed) : await sweep.run(edge: seed)
            }
        }
    }
}

extension Sweep where Desk: EdgyDesk {
    /// A card that fails at random for up to two seconds, and then lies still where it is.
    fileprivate func run(edge seed: UInt64) async -> [String] {
        var random = SeededGenerator(seed: seed)
        // Most people bring a card closer within half a second; one in ten never takes longer than two.
        let part = Double.random(in: 0...1, using: &random)
        let time = seed.isMultiple(of: 10) ? 2 : 2 * part * part * part
        let share = Int.random(in: 30...100, using: &random)
        do {
            let id = try await till.begin(.payment, on: desk.lane)
            if Bool.random(using: &random) { desk.disturbAir(&random) }
            let visa = try CardCatalogue.required("visa")
            desk.insert(EdgeCard(visa, failingFor: .seconds(time), share, seed: random.next()))
            return try await leave(id, "seed \(seed): \(time) s of \(share) in 100")
        } catch {
            return ["\(desk.lane): seed \(seed): \(error)"]
        }
    }

    /// Some things that take no commands, one after the other, and a card.
    fileprivate func run(tags count: Int, seed: UInt64) async -> [String] {
        var random = SeededGenerator(seed: seed)
        do {
            let id = try await till.begin(.payment, on: desk.lane)
            for _ in 0..<count {
                let tag = Tag.allCases.filter { !$0.takesCommands }.randomElement(using: &random) ?? .ultralight
                desk.insert(DressedCard(tag))
                try await Task.sleep(for: .milliseconds(Int.random(in: 100...600, using: &random)))
                desk.remove()
                try await desk.awaitLook()
            }
            desk.insert(DressedCard(.ultralight))
            try await eventually("its holder is told") {
                try await till.look(at: id).events?.contains { $0.error?.code == "read.card_unsupported" } == true
            }
            desk.remove()
            try await desk.awaitLook()
            try desk.insert(named: "visa")
            var wrong = try await leave(id, "seed \(seed): \(count) tags")
            let end = try await till.look(at: id)
            let told = (end.events ?? []).compactMap(\.error?.code).filter { $0 != "read.card_unsupported" }
            if !told.isEmpty { wrong.append("\(desk.lane): seed \(seed): tags are told of as \(told)") }
            let reads = end.history.count { $0.state == .reading }
            if reads != 1 { wrong.append("\(desk.lane): seed \(seed): \(reads) reads of one card") }
            return wrong
        } catch {
            return ["\(desk.lane): seed \(seed): \(error)"]
        }
    }

    /// The end of a sale whose card pays where it lies.
    private func leave(_ id: TransactionID, _ story: String) async throws -> [String] {
        let end = try await till.end(of: id, orArmedFor: hangLimit)
        desk.remove()
        try desk.repair()
        guard end.state != .approved else { return [] }
        if !end.state.isSettled { try await till.cancel(id) }
        let events = (end.events ?? []).map { $0.name.rawValue + ($0.error.map { " (\($0.code))" } ?? "") }
        return ["\(desk.lane): \(story): \(end.state) \(end.error?.code ?? "") \(events)"]
    }
}

/// `nfc-tap read` with more than one card before the antenna.
@Suite("R12 Two cards and nfc-tap read", .timeLimit(.minutes(5)))
struct TwoCardsTests {
    @Test("R12: two cards are told of once, and the wait ends with 13 at the time that was asked for")
    func twoCards() throws {
        let emulator = try PN532Emulator.start()
        defer { emulator.unplug() }
        // The cards of the catalogue share a UID, and are one to libnfc.
        emulator.insert(try CardCatalogue.required("visa"))
        emulator.insert(DressedCard(.ultralight))
        let folder = FileManager.default.temporaryDirectory
        let begin = ContinuousClock.now
        let read = try Program.tap.run(
            ["read", "--reader", "libnfc:\(emulator.connectionString)", "--timeout", "2"], in: folder)
        #expect(read.status == 13, "\(read.errors)")
        #expect(ContinuousClock.now - begin >= .seconds(2))
        let lines = read.errors.split(separator: "\n").filter { $0.contains("present one card only") }
        #expect(lines.count == 1, "\(lines.count) times")
    }
}
