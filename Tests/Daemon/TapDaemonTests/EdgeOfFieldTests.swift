// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import EMV
import PaymentValues
import ReaderCore
import TestSupport
import Testing

@testable import TapDaemon

/// A reader with a time of its own, and what lies on it at which moment. Errors of the air are a card's that is too far away.
private final class EdgeReader: TimedReader {
    /// How a reader finds cards: from one look to the next, and how many looks miss one that is too far away.
    struct Manner: Sendable {
        var name: String
        /// Milliseconds of a look, and of a command with its answer.
        var look: ClosedRange<UInt64>
        var command: ClosedRange<UInt64>
    }

    enum Target {
        case nothing, ticket
        /// With the share of looks and commands that fail, in a hundred.
        case card(failing: UInt64)
    }

    static let ticket = CardActivation(technology: .typeA, uid: [4, 1, 2, 3, 4, 5, 6], sak: 0x00)

    let identity = ReaderIdentity(name: "edge", model: "edge", driver: .virtual)
    private(set) var milliseconds: UInt64 = 0
    private(set) var activations = 0
    private var card: any VirtualCard
    private var random: SeededGenerator
    private let manner: Manner
    private let target: (UInt64) -> Target
    private var isActive = false
    private var wasThere = false

    init(_ card: any VirtualCard, _ manner: Manner, _ random: SeededGenerator, _ target: @escaping (UInt64) -> Target) {
        (self.card, self.manner, self.random, self.target) = (card, manner, random, target)
    }

    func pass(_ time: UInt64) { milliseconds += time }

    private func fails(_ share: UInt64) -> Bool { UInt64.random(in: 0..<100, using: &random) < share }

    func activate(until deadline: TapInstant, cancellation: TapCancellation) throws(ReaderError) -> CardPresence {
        isActive = false
        while true {
            guard !cancellation.isCancelled else { throw .cancelled }
            guard now < deadline else { throw .timedOut }
            pass(UInt64.random(in: manner.look, using: &random))
            switch target(milliseconds) {
            case .ticket:
                wasThere = true
                return .card(Self.ticket)
            case .card(let share) where !fails(share):
                (wasThere, isActive) = (true, true)
                activations += 1
                card.powerOn()
                return .card(card.activation)
            case .card, .nothing:
                guard wasThere else { continue }
                wasThere = false
                return .emptied
            }
        }
    }

    func transmit(_ command: CommandAPDU, until deadline: TapInstant) throws(ReaderError) -> ResponseAPDU {
        pass(UInt64.random(in: manner.command, using: &random))
        guard isActive, case .card(let share) = target(milliseconds), !fails(share),
            case .answer(let bytes) = card.answer(command.bytes), let response = try? ResponseAPDU(bytes)
        else {
            isActive = false
            throw .cardLost
        }
        return response
    }

    func release() { isActive = false }
    func waitForRemoval(until deadline: TapInstant, cancellation: TapCancellation) throws(ReaderError) {}
    func check() throws(ReaderError) {}
    func show(_ feedback: ReaderFeedback) {}
    func close() {}
}

/// Payments at the edge of the field, in virtual time: the tap on the reader, and the transaction's machine, which hears of
/// it what the daemon would tell it.
@Suite("R1 The edge of the field", .timeLimit(.minutes(10)))
struct EdgeOfFieldTests {
    private static let manners = [
        EdgeReader.Manner(name: "libnfc", look: 10...40, command: 3...12),
        // A reader that looks by itself, and a service that looks at the reader.
        EdgeReader.Manner(name: "pcscd", look: 60...450, command: 5...40),
    ]

    private func pay(
        _ name: String, _ manner: EdgeReader.Manner, _ random: SeededGenerator, within seconds: Int = 60,
        _ target: @escaping (UInt64) -> EdgeReader.Target
    ) throws -> (end: VirtualSale.End, activations: Int) {
        let reader = EdgeReader(try #require(CardCatalogue.card(named: name)), manner, random, target)
        return (try VirtualSale(deadline: seconds).pay(on: reader), reader.activations)
    }

    /// The cards of the catalogue that pay at once where nothing fails.
    private static let cards = ["visa", "mastercard"]

    @Test(
        "R1: a thousand cards that fail at random for up to two seconds, and then lie still, pay", arguments: [0, 1],
        cards)
    func edge(manner: Int, card: String) throws {
        let manner = Self.manners[manner]
        for seed in 0..<250 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            let steady = UInt64.random(in: 0...2_000, using: &random)
            let share = UInt64.random(in: 20...100, using: &random)
            let begin = UInt64.random(in: 0...500, using: &random)
            let (end, _) = try pay(card, manner, random) {
                $0 < begin ? .nothing : .card(failing: $0 < begin + steady ? share : 0)
            }
            #expect(
                end.status == .onlineRequest && end.isPaid,
                "\(manner.name), \(card), seed \(seed): \(steady) ms of \(share) in 100, \(end)")
            // Two presentations at most can have failed by then, and the read that works is not asked for twice.
            #expect(end.failedReads <= 2, "seed \(seed): \(end)")
        }
    }

    @Test("R1: a card that fails for ever has three tries, and no hundreds of activations", arguments: [0, 1])
    func never(manner: Int) throws {
        for seed in 0..<50 as Range<UInt64> {
            let (end, activations) = try pay("visa", Self.manners[manner], SeededGenerator(seed: seed)) { _ in
                .card(failing: 70)
            }
            // Once in a while it is read all the same.
            guard end.status == nil else { continue }
            #expect(end.state == .failed && end.failedReads == 3, "seed \(seed): \(end)")
            // Three presentations of a second and a half, with 150 ms from one activation to the next.
            #expect(activations <= 36, "seed \(seed): \(activations), \(end)")
        }
    }

    @Test("R1: a thousand tickets and stickers use up no try, and the card after them pays", arguments: [0, 1])
    func tickets(manner: Int) throws {
        let manner = Self.manners[manner]
        var random = SeededGenerator(seed: 7)
        // Each lies there for a while, and then nothing does.
        var times: [UInt64] = [0]
        var told = 0
        for _ in 0..<1_000 {
            let stays = UInt64.random(in: 100...3_000, using: &random)
            if stays > 2_000 { told += 1 }
            times.append((times.last ?? 0) + 1_200 + stays)
        }
        let last = (times.last ?? 0) + 1_200
        let (end, _) = try pay("visa", manner, random, within: Int(last / 1_000) + 60) { now in
            guard now < last else { return .card(failing: 0) }
            // The latest that has begun: it is followed by a pause of 1.2 seconds.
            var (low, high) = (0, times.count - 1)
            while low < high {
                let middle = (low + high + 1) / 2
                if times[middle] <= now { low = middle } else { high = middle - 1 }
            }
            guard low + 1 < times.count else { return .nothing }
            return now < times[low + 1] - 1_200 ? .ticket : .nothing
        }
        #expect(end.status == .onlineRequest && end.isPaid && end.failedReads == 0, "\(end)")
        #expect(
            (told...1_000).contains(end.unsupported), "each that stays is told of once: \(end), \(told) for certain")
    }
}
