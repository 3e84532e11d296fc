// SPDX-License-Identifier: Apache-2.0
import CardBytes
import TestSupport
import Testing

@testable import EMV

@Suite("Kernel 3: mag-stripe mode, authentication online, forced online")
struct Kernel3ModesTests {
    private func terminal(
        _ qualifiers: UInt32, floorLimit: UInt64? = nil, cvmLimit: UInt64? = nil
    ) -> TerminalConfiguration {
        Terminals.visa(
            EntryPointLimits(cvmRequiredLimit: cvmLimit, floorLimit: floorLimit, ttq: TTQ(rawValue: qualifiers)))
    }

    private func magStripeCard(_ more: DataObject...) -> PlainCard {
        var card = PlainCard(
            aid: AID.visa, selection: [DataObject(0x9F38, [0x9F, 0x66, 0x04])],
            options: [DataObject(0x82, [0x00, 0x80]), DataObject(0x94, [0x08, 0x01, 0x01, 0x00])] + more)
        card.records[[0x01, 0x0C]] = [
            DataObject(0x57, [0x47, 0x61, 0x73, 0x90, 0x01, 0x01, 0x00, 0x10, 0xD2, 0x91, 0x22, 0x01]),
            DataObject(0x5F20, Array("TEST/CARD".utf8)), DataObject(0x9F1F, Array("12345".utf8)),
        ]
        return card
    }

    private static let cryptogram = [
        DataObject(0x9F26, [1, 2, 3, 4, 5, 6, 7, 8]), DataObject(0x9F36, [0x00, 0x07]),
        DataObject(0x9F10, [0x06, 0x01, 0x11, 0x03, 0xA0, 0, 0]),
    ]

    @Test func `a mag-stripe card goes online with its tracks and entry mode 91`() throws {
        for qualifiers: UInt32 in [0x8200_4000, 0xA200_4000] {
            let run = try magStripeCard().run(terminal(qualifiers), .test(500))
            let outcome = run.outcome.outcome
            #expect(outcome.status == .onlineRequest)
            #expect(run.messages == ["15/02", "17/04", "1B/00"])
            let record = try #require(outcome.dataRecord)
            #expect(record.value(of: 0x9F39) == [0x91])
            #expect(record.value(of: 0x57)?.count == 12)
            #expect(record.value(of: 0x5F20) == Array("TEST/CARD".utf8))
            #expect(record.value(of: 0x9F26) == nil)
        }
    }

    @Test func `a reader without mag-stripe mode misses the cryptogram of such a card`() throws {
        let outcome = try magStripeCard().run(terminal(0x2200_4000), .test(500)).outcome.outcome
        #expect(outcome.status == .endApplication)
        #expect(outcome.error.l2 == .cardDataMissing)
    }

    @Test func `a cryptogram means EMV mode to a reader that has it, and goes along where it has not`() throws {
        var card = magStripeCard()
        card.options += Kernel3ModesTests.cryptogram
        let magStripe = try card.run(terminal(0x8200_4000), .test(500)).outcome.outcome
        #expect(magStripe.dataRecord?.value(of: 0x9F39) == [0x91])
        #expect(magStripe.dataRecord?.value(of: 0x9F26) == [1, 2, 3, 4, 5, 6, 7, 8])
        let both = try card.run(terminal(0xA200_4000), .test(500)).outcome.outcome
        #expect(both.status == .onlineRequest)
        #expect(both.dataRecord?.value(of: 0x9F39) == [0x07])
        #expect(both.dataRecord?.value(of: 0x95) == [0, 0, 0, 0, 0])
    }

    @Test func `a cryptogram without its counter, or no track, ends the application`() throws {
        var card = magStripeCard()
        card.options += Kernel3ModesTests.cryptogram.filter { $0.tag != 0x9F36 }
        #expect(try card.run(terminal(0x8200_4000), .test(500)).outcome.outcome.error.l2 == .cardDataMissing)
        var trackless = magStripeCard()
        trackless.records[[0x01, 0x0C]] = [DataObject(0x5F20, Array("TEST/CARD".utf8))]
        #expect(try trackless.run(terminal(0x8200_4000), .test(500)).outcome.outcome.error.l2 == .cardDataMissing)
    }

    @Test func `a mag-stripe card needs the issuer and a verification that the reader can make`() throws {
        #expect(try magStripeCard().run(terminal(0x8A00_4000), .test(500)).outcome.outcome.status == .declined)
        let signed = try magStripeCard().run(terminal(0x8200_4000, cvmLimit: 0), .test(500)).outcome.outcome
        #expect(signed.cvm == .obtainSignature)
        #expect(signed.receipt)
        let impossible = try magStripeCard().run(terminal(0x8000_4000, cvmLimit: 0), .test(500)).outcome.outcome
        #expect(impossible.status == .declined)
        let unvouched = magStripeCard(DataObject(0x9F6C, [0x00, 0x80]))
        #expect(try unvouched.run(terminal(0x8000_4000), .test(500)).outcome.outcome.status == .declined)
    }

    @Test(arguments: [0x6984, 0x6986] as [UInt16])
    func `a reader of mag-stripe mode alone ends where EMV mode would go on`(status: UInt16) throws {
        var card = magStripeCard()
        card.statuses[0xA8] = StatusWord(status)
        let run = try card.run(terminal(0x8200_4000), .test(500))
        #expect(run.outcome.outcome.status == .endApplication)
        #expect(run.fieldOff.count == 1)
    }

    private var onlineCard: PlainCard {
        var card = magStripeCard()
        card.setOptions(DataObject(0x82, [0x20, 0x00]))
        card.options +=
            Kernel3ModesTests.cryptogram + [
                DataObject(0x9F27, [0x80]), DataObject(0x9F4B, [1]), DataObject(0x8F, [0x92]), DataObject(0x90, [1]),
                DataObject(0x9F32, [3]), DataObject(0x9F46, [1]), DataObject(0x9F47, [3]),
                DataObject(0x9F69, [0x01, 1, 2, 3, 4]),
            ]
        return card
    }

    @Test func `an online transaction is authenticated where TTQ byte 1 bit 1 says so, and a failure is told`() throws {
        for (qualifiers, authentication, failed) in [
            (0x2300_4000, OfflineAuthentication.refusing, true), (0x2300_4000, .accepting, false),
            (0x2200_4000, .refusing, false),
        ] as [(UInt32, OfflineAuthentication, Bool)] {
            let run = try onlineCard.run(terminal(qualifiers), .test(500), authentication: authentication)
            let outcome = run.outcome.outcome
            #expect(outcome.status == .onlineRequest)
            #expect(outcome.error.l2 == (failed ? .camFailed : .ok))
            #expect(outcome.dataRecord?.value(of: 0x95) == [0, 0, 0, 0, 0])
        }
    }

    @Test func `a card without a signature is not blamed for it online`() throws {
        var card = onlineCard
        card.setOptions(DataObject(0x9F4B, []))
        let run = try card.run(terminal(0x2300_4000), .test(500), authentication: .refusing)
        #expect(run.outcome.outcome.error.l2 == .ok)
    }

    @Test func `a merchant who forces online gets an online cryptogram where the reader can go online`() throws {
        func qualifiers(_ value: UInt32, _ risk: RiskManagement, forced: Bool = true) throws -> String? {
            var configuration = terminal(value)
            configuration.combinations[0].riskManagement = risk
            var transaction = Transaction.test(500)
            transaction.merchantForcedOnline = forced
            return try onlineCard.run(configuration, transaction).commands.first { $0.hasPrefix("80A8") }
        }
        #expect(try qualifiers(0x2200_4000, RiskManagement()) == "80A800000683042280400000")
        #expect(try qualifiers(0x2200_4000, RiskManagement(), forced: false) == "80A800000683042200400000")
        #expect(
            try qualifiers(0x2200_4000, RiskManagement(merchantForcedOnline: false)) == "80A800000683042200400000")
        #expect(try qualifiers(0x2A00_4000, RiskManagement()) == "80A800000683042A00400000")
    }
}
