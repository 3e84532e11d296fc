// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV
import EMVCrypto
import Testing

/// Recorded transactions with the schemes' published test keys: every signature is really verified.
@Suite("Recorded transactions with real keys")
struct RecordedTapTests {
    @Test func `a Visa card signs with fDDA under test key 92 and is approved offline`() throws {
        let recording = try Recording(Recording.visaOffline)
        var entryPoint = recording.entryPoint()
        let tap = try Tap.run(&entryPoint, card: recording.answer)
        #expect(tap.commandTexts == recording.expectedCommands)
        #expect(tap.outcome.status == .approved)
        #expect(Hex.string(try #require(tap.outcome.dataRecord).encoded) == recording.expectedRecord)
    }

    @Test func `a Mastercard signs its ARQC with CDA under test key FA and goes online`() throws {
        let recording = try Recording(Recording.mastercardOnline)
        var entryPoint = recording.entryPoint()
        let tap = try Tap.run(&entryPoint, card: recording.answer)
        #expect(tap.commandTexts == recording.expectedCommands)
        #expect(tap.outcome.status == .onlineRequest)
        #expect(tap.value(0x9F26) == "675B759BB5350F8C")
        let told = (tap.outcome.dataRecord ?? []) + (tap.outcome.discretionaryData ?? [])
        #expect(Hex.string(told.encoded) == recording.expectedRecord)
    }

    /// A byte inside a signed object, in the answer that carries it. Places come from the objects themselves.
    private func flips(_ recording: Recording, _ tags: [CardBytes.Tag]) throws -> [(
        tag: CardBytes.Tag, step: Int, place: Int
    )] {
        var flips: [(CardBytes.Tag, Int, Int)] = []
        for (step, exchange) in recording.exchanges.enumerated() {
            let answer = try ResponseAPDU(Hex.bytes(exchange.response))
            for node in (try? TLV.nodes(answer.data)) ?? [] where tags.contains(node.tag) {
                flips.append((node.tag, step, node.value.lowerBound + node.value.count / 2))
            }
        }
        return flips
    }

    @Test func `a flipped bit in any signed part of a Visa card declines it, or sends it online where the card allows`()
        throws
    {
        let recording = try Recording(Recording.visaOffline)
        let found = try flips(recording, [0x90, 0x9F46, 0x9F4B, 0x9F69, 0x5F24, 0x92])
        #expect(Set(found.map { $0.tag }).isSuperset(of: [0x90, 0x9F46, 0x9F4B, 0x9F69]))
        for flip in found {
            var entryPoint = recording.entryPoint()
            let tap = try Tap.run(
                &entryPoint, disturb: (flip.step, .flipped(flip.place, 0x01)), card: recording.answer)
            #expect(tap.outcome.status != .approved, "\(flip.tag)")
            #expect([.declined, .onlineRequest, .tryAnotherInterface].contains(tap.outcome.status), "\(flip.tag)")
        }
    }

    @Test func `a flipped bit in any signed part of a Mastercard ends the application with CAM failed`() throws {
        let recording = try Recording(Recording.mastercardOnline)
        let found = try flips(recording, [0x90, 0x9F46, 0x9F4B, 0x92])
        #expect(Set(found.map { $0.tag }).isSuperset(of: [0x90, 0x9F46, 0x9F4B]))
        for flip in found {
            var entryPoint = recording.entryPoint()
            let tap = try Tap.run(
                &entryPoint, disturb: (flip.step, .flipped(flip.place, 0x01)), card: recording.answer)
            #expect(tap.outcome.status == .endApplication, "\(flip.tag)")
            #expect(tap.outcome.error.l2 == .camFailed, "\(flip.tag)")
            #expect(tap.outcome.uiOnOutcome?.message == .insertSwipeOrTryAnotherCard)
        }
    }

    @Test func `without the CA key a Visa card is not approved and a Mastercard is not asked for CDA`() throws {
        let visa = try Recording(Recording.visaOffline)
        var visaEntryPoint = visa.entryPoint(.unavailable)
        #expect(try Tap.run(&visaEntryPoint, card: visa.answer).outcome.status != .approved)
        let mastercard = try Recording(Recording.mastercardOnline)
        var entryPoint = mastercard.entryPoint(.unavailable)
        let tap = try Tap.run(&entryPoint, card: mastercard.answer)
        #expect(tap.commandTexts.last?.hasPrefix("80AE80") == true)
    }

    @Test func `a certificate that has expired counts as a failed authentication`() throws {
        let recording = try Recording(Recording.visaOffline)
        var entryPoint = recording.entryPoint(date: EMVDate(year: 2045, month: 1, day: 1))
        #expect(try Tap.run(&entryPoint, card: recording.answer).outcome.status != .approved)
    }

    @Test(arguments: [Recording.visaOffline, Recording.mastercardOnline])
    func `whatever happens to any answer, there is an outcome, and never an approval of changed signatures`(
        name: String
    ) throws {
        let recording = try Recording(name)
        var plain = recording.entryPoint()
        let sizes = try Tap.run(&plain, card: recording.answer).sizes
        var disturbances = Disturbances(seed: 17)
        for (step, size) in sizes.enumerated() {
            for disturbance in disturbances.list(size: size, flips: 24, randoms: 12) {
                var entryPoint = recording.entryPoint()
                let tap = try Tap.run(&entryPoint, disturb: (step, disturbance), card: recording.answer)
                #expect(tap.isFinal, "step \(step), \(disturbance)")
            }
        }
    }
}
