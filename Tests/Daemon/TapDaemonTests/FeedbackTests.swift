// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import POSAPI
import PaymentValues
import ReaderCore
import ReaderModels
import Rigs
import Synchronization
import TestSupport
import Testing

@testable import TapDaemon

@Suite("LED and buzzer of a reader behind pcscd", .serialized, .timeLimit(.minutes(5)))
struct FeedbackTests {
    private static let model = "ACS ACR122U PICC Interface"
    /// Green with one tone, as an ACR122U takes it.
    private static let read: [UInt8] = [0xFF, 0x00, 0x40, 0x0E, 0x04, 1, 1, 1, 1]

    private func pay(
        _ level: FeedbackLevel, on model: String = model, outcome: String = "approved", untilIdle idle: [UInt8]? = nil,
        prepare: (FakePCSCD, String) -> Void = { _, _ in }
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
            return .text(200, #"{"outcome":"\#(outcome)"}"#)
        } _: { _ in
            var wish = Shop.Wish()
            wish.sources = [.pcsc(name, level)]
            try await Shop.open(in: folder, wish) { shop in
                try pcscd.insert(try #require(CardCatalogue.card(named: "visa")), into: name)
                state = try await shop.post(purchase(500), wait: 20).transaction().state
                guard let idle else { return }
                try await eventually("the lamps go out") {
                    pcscd.log(of: name).last { !$0.indicator.isEmpty }?.indicator == idle
                }
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

    /// A reader's name, whether an indicator command of its sounds, and the one with which its lamps go out.
    private static let models: [(name: String, sounds: @Sendable ([UInt8]) -> Bool, idle: [UInt8])] = [
        // FF 00 40 P2 04 T1 T2 N link: N tones.
        ("ACS ACR122U PICC Interface", { $0.count == 9 && $0[7] > 0 }, [0xFF, 0x00, 0x40, 0x0C, 0x04, 0, 0, 0, 0]),
        // E0 00 00 28: the buzzer.
        ("ACS ACR1252 Dual Reader PICC", { $0.starts(with: [0xE0, 0, 0, 0x28]) }, [0xE0, 0, 0, 0x29, 1, 0]),
    ]

    @Test(
        "R2: an approved tap sounds once, a declined one once for the read and once for the answer", arguments: [0, 1])
    func tones(model: Int) async throws {
        let model = Self.models[model]
        let approved = try await pay(.lightsAndSound, on: model.name, untilIdle: model.idle)
        #expect(approved.state == .approved)
        #expect(approved.shown.count { model.sounds($0.indicator) } == 1, "\(approved.shown.map(\.indicator))")
        let declined = try await pay(.lightsAndSound, on: model.name, outcome: "declined", untilIdle: model.idle)
        #expect(declined.state == .declined)
        #expect(declined.shown.count { model.sounds($0.indicator) } == 2, "\(declined.shown.map(\.indicator))")
    }

    @Test(
        "R3: some seconds after a payment the lamps go out, whatever became of it", arguments: ["approved", "declined"])
    func idle(outcome: String) async throws {
        let model = Self.models[0]
        let (_, _, shown) = try await pay(.lights, on: model.name, outcome: outcome, untilIdle: model.idle)
        #expect(shown.last?.indicator == model.idle && shown.dropLast().last?.indicator != model.idle)
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
