// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import EMV
import ReaderCore
import Testing

@testable import TapSession

/// The guard of one vendor's kernel 3: a card that was read a moment ago is refused.
@Suite("Double taps")
struct DoubleTapTests {
    private func bench(_ name: String, _ recent: RecentCards?, type: EMV.TransactionType = .purchase) throws -> TapBench
    {
        let bench = try TapBench()
        bench.tap.recentCards = recent
        bench.tap.transaction.type = type
        try bench.present(name)
        return bench
    }

    @Test func `the same Visa card is refused within the time, and nothing of it is sealed`() throws {
        let recent = RecentCards(milliseconds: 600_000)
        #expect(try bench("visa", recent).run()?.read != nil)
        let again = try bench("visa-afl", recent)
        let refused = try #require(try again.run())
        #expect(refused.status == .endApplication)
        #expect(refused.read == nil && refused.unsealed == nil)
        #expect(refused.uiOnOutcome?.message == .insertSwipeOrTryAnotherCard)
        // Another scheme's kernel has no such guard, and a refund is no second charge.
        #expect(try bench("mastercard", recent).run()?.read != nil)
        #expect(try bench("mastercard", recent).run()?.read != nil)
        #expect(try bench("visa", recent, type: .refund).run()?.read != nil)
        // Without a guard there is none.
        #expect(try bench("visa", nil).run()?.read != nil)
    }

    @Test func `a card whose time has passed is taken again`() throws {
        let recent = RecentCards(milliseconds: 1_000)
        let record = SampleOutcomes.final(SampleOutcomes.visaRecord)
        recent.note(record, at: TapInstant(nanoseconds: 0))
        let wasRead: (UInt64) throws -> Bool = { milliseconds in
            var kernel = try #require(recent.guarding(.standard).make(.visa) as? Kernel3)
            _ = kernel.start(Self.activation, now: TapInstant(nanoseconds: 0))
            let options: [DataObject] =
                [DataObject(0x82, [0x00, 0x00])]
                + SampleOutcomes.visaRecord.filter {
                    [0x57, 0x9F10, 0x9F26, 0x9F36].contains($0.tag)
                }
            let data = [DataObject(0x77, options.encoded)].encoded
            let step = kernel.received(
                ResponseAPDU(data: data, status: .success), now: TapInstant(nanoseconds: milliseconds * 1_000_000))
            guard case .finished(let outcome) = step.action else { throw Unfinished() }
            return outcome.error.l2 == .cardDataError
        }
        #expect(try wasRead(999))
        #expect(try !wasRead(1_000))
    }

    @Test func `a read that was not sent is not remembered`() throws {
        let recent = RecentCards(milliseconds: 600_000)
        #expect(try bench("visa-declines", recent).run()?.status == .declined)
        #expect(try bench("visa", recent).run()?.read != nil)
        #expect(Mirror(reflecting: recent).children.isEmpty)
    }

    private struct Unfinished: Error {}

    private static let activation: KernelActivation = {
        let aid: [UInt8] = [0xA0, 0x00, 0x00, 0x00, 0x03, 0x10, 0x10]
        let fci = [
            DataObject(
                0x6F,
                [
                    DataObject(0x84, aid),
                    DataObject(0xA5, [DataObject(0x9F38, [0x9F, 0x66, 0x04, 0x9F, 0x37, 0x04])].encoded),
                ].encoded)
        ].encoded
        let combination = Combination(
            aid: aid, kernel: .visa, limits: EntryPointLimits(ttq: TTQ(rawValue: 0x2600_4000)))
        return KernelActivation(
            application: SelectedApplication(adfName: aid, matchingAID: aid, kernel: .visa, fci: fci),
            selection: ResponseAPDU(data: fci, status: .success), combination: combination,
            indicators: PreProcessingIndicators(), terminalData: [],
            transaction: transaction, unpredictableNumbers: .fixed([1]))
    }()

    private static let transaction = Transaction(
        amount: 1_250, currency: 978, exponent: 2, country: 276, date: EMVDate(year: 2026, month: 11, day: 21),
        time: EMVTime(hour: 20, minute: 15, second: 0), sequenceCounter: 1)
}
