// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import ReaderCore
import ReaderModels
import Rigs
import Synchronization
import Testing
import Wire

@testable import TapDaemon

@Suite("LED and buzzer of a reader behind pcscd", .serialized, .timeLimit(.minutes(2)))
struct FeedbackTests {
    private static let model = "ACS ACR122U PICC Interface"
    /// Green with one tone, as an ACR122U takes it.
    private static let read: [UInt8] = [0xFF, 0x00, 0x40, 0x0E, 0x04, 1, 1, 1, 1]

    private func pay(
        _ level: FeedbackLevel, on model: String = model, prepare: (FakePCSCD, String) -> Void = { _, _ in }
    ) async throws -> (state: TransactionState, received: TapInstant, shown: [PCSCLogEntry]) {
        let pcscd = try FakePCSCD.shared()
        let name = FakePCSCD.freshName(model)
        try pcscd.plug(name)
        defer { try? pcscd.unplug(name) }
        prepare(pcscd, name)
        let folder = try TestFolder()
        let received = Mutex(TapInstant(nanoseconds: .max))
        var state = TransactionState.failed
        try await withAdapter(in: folder) { _ in
            received.withLock { $0 = min($0, monotonicNow()) }
            return .text(200, #"{"outcome":"approved"}"#)
        } _: { _ in
            var wish = Shop.Wish()
            wish.sources = [.pcsc(name, level)]
            try await Shop.open(in: folder, wish) { shop in
                try pcscd.insert(try #require(CardCatalogue.card(named: "visa")), into: name)
                state = try await shop.post(purchase(500), wait: 20).transaction().state
            }
        }
        return (state, received.withLock { $0 }, pcscd.log(of: name).filter { !$0.indicator.isEmpty })
    }

    @Test("Acceptance test 4 (requirement 21): the adapter has the read before a lamp or tone says so")
    func order() async throws {
        let (state, received, shown) = try await pay(.lightsAndSound)
        #expect(state == .approved)
        let lamp = try #require(shown.first { $0.indicator == Self.read })
        #expect(received <= lamp.at)
        // What was shown before says nothing of a result: no tone, and not while the card was read.
        for entry in shown where entry.at < received {
            #expect(entry.command == .control && entry.indicator.suffix(2) == [0, 0])
        }
    }

    @Test("A lane without sound has lamps only, one that is off has nothing", arguments: [FeedbackLevel.lights, .off])
    func level(level: FeedbackLevel) async throws {
        let (state, _, shown) = try await pay(level)
        #expect(state == .approved)
        #expect(shown.isEmpty == (level == .off))
        for entry in shown { #expect(entry.indicator.suffix(2) == [0, 0], "\(entry.indicator)") }
    }

    @Test("A model that is not known is sent nothing")
    func unknown() async throws {
        let (state, _, shown) = try await pay(.lightsAndSound, on: "Somebody's PICC Interface")
        #expect(state == .approved && shown.isEmpty)
    }

    @Test(
        "A reader that refuses its lamp takes the payment all the same, and is not asked again",
        arguments: [PCSCFault.code(PCSCCode.unsupportedFeature), .code(PCSCCode.notTransacted), .hangUp])
    func refused(fault: PCSCFault) async throws {
        let (state, _, shown) = try await pay(.lightsAndSound, on: "ACS ACR1252 Dual Reader PICC") { pcscd, name in
            for _ in 0..<3 { pcscd.force(fault, on: .control, reader: name) }
        }
        #expect(state == .approved)
        #expect(fault == .hangUp || shown.count == 1, "\(shown.map(\.indicator))")
    }
}
