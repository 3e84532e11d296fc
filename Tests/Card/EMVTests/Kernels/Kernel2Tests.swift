// SPDX-License-Identifier: Apache-2.0
import CardBytes
import TestSupport
import Testing

@testable import EMV

@Suite("Kernel 2 in EMV mode")
struct Kernel2Tests {
    /// A card without CDA unless `profile` says so; the AIP's second byte says EMV mode.
    static func card(profile: UInt8 = 0x10, cid: UInt8 = 0x80) -> PlainCard {
        var card = PlainCard(
            aid: AID.mastercard, selection: [DataObject(0x5F2D, Array("deen".utf8))],
            options: [DataObject(0x82, [profile, 0x80]), DataObject(0x94, [0x10, 0x01, 0x01, 0x01])],
            cryptogram: [
                DataObject(0x9F27, [cid]), DataObject(0x9F36, [0x00, 0x01]),
                DataObject(0x9F26, [8, 7, 6, 5, 4, 3, 2, 1]), DataObject(0x9F10, [0x01, 0x02]),
            ])
        card.records[[0x01, 0x14]] = [
            DataObject(0x5A, [0x54, 0x13, 0x33, 0x00, 0x89, 0x60, 0x10, 0x34]), DataObject(0x5F34, [0x01]),
            DataObject(0x5F24, [0x29, 0x12, 0x31]), DataObject(0x8C, [0x9F, 0x02, 0x06, 0x95, 0x05, 0x9F, 0x37, 0x04]),
            DataObject(0x8E, [0, 0, 0, 0, 0, 0, 0, 0, 0x42, 0x03, 0x1E, 0x03, 0x1F, 0x03]),
            DataObject(0x57, [0x54, 0x13, 0x33, 0x00, 0x89, 0x60, 0x10, 0x34, 0xD2, 0x91, 0x22, 0x01, 0x90, 0x0F]),
            DataObject(0x9F0F, [0, 0, 0, 0, 0]), DataObject(0x9F0D, [0, 0, 0, 0, 0]),
        ]
        return card
    }

    /// A card that does CDA: certificates in a second record, signature in the answer to GENERATE AC.
    static func signingCard(cid: UInt8 = 0x80, profile: UInt8 = 0x11) -> PlainCard {
        var card = card(profile: profile, cid: cid)
        card.setOptions(DataObject(0x94, [0x10, 0x01, 0x02, 0x01]))
        card.records[[0x02, 0x14]] = [
            DataObject(0x8F, [0xFA]), DataObject(0x90, [1]), DataObject(0x9F32, [3]), DataObject(0x9F46, [1]),
            DataObject(0x9F47, [3]), DataObject(0x9F4A, [0x82]),
        ]
        card.cryptogram = card.cryptogram.filter { $0.tag != 0x9F26 } + [DataObject(0x9F4B, [1])]
        return card
    }

    private func run(
        _ card: PlainCard, amount: UInt64 = 500, type: TransactionType = .purchase, _ changes: DataObject...,
        authentication: OfflineAuthentication = .unavailable
    ) throws -> Run {
        try card.run(Terminals.mastercard(changes), .test(amount, type: type), authentication: authentication)
    }

    private func value(_ run: Run, _ tag: CardBytes.Tag) -> String? {
        run.outcome.outcome.dataRecord?.value(of: tag).map { Hex.string($0) }
    }

    @Test func `a plain card goes online with the TVR of a reader without CDA and relay resistance`() throws {
        let run = try run(Kernel2Tests.card(), DataObject(0xDF8122, [0x80, 0, 0, 0, 0]))
        #expect(run.outcome.outcome.status == .onlineRequest)
        #expect(run.commands.last == "80AE80000F00000000050080000000011234567800")
        #expect(value(run, 0x95) == "8000000001")
        #expect(run.messages == ["15/02", "1E/04", "1B/00"])
        #expect(run.outcome.outcome.uiOnOutcome?.languagePreference == Array("deen".utf8))
    }

    @Test func `no hit of an online action code asks for a TC, and the card may approve`() throws {
        var card = Kernel2Tests.card(cid: 0x40)
        let run = try run(card, DataObject(0xDF8122, [0, 0, 0, 0, 0]))
        #expect(run.commands.last?.hasPrefix("80AE4000") == true)
        #expect(run.outcome.outcome.status == .approved)
        #expect(
            run.outcome.outcome.uiOnOutcome
                == UIRequest(
                    .approved, .notReady, holdTime: 13, languagePreference: Array("deen".utf8)))
        card.cryptogram[0] = DataObject(0x9F27, [0x80])
        #expect(try self.run(card, DataObject(0xDF8122, [0, 0, 0, 0, 0])).outcome.outcome.status == .onlineRequest)
    }

    @Test func `a card that answers with more than asked for ends the application`() throws {
        let run = try run(Kernel2Tests.card(cid: 0x40), DataObject(0xDF8122, [0x80, 0, 0, 0, 0]))
        #expect(run.outcome.outcome.status == .endApplication)
        #expect(run.outcome.outcome.error.l2 == .cardDataError)
        #expect(run.messages.suffix(2) == ["1E/04", "1C/00"])
    }

    @Test(
        "an AAC declines, or offers the contact interface of a card",
        arguments: [
            (TransactionType.purchase, [0x00], nil, Outcome.Status.declined),
            (.purchase, [0x20], nil, .tryAnotherInterface), (.cash, [0x20], nil, .tryAnotherInterface),
            (.purchase, [0x20], [0x00, 0x56, 0x00, 0x01, 0x30, 0x31], .declined),
            (.purchase, [0x20], [0x00, 0x56, 0x00, 0x01, 0x30, 0x30], .tryAnotherInterface),
            (.refund, [0x20], nil, .endApplication),
        ] as [(TransactionType, [UInt8], [UInt8]?, Outcome.Status)])
    func refusal(type: TransactionType, input: [UInt8], thirdParty: [UInt8]?, status: Outcome.Status) throws {
        var card = Kernel2Tests.card(cid: 0x00)
        if let thirdParty { card.selection.append(DataObject(0x9F6E, thirdParty)) }
        let outcome = try run(card, type: type, DataObject(0xDF8117, input)).outcome.outcome
        #expect(outcome.status == status)
        #expect(outcome.dataRecord != nil)
        #expect(outcome.alternateInterface == (status == .tryAnotherInterface ? .contactChip : nil))
    }

    @Test(arguments: [(0x80, 0x90), (0x00, 0x90)] as [(UInt8, UInt8)])
    func `CDA is asked for with its bit`(cid: UInt8, reference: UInt8) throws {
        var card = Kernel2Tests.signingCard(cid: cid)
        if cid == 0 { card.cryptogram = Kernel2Tests.card(cid: 0).cryptogram }
        let run = try run(card, DataObject(0xDF8122, [0, 0, 0, 0, 0x01]), authentication: .accepting)
        let last = try #require(run.commands.last)
        #expect(last.hasPrefix("80AE" + Hex.string([reference])))
        #expect(run.outcome.outcome.status == (cid == 0 ? .declined : .onlineRequest))
    }

    @Test func `the cryptogram of a CDA answer comes out of the signature`() throws {
        let run = try run(
            Kernel2Tests.signingCard(), DataObject(0xDF8122, [0, 0, 0, 0, 0x01]), authentication: .accepting)
        #expect(value(run, 0x9F26) == "0102030405060708")
        #expect(value(run, 0x95) == "0000000001")
    }

    @Test func `an answer without the signature that was asked for ends the application`() throws {
        var card = Kernel2Tests.signingCard()
        card.cryptogram = Kernel2Tests.card().cryptogram
        let run = try run(card, DataObject(0xDF8122, [0, 0, 0, 0, 0x01]), authentication: .accepting)
        #expect(run.outcome.outcome.error.l2 == .cardDataError)
    }

    @Test func `a missing CA key or certificate fails CDA before the cryptogram is asked for`() throws {
        var card = Kernel2Tests.signingCard()
        card.cryptogram = Kernel2Tests.card().cryptogram
        let online = DataObject(0xDF8122, [0x04, 0, 0, 0, 0])
        let noKey = try run(card, online)
        #expect(noKey.commands.last?.hasPrefix("80AE8000") == true)
        #expect(value(noKey, 0x95) == "0400000001")
        card.records[[0x02, 0x14]]?.removeAll { $0.tag == 0x9F47 }
        let noExponent = try run(card, online, authentication: .accepting)
        #expect(value(noExponent, 0x95) == "2400000001")
    }

    @Test func `a static data list other than the AIP ends the application`() throws {
        var card = Kernel2Tests.signingCard()
        card.records[[0x02, 0x14]]?.removeAll { $0.tag == 0x9F4A }
        card.records[[0x02, 0x14]]?.append(DataObject(0x9F4A, [0x82, 0x84]))
        #expect(try run(card, authentication: .accepting).outcome.outcome.error.l2 == .cardDataError)
    }

    @Test func `limits compare with greater than`() throws {
        let card = Kernel2Tests.card()
        let limit = DataObject(0xDF8124, [0, 0, 0, 0, 0x05, 0x00])
        #expect(try run(card, amount: 500, limit).outcome.outcome.status == .onlineRequest)
        let over = try run(card, amount: 501, limit)
        #expect(over.outcome.outcome.error.l2 == .emptyCandidateList)
        let floor = DataObject(0xDF8123, [0, 0, 0, 0, 0x05, 0x00])
        #expect(value(try run(card, amount: 500, floor), 0x95) == "8000000001")
        #expect(value(try run(card, amount: 501, floor), 0x95) == "8000008001")
    }

    @Test(
        "the CVM limit chooses the reader's capability and the result",
        arguments: [
            (0x10, 1_000, "1F0302", Outcome.CVM.noCVM, "000808", false),
            (0x10, 1_001, "420300", .onlinePIN, "006008", true), (0x00, 1_001, "3F0000", .noCVM, "006008", true),
            (0x12, 1_000, "3F0002", .noCVM, "000808", false),
            (0x12, 1_001, "010002", .confirmationCodeVerified, "006008", true),
        ] as [(UInt8, UInt64, String, Outcome.CVM, String, Bool)])
    func verification(
        profile: UInt8, amount: UInt64, results: String, cvm: Outcome.CVM, capabilities: String, receipt: Bool
    ) throws {
        // On-device verification without CDA is answered with an AAC request, so that the cryptogram has to be one.
        let card = Kernel2Tests.card(profile: profile, cid: profile == 0x12 ? 0x00 : 0x80)
        let run = try run(card, amount: amount)
        #expect(value(run, 0x9F34) == results)
        #expect(value(run, 0x9F33) == capabilities)
        #expect(run.outcome.outcome.cvm == cvm)
        #expect(run.outcome.outcome.receipt == receipt)
        if profile == 0x12 { #expect(run.commands.last?.hasPrefix("80AE0000") == true) }
    }

    @Test func `a card that verifies its holder but has no list misses data`() throws {
        var card = Kernel2Tests.card()
        card.records[[0x01, 0x14]]?.removeAll { $0.tag == 0x8E }
        let run = try run(card)
        #expect(value(run, 0x9F34) == "3F0000")
        #expect(value(run, 0x95) == "A000000001")
    }

    @Test(arguments: [0x5F24, 0x5A, 0x8C] as [UInt32])
    func `a card without a mandatory record object ends the application`(tag: UInt32) throws {
        var card = Kernel2Tests.card()
        card.records[[0x01, 0x14]]?.removeAll { $0.tag.rawValue == tag }
        let outcome = try run(card).outcome.outcome
        #expect(outcome.status == .endApplication)
        #expect(outcome.error.l2 == .cardDataMissing)
        #expect(outcome.error.messageOnError == .insertSwipeOrTryAnotherCard)
        #expect(Hex.string(outcome.discretionaryData?.value(of: 0xDF8115) ?? []) == "00010000001C")
    }

    @Test func `status words decide between the next application and the end`() throws {
        for (instruction, isNext) in [(0xA8, true), (0xB2, false), (0xAE, false)] as [(UInt8, Bool)] {
            var card = Kernel2Tests.card()
            card.statuses[instruction] = 0x6985
            let error = try run(card).outcome.outcome.error
            #expect(error.l2 == (isNext ? .emptyCandidateList : .statusBytes))
            if !isNext { #expect(error.statusWord == 0x6985) }
        }
    }

    @Test func `a terminal's object or a repetition from the card is a parsing error`() throws {
        for object in [DataObject(0x9F02, [0, 0, 0, 0, 0, 1]), DataObject(0x82, [0x10, 0x80])] {
            var card = Kernel2Tests.card()
            card.options.append(object)
            #expect(try run(card).outcome.outcome.error.l2 == .parsingError)
        }
    }

    @Test func `a card of the other mode ends the application where the reader has only one`() throws {
        var card = Kernel2Tests.card()
        card.setOptions(DataObject(0x82, [0x10, 0x00]))
        #expect(try run(card, DataObject(0xDF811B, [0xA0])).outcome.outcome.error.l2 == .magStripeNotSupported)
    }

    @Test func `the mag-stripe record is left out only where the reader does mag-stripe`() throws {
        var card = Kernel2Tests.card()
        card.setOptions(DataObject(0x94, [0x08, 0x01, 0x01, 0x00, 0x10, 0x01, 0x01, 0x01]))
        card.records[[0x01, 0x0C]] = [DataObject(0x9F6C, [0x00, 0x01])]
        #expect(try run(card).commands.contains("00B2010C00") == false)
        #expect(try run(card, DataObject(0xDF811B, [0xA0])).commands.contains("00B2010C00"))
    }

    @Test func `a phone that wants its holder is presented a second time`() throws {
        var card = Kernel2Tests.card()
        card.cryptogram.append(DataObject(0xDF4B, [0x00, 0x01, 0x00]))
        let outcome = try run(card).outcome.outcome
        #expect(outcome.status == .endApplication)
        #expect(outcome.start == .b)
        #expect(outcome.uiOnOutcome == nil)
        #expect(outcome.uiOnRestart?.status == .readyToRead)
        #expect(try run(card).messages.suffix(2) == ["1E/04", "20/00"])
    }

    @Test func `a card that can tell its balance is asked where the terminal wants it`() throws {
        var card = Kernel2Tests.card(cid: 0x40)
        card.selection.append(DataObject(0x9F5D, [0x01, 0x06, 0x00]))
        card.answers[0xCA] = [0x9F, 0x50, 0x06, 0, 0, 0, 0, 0x43, 0x21]
        let outcome = try run(
            card, DataObject(0xDF8122, [0, 0, 0, 0, 0]), DataObject(0xDF8105, []), DataObject(0xDF8104, [])
        ).outcome.outcome
        #expect(outcome.uiOnOutcome?.value?.amount == [0, 0, 0, 0, 0x43, 0x21])
        #expect(outcome.discretionaryData?.value(of: 0xDF8104) == [0, 0, 0, 0, 0x43, 0x21])
        #expect(outcome.fieldOffRequest == 0x0D)
    }

    @Test func `a card lost with the options is asked for again, afterwards the application ends at B`() throws {
        let card = Kernel2Tests.card()
        let again = try card.run(Terminals.mastercard(), .test(500), lostAt: 2)
        #expect(again.messages.prefix(2) == ["15/02", "15/02"])
        #expect(again.outcome.outcome.status == .onlineRequest)
        for lostAt in [3, 4] {
            let outcome = try card.run(Terminals.mastercard(), .test(500), lostAt: lostAt).outcome.outcome
            #expect(outcome.status == .endApplication)
            #expect(outcome.start == .b)
            #expect(
                outcome.uiOnRestart
                    == UIRequest(
                        .presentCardAgain, .readyToRead, languagePreference: Array("deen".utf8)))
            #expect(outcome.error.l1 == .timeOut)
        }
    }

    @Test
    func `a device without a usable CA key is treated as a card where the terminal says so, and the key is named`()
        throws
    {
        var card = Kernel2Tests.signingCard(profile: 0x13)
        card.cryptogram = Kernel2Tests.card().cryptogram
        let online = DataObject(0xDF8122, [0x04, 0, 0, 0, 0])
        let allowing = DataObject(0x9F1D, [0x2C, 0x00, 0xA0, 0, 0, 0, 0, 0])
        let refusing = DataObject(0x9F1D, [0x2C, 0x00, 0x80, 0, 0, 0, 0, 0])
        let allowed = try run(card, amount: 5_000, online, allowing)
        #expect(allowed.commands.last?.hasPrefix("80AE8000") == true)
        #expect(allowed.outcome.outcome.status == .onlineRequest)
        #expect(
            allowed.outcome.outcome.unmatchedKey?.name == CAKeyName(rid: Array(AID.mastercard.prefix(5)), index: 0xFA))
        #expect(allowed.outcome.outcome.unmatchedKey?.isExpired == false)
        #expect(try run(card, amount: 5_000, online, refusing).commands.last?.hasPrefix("80AE0000") == true)
        let known = try run(
            Kernel2Tests.signingCard(profile: 0x13), amount: 5_000, online, authentication: .accepting)
        #expect(known.outcome.outcome.unmatchedKey == nil)
    }
}
