// SPDX-License-Identifier: Apache-2.0
import CardBytes
import TestSupport
import Testing

@testable import EMV

@Suite("Kernel 2: risk management by switch, and the mag-stripe penalty")
struct Kernel2RiskTests {
    private func verificationResults(
        _ risk: RiskManagement, forced: Bool = false, _ card: PlainCard = Kernel2Tests.card()
    ) throws -> (tvr: TVR, run: Run) {
        var configuration = Terminals.mastercard()
        configuration.combinations[0].riskManagement = risk
        var transaction = Transaction.test(500)
        transaction.merchantForcedOnline = forced
        let run = try card.run(configuration, transaction)
        let bytes = try #require(run.outcome.outcome.dataRecord?.value(of: 0x95))
        return (try #require(TVR(bytes)), run)
    }

    /// A card with 9F14 and 9F23 whose counters GET DATA tells.
    private func countingCard(counter: [UInt8]?, last: [UInt8]?, limits: Bool = true) -> PlainCard {
        var card = Kernel2Tests.card()
        if limits { card.records[[0x01, 0x14]]? += [DataObject(0x9F14, [0x02]), DataObject(0x9F23, [0x04])] }
        if let counter { card.data[[0x9F, 0x36]] = [0x9F, 0x36, 0x02] + counter }
        if let last { card.data[[0x9F, 0x13]] = [0x9F, 0x13, 0x02] + last }
        return card
    }

    @Test func `a merchant who forces online is in the TVR where the combination lets him`() throws {
        #expect(try verificationResults(RiskManagement(), forced: true).tvr.contains(.merchantForcedOnline))
        #expect(try !verificationResults(RiskManagement(), forced: false).tvr.contains(.merchantForcedOnline))
        let deaf = RiskManagement(merchantForcedOnline: false)
        #expect(try !verificationResults(deaf, forced: true).tvr.contains(.merchantForcedOnline))
    }

    @Test func `an action code for the forced transaction makes the kernel ask for an ARQC`() throws {
        var configuration = Terminals.mastercard([DataObject(0xDF8122, [0x00, 0x00, 0x00, 0x08, 0x00])])
        configuration.combinations[0].riskManagement = RiskManagement()
        var transaction = Transaction.test(500)
        transaction.merchantForcedOnline = true
        let forced = try Kernel2Tests.card().run(configuration, transaction)
        #expect(forced.commands.last?.hasPrefix("80AE80") == true)
        let free = try Kernel2Tests.card(cid: 0x40).run(configuration, .test(500))
        #expect(free.commands.last?.hasPrefix("80AE40") == true)
    }

    @Test func `random selection marks every amount at 99 per cent and none at 0`() throws {
        for (percentage, selected) in [(UInt8(99), true), (0, false)] {
            let selection = RandomSelection(
                floorLimit: 10_000, threshold: 5_000, targetPercentage: percentage, maximumPercentage: percentage)
            let tvr = try verificationResults(RiskManagement(randomSelection: selection)).tvr
            #expect(tvr.contains(.selectedAtRandom) == selected)
        }
        #expect(try !verificationResults(RiskManagement()).tvr.contains(.selectedAtRandom))
    }

    @Test(
        "velocity compares the transactions since the last online one with the card's limits",
        arguments: [
            ([0x00, 0x05], [0x00, 0x03], TVR()), ([0x00, 0x06], [0x00, 0x03], .lowerConsecutiveLimitExceeded),
            ([0x00, 0x08], [0x00, 0x03], [.lowerConsecutiveLimitExceeded, .upperConsecutiveLimitExceeded]),
            ([0x00, 0x01], [0x00, 0x00], .newCard),
            (nil, [0x00, 0x03], [.lowerConsecutiveLimitExceeded, .upperConsecutiveLimitExceeded]),
            ([0x00, 0x05], nil, [.lowerConsecutiveLimitExceeded, .upperConsecutiveLimitExceeded]),
            ([0x05], [0x00, 0x03], [.lowerConsecutiveLimitExceeded, .upperConsecutiveLimitExceeded]),
        ] as [([UInt8]?, [UInt8]?, TVR)])
    func velocity(counter: [UInt8]?, last: [UInt8]?, bits: TVR) throws {
        let card = countingCard(counter: counter, last: last)
        let (tvr, run) = try verificationResults(RiskManagement(checksVelocity: true), card)
        let velocityBits: TVR = [.lowerConsecutiveLimitExceeded, .upperConsecutiveLimitExceeded, .newCard]
        #expect(tvr.intersection(velocityBits) == bits)
        #expect(run.commands.filter { $0.hasPrefix("80CA") } == ["80CA9F3600", "80CA9F1300"])
        #expect(run.outcome.outcome.status == .onlineRequest)
    }

    @Test func `counters are read only where the switch is on and the card has limits`() throws {
        let counting = countingCard(counter: [0, 9], last: [0, 1])
        let off = try verificationResults(RiskManagement(), counting).run
        #expect(!off.commands.contains { $0.hasPrefix("80CA") })
        let without = countingCard(counter: [0, 9], last: [0, 1], limits: false)
        let on = try verificationResults(RiskManagement(checksVelocity: true), without)
        #expect(!on.run.commands.contains { $0.hasPrefix("80CA") })
        #expect(!on.tvr.contains(.lowerConsecutiveLimitExceeded))
    }

    @Test(arguments: [3, 4]) func `a card lost while its counters are read ends the application with a start at B`(
        lostAt: Int
    ) throws {
        var configuration = Terminals.mastercard()
        configuration.combinations[0].riskManagement.checksVelocity = true
        let card = countingCard(counter: [0, 5], last: [0, 3])
        let plain = try card.run(configuration, .test(500))
        let place = try #require(plain.commands.firstIndex { $0.hasPrefix("80CA") }) + lostAt - 3
        let run = try card.run(configuration, .test(500), lostAt: place)
        #expect(run.outcome.outcome.status == .endApplication)
        #expect(run.outcome.outcome.start == .b)
        #expect(run.outcome.outcome.uiOnRestart?.message == .presentCardAgain)
    }

    private func magStripe(_ card: PlainCard, failed: UInt8, lostAt: Int? = nil) throws -> (run: Run, failed: UInt8) {
        var entryPoint = EntryPoint(
            configuration: Terminals.mastercard(), transaction: .test(500), unpredictableNumbers: .fixed([1]))
        entryPoint.failedMagStripeReads = failed
        let run = try Run.drive(&entryPoint) { number, command in number == lostAt ? nil : card.answer(command) }
        return (run, entryPoint.failedMagStripeReads)
    }

    @Test(arguments: [(0, 300), (1, 600), (2, 1_200), (4, 4_800), (5, 9_600), (9, 9_600)] as [(UInt8, UInt64)])
    func `every wrong mag-stripe answer in a row doubles the wait, up to the sixth`(
        failed: UInt8, milliseconds: UInt64
    ) throws {
        var card = Kernel2ExtrasTests.magStripeCard
        card.statuses[0x2A] = .conditionsNotSatisfied
        let (run, count) = try magStripe(card, failed: failed)
        #expect(run.outcome.outcome.penaltyMilliseconds == milliseconds)
        #expect(count == min(failed + 1, 5))
    }

    @Test func `a right answer costs nothing and ends the row`() throws {
        let (run, count) = try magStripe(Kernel2ExtrasTests.magStripeCard, failed: 3)
        #expect(run.outcome.outcome.status == .onlineRequest)
        #expect(run.outcome.outcome.penaltyMilliseconds == 0)
        #expect(count == 0)
    }

    @Test func `a card lost at the checksum waits with the field off before it is asked for again`() throws {
        let card = Kernel2ExtrasTests.magStripeCard
        var entryPoint = EntryPoint(
            configuration: Terminals.mastercard(), transaction: .test(500), unpredictableNumbers: .fixed([1]))
        let first = try Run.drive(&entryPoint) { _, command in command.ins == 0x2A ? nil : card.answer(command) }
        #expect(first.outcome.wantsRestart)
        #expect(first.outcome.outcome.penaltyMilliseconds == 300)
        let second = try Run.drive(&entryPoint) { card.answer($1) }
        #expect(second.fieldOff == [300])
        #expect(second.outcome.outcome.status == .onlineRequest)
        #expect(entryPoint.failedMagStripeReads == 0)
    }
}
