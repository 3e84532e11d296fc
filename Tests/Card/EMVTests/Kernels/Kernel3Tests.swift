// SPDX-License-Identifier: Apache-2.0
import CardBytes
import TestSupport
import Testing

@testable import EMV

@Suite("Kernel 3")
struct Kernel3Tests {
    private func ttq(_ value: UInt32, floorLimit: UInt64? = nil, cvmLimit: UInt64? = nil) -> TerminalConfiguration {
        Terminals.visa(
            EntryPointLimits(cvmRequiredLimit: cvmLimit, floorLimit: floorLimit, ttq: TTQ(rawValue: value)))
    }

    /// Everything in the answer to GET PROCESSING OPTIONS. `type` is 9F27.
    private func card(_ type: UInt8, ctq: [UInt8] = [], _ more: DataObject...) -> PlainCard {
        PlainCard(
            aid: AID.visa, selection: [DataObject(0x50, Array("VISA".utf8)), DataObject(0x9F38, [0x9F, 0x66, 0x04])],
            options: [
                DataObject(0x82, [0x20, 0x00]), DataObject(0x9F36, [0x00, 0x01]),
                DataObject(0x9F26, [1, 2, 3, 4, 5, 6, 7, 8]), DataObject(0x9F10, [0x06, 0x01, 0x0A, 0x03, 0xA0, 0, 0]),
                DataObject(0x57, [0x47, 0x61, 0x73, 0x90, 0x01, 0x01, 0x00, 0x10, 0xD2, 0x91, 0x22, 0x01]),
                DataObject(0x9F27, [type]), DataObject(0x5F24, [0x29, 0x12, 0x31]),
            ] + (ctq.isEmpty ? [] : [DataObject(0x9F6C, ctq)]) + more)
    }

    /// A card that signs: certificates are in the same answer.
    private func signingCard(ctq: [UInt8] = [], _ more: DataObject...) -> PlainCard {
        var card = card(0x40, ctq: ctq)
        card.options += [
            DataObject(0x9F4B, [1]), DataObject(0x8F, [0x92]), DataObject(0x90, [1]), DataObject(0x9F32, [3]),
            DataObject(0x9F46, [1]), DataObject(0x9F47, [3]), DataObject(0x9F69, [0x01, 1, 2, 3, 4]),
        ]
        for object in more { card.setOptions(object) }
        return card
    }

    @Test func `6984 sends the cardholder to the contact interface`() throws {
        var card = card(0x80)
        card.statuses[0xA8] = .referenceDataInvalidated
        let outcome = try card.run(ttq(0x3600_4000), .test(100)).outcome.outcome
        #expect(outcome.status == .tryAnotherInterface)
        #expect(outcome.alternateInterface == .contactChip)
        #expect(outcome.uiOnOutcome?.message == .insertCard)
    }

    @Test func `6985 tries the next application`() throws {
        var card = card(0x80)
        card.statuses[0xA8] = .conditionsNotSatisfied
        let run = try card.run(ttq(0x2600_4000), .test(100))
        #expect(run.outcome.outcome.status == .endApplication)
        #expect(run.outcome.outcome.error.l2 == .emptyCandidateList)
    }

    @Test func `6986 asks to look at the phone and present it again`() throws {
        var card = card(0x80)
        card.statuses[0xA8] = .commandNotAllowed
        let run = try card.run(ttq(0x2600_4000), .test(100))
        #expect(run.messages.prefix(3) == ["15/02", "20/05", "20/02"])
        #expect(run.fieldOff.prefix(2) == [0, 1_300])
    }

    @Test(arguments: [0x6A82, 0x6700, 0x6283] as [UInt16])
    func `any other status ends the application`(status: UInt16) throws {
        var card = card(0x80)
        card.statuses[0xA8] = StatusWord(status)
        let outcome = try card.run(ttq(0x2600_4000), .test(100)).outcome.outcome
        #expect(outcome.status == .endApplication)
        #expect(outcome.uiOnOutcome == UIRequest(.insertSwipeOrTryAnotherCard, .processingError))
        #expect(outcome.error.statusWord == StatusWord(status))
    }

    @Test func `a format 1 answer with the records behind it works like format 2`() throws {
        var card = card(0x80)
        let record = card.options.filter { $0.tag != 0x82 }
        card.answers[0xA8] = [0x80, 0x06, 0x20, 0x00, 0x08, 0x01, 0x01, 0x00]
        card.records[[0x01, 0x0C]] = record
        let run = try card.run(ttq(0x2600_4000), .test(100))
        #expect(run.outcome.outcome.status == .onlineRequest)
        #expect(run.commands.last == "00B2010C00")
    }

    @Test func `a format 1 answer without records leaves the mandatory data missing`() throws {
        var card = card(0x80)
        card.answers[0xA8] = [0x80, 0x02, 0x20, 0x00]
        let outcome = try card.run(ttq(0x2600_4000), .test(100)).outcome.outcome
        #expect(outcome.status == .endApplication)
        #expect(outcome.error.l2 == .cardDataMissing)
    }

    @Test(arguments: [0x82, 0x9F36, 0x9F26, 0x9F10, 0x57] as [UInt32])
    func `a card without a mandatory object ends the application, empty or absent`(tag: UInt32) throws {
        for isEmpty in [false, true] {
            var card = card(0x80)
            card.options.removeAll { $0.tag.rawValue == tag }
            if isEmpty { card.options.append(DataObject(CardBytes.Tag(tag), [])) }
            let run = try card.run(ttq(0x2600_4000), .test(100))
            #expect(run.outcome.outcome.status == .endApplication)
            #expect(run.messages.last == "1C/05")
        }
    }

    @Test func `an object that comes twice ends the application`() throws {
        let twice = try card(0x80, DataObject(0x9F36, [0x00, 0x02])).run(ttq(0x2600_4000), .test(100))
        #expect(twice.outcome.outcome.status == .endApplication)
        #expect(twice.outcome.outcome.error.l2 == .parsingError)
        #expect(twice.messages == ["15/02", "1C/05"])
    }

    @Test func `two different PANs end the application`() throws {
        let other = DataObject(0x5A, [0x47, 0x61, 0x73, 0x90, 0x01, 0x01, 0x00, 0x11])
        #expect(try card(0x80, other).run(ttq(0x2600_4000), .test(100)).outcome.outcome.status == .endApplication)
        let same = DataObject(0x5A, [0x47, 0x61, 0x73, 0x90, 0x01, 0x01, 0x00, 0x10])
        #expect(try card(0x80, same).run(ttq(0x2600_4000), .test(100)).outcome.outcome.status == .onlineRequest)
    }

    @Test func `an AAC and a reserved type decline without a data record`() throws {
        for type: UInt8 in [0x00, 0xC0] {
            let outcome = try card(type).run(ttq(0x2600_4000), .test(100)).outcome.outcome
            #expect(outcome.status == .declined)
            #expect(outcome.uiOnOutcome?.message == .notAuthorised)
            #expect(outcome.dataRecord == nil)
        }
    }

    @Test(arguments: [(0x80, .declined), (0x90, .approved), (0xA0, .onlineRequest)] as [(UInt8, Outcome.Status)])
    func `without 9F27 the issuer application data tell the type`(byte: UInt8, status: Outcome.Status) throws {
        var card = signingCard()
        card.setOptions(DataObject(0x9F27, []), DataObject(0x9F10, [0x06, 0x01, 0x11, 0x03, byte, 0, 0]))
        let run = try card.run(ttq(0x2400_4000), .test(100), authentication: .accepting)
        #expect(run.outcome.outcome.status == status)
    }

    @Test func `a TC goes online where the reader required an online cryptogram`() throws {
        let outcome = try card(0x40).run(ttq(0x2600_4000, floorLimit: 0), .test(100)).outcome.outcome
        #expect(outcome.status == .onlineRequest)
    }

    @Test func `an expired card goes online only where it says so`() throws {
        let expired = DataObject(0x5F24, [0x20, 0x03, 0x15])
        for (ctq, status) in [([0x08, 0x00] as [UInt8], Outcome.Status.onlineRequest), ([0x00, 0x00], .declined)] {
            let run = try signingCard(ctq: ctq, expired).run(ttq(0x2600_4000), .test(100), authentication: .accepting)
            #expect(run.outcome.outcome.status == status)
        }
        var lastDay = signingCard()
        lastDay.setOptions(DataObject(0x5F24, [0x20, 0x03, 0x16]))
        let run = try lastDay.run(ttq(0x2600_4000), .test(100), authentication: .accepting)
        #expect(run.outcome.outcome.status == .approved)
    }

    @Test func `a card on the exception file is declined offline and let through online`() throws {
        var kernels = KernelSet()
        let file = ExceptionFile { pan, _ in pan.suffix(2) == [1, 0] }
        kernels.register(.visa) { Kernel3(options: Kernel3Options(exceptionFile: file)) }
        let offline = try signingCard().run(
            ttq(0x2600_4000), .test(100), authentication: .accepting, kernels: kernels)
        #expect(offline.outcome.outcome.status == .declined)
        let online = try card(0x80).run(ttq(0x2600_4000), .test(100), kernels: kernels)
        #expect(online.outcome.outcome.status == .onlineRequest)
    }

    @Test(
        "cash and cashback need their usage bit, or the card sends them to another interface",
        arguments: [
            (TransactionType.cash, [0x80, 0x00], [0x00, 0x00], Outcome.Status.onlineRequest),
            (.cash, [0x40, 0x00], [0x00, 0x00], .declined),
            (.cash, [0x40, 0x00], [0x04, 0x00], .tryAnotherInterface),
            (.purchaseWithCashback, [0x00, 0x80], [0x00, 0x00], .onlineRequest),
            (.purchaseWithCashback, [0xFF, 0x40], [0x00, 0x00], .declined),
            (.purchaseWithCashback, [0xFF, 0x40], [0x02, 0x00], .tryAnotherInterface),
            (.purchase, [0x00, 0x00], [0x00, 0x00], .onlineRequest),
        ] as [(TransactionType, [UInt8], [UInt8], Outcome.Status)])
    func usage(type: TransactionType, control: [UInt8], ctq: [UInt8], status: Outcome.Status) throws {
        let card = card(0x80, ctq: ctq, DataObject(0x9F07, control), DataObject(0x5F28, [0x08, 0x40]))
        let outcome = try card.run(ttq(0x2600_4000), .test(100, type: type)).outcome.outcome
        #expect(outcome.status == status)
        if status == .tryAnotherInterface { #expect(outcome.uiOnOutcome?.message == .insertOrSwipe) }
    }

    /// A.2, byte 1 bit 1: two sources name the bit, no public one the step.
    @Test func `a card that is not valid at cash machines is refused by one, and by no other terminal`() throws {
        func status(_ ctq: [UInt8], terminal type: UInt8 = 0x14, capabilities: UInt8 = 0x80) throws -> Outcome.Status {
            var terminal = ttq(0x2600_4000)
            terminal.terminalData.removeAll { $0.tag == 0x9F35 }
            terminal.terminalData += [DataObject(0x9F35, [type]), DataObject(0x9F40, [capabilities, 0, 0, 0, 0])]
            let card = card(0x80, ctq: ctq, DataObject(0x9F07, [0x80, 0x00]), DataObject(0x5F28, [0x08, 0x40]))
            return try card.run(terminal, .test(100, type: .cash)).outcome.outcome.status
        }
        #expect(try status([0x00, 0x00]) == .onlineRequest)
        #expect(try status([0x01, 0x00]) == .declined)
        #expect(try status([0x05, 0x00]) == .tryAnotherInterface)
        #expect(try status([0x01, 0x00], terminal: 0x22) == .onlineRequest)
        #expect(try status([0x01, 0x00], capabilities: 0x60) == .onlineRequest)
    }

    @Test func `abroad the international usage bit counts`() throws {
        let card = card(0x80, DataObject(0x9F07, [0x40, 0x00]), DataObject(0x5F28, [0x02, 0x76]))
        #expect(try card.run(ttq(0x2600_4000), .test(100, type: .cash)).outcome.outcome.status == .onlineRequest)
    }

    @Test func `a failed authentication goes where the card says`() throws {
        let cases: [([UInt8], UInt32, Outcome.Status)] = [
            ([0x20, 0x00], 0x2600_4000, .onlineRequest), ([0x20, 0x00], 0x2E00_4000, .declined),
            ([0x10, 0x00], 0x3600_4000, .tryAnotherInterface), ([0x10, 0x00], 0x2600_4000, .declined),
            ([0x30, 0x00], 0x3E00_4000, .tryAnotherInterface), ([0x00, 0x00], 0x3600_4000, .declined),
        ]
        for (ctq, qualifiers, status) in cases {
            let run = try signingCard(ctq: ctq).run(ttq(qualifiers), .test(100), authentication: .refusing)
            #expect(run.outcome.outcome.status == status, "CTQ \(ctq), TTQ \(qualifiers)")
        }
    }

    @Test func `version 00 of 9F69 signs the unpredictable number alone and unknown versions fail`() throws {
        let alone = OfflineAuthentication(
            hasKey: { _, _ in true },
            verify: { request in
                guard case .dda(let data) = request.method, data == [0x12, 0x34, 0x56, 0x78] else {
                    return .failed(.signatureHash)
                }
                return .verified(AuthenticatedData())
            })
        func status(_ version: UInt8) throws -> Outcome.Status {
            try signingCard(DataObject(0x9F69, [version, 1, 2, 3, 4]))
                .run(ttq(0x2600_4000), .test(100), authentication: alone).outcome.outcome.status
        }
        #expect(try status(0x00) == .approved)
        #expect(try status(0x01) == .declined)
        #expect(try status(0x02) == .declined)
    }

    @Test func `a card that names another static data list than the AIP cannot be authenticated`() throws {
        let run = try signingCard(DataObject(0x9F4A, [0x82, 0x84])).run(
            ttq(0x2600_4000), .test(100), authentication: .accepting)
        #expect(run.outcome.outcome.status == .declined)
    }

    @Test func `a refund needs neither authentication nor verification of its holder`() throws {
        let run = try card(0x40).run(
            ttq(0x2000_4000, cvmLimit: 0), .test(100, type: .refund), authentication: .refusing)
        #expect(run.outcome.outcome.status == .approved)
        #expect(run.outcome.outcome.cvm == .noCVM)
    }

    @Test(
        "the card's qualifiers and the reader's choose the verification",
        arguments: [
            ([], 0x2600_4000, true, Outcome.CVM.obtainSignature), ([], 0x2400_4000, true, .onlinePIN),
            ([], 0x2000_4000, true, nil), ([], 0x2600_4000, false, .noCVM),
            ([0x80, 0x00], 0x2600_4000, false, .onlinePIN), ([0xC0, 0x00], 0x2200_4000, false, .obtainSignature),
            ([0x80, 0x00], 0x2000_4000, true, nil), ([0x80, 0x00], 0x2000_4000, false, .noCVM),
            ([0x00, 0x80], 0x2000_4000, true, .confirmationCodeVerified),
            ([0x40, 0x00], 0x2200_4000, true, .obtainSignature), ([0x00, 0x00], 0x2600_4000, true, nil),
            ([0x00, 0x00], 0x2600_4000, false, .noCVM),
        ] as [([UInt8], UInt32, Bool, Outcome.CVM?)])
    func verification(ctq: [UInt8], qualifiers: UInt32, isRequired: Bool, cvm: Outcome.CVM?) throws {
        let run = try card(0x80, ctq: ctq).run(ttq(qualifiers, cvmLimit: isRequired ? 0 : nil), .test(100))
        let outcome = run.outcome.outcome
        #expect(outcome.status == (cvm == nil ? .declined : .onlineRequest))
        if let cvm { #expect(outcome.cvm == cvm) }
        #expect(outcome.receipt == (cvm == .obtainSignature))
    }

    @Test func `the signed copy of the qualifiers has to agree`() throws {
        let agreeing = DataObject(0x9F69, [0x01, 1, 2, 3, 4, 0x00, 0x80])
        let other = DataObject(0x9F69, [0x01, 1, 2, 3, 4, 0x00, 0x00])
        let short = DataObject(0x9F69, [0x01, 1, 2, 3, 4])
        for (related, status) in [(agreeing, Outcome.Status.onlineRequest), (other, .declined), (short, .declined)] {
            let run = try card(0x80, ctq: [0x00, 0x80], related).run(ttq(0x2000_4000, cvmLimit: 0), .test(100))
            #expect(run.outcome.outcome.status == status)
        }
    }

    @Test func `an online PIN sends a TC online`() throws {
        let run = try signingCard(ctq: [0x80, 0x00]).run(ttq(0x2400_4000), .test(100), authentication: .accepting)
        #expect(run.outcome.outcome.status == .onlineRequest)
        #expect(run.outcome.outcome.cvm == .onlinePIN)
    }

    @Test func `the data record has an all-zero TVR and the form factor without its lowest nibble`() throws {
        let run = try card(
            0x80, DataObject(0x9F6E, [0x03, 0x02, 0x03, 0x4F]), DataObject(0x9F7C, [0x07]),
            DataObject(0x9F07, [0xFF, 0xC0]), DataObject(0x5F28, [0x08, 0x40])
        ).run(
            ttq(0x2600_4000), .test(100, type: .purchaseWithCashback, otherAmount: 50))
        let record = try #require(run.outcome.outcome.dataRecord)
        #expect(record.value(of: 0x95) == [0, 0, 0, 0, 0])
        #expect(record.value(of: 0x9F6E) == [0x03, 0x02, 0x03, 0x40])
        #expect(record.value(of: 0x9F7C) == [0x07])
        // The card knows cashback by 9F03.
        #expect(record.value(of: 0x9C) == [0x00])
        #expect(record.value(of: 0x9F03) == [0, 0, 0, 0, 0, 0x50])
        #expect(run.outcome.device == .phone)
    }

    @Test func `the spending amount is shown as a balance`() throws {
        let amount: [UInt8] = [0, 0, 0, 0, 0x12, 0x34]
        let outcome = try card(0x80, DataObject(0x9F5D, amount)).run(ttq(0x2600_4000), .test(100)).outcome.outcome
        #expect(
            outcome.uiOnOutcome?.value == UIRequest.Value(qualifier: .balance, amount: amount, currency: [0x08, 0x40]))
        #expect(outcome.discretionaryData == [DataObject(0x9F5D, amount)])
    }

    @Test func `issuer update processing on both sides asks for a second presentment and brings the scripts`() throws {
        let card = card(0x80, ctq: [0x00, 0x40])
        var entryPoint = EntryPoint(
            configuration: ttq(0x2600_C000), transaction: .test(100), unpredictableNumbers: .fixed([1]))
        let first = try Run.drive(&entryPoint) { card.answer($1) }
        #expect(first.outcome.outcome.start == .b)
        #expect(first.outcome.outcome.onlineResponseData == .emvData)
        entryPoint.provide(
            OnlineResponse(
                authorisationResponseCode: [0x30, 0x30], issuerAuthenticationData: [1, 2, 3, 4, 5, 6, 7, 8],
                scripts: try Hex.bytes("720986078424000002AABB")))
        let second = try Run.drive(&entryPoint) { card.answer($1) }
        #expect(second.messages.first == "21/02")
        #expect(second.commands.dropFirst() == ["00820000080102030405060708", "8424000002AABB"])
        #expect(second.outcome.outcome.discretionaryData?.value(of: 0x9F5B) == [0x6D, 0x00, 0x6D, 0x00])
    }

    @Test func `dynamic limits of the card's program replace the combination's`() throws {
        var configuration = ttq(0x2600_4000)
        configuration.combinations[0].dynamicLimits = [
            DynamicReaderLimits(programIdentifier: [0x31], limits: EntryPointLimits(floorLimit: 0)),
            DynamicReaderLimits(programIdentifier: [0x31, 0x02], limits: EntryPointLimits(transactionLimit: 50)),
        ]
        func ttqSent(_ program: [UInt8], _ amount: UInt64) throws -> (String?, Outcome.Status) {
            var card = card(0x80)
            card.selection.append(DataObject(0x9F5A, program))
            let run = try card.run(configuration, .test(amount))
            return (run.commands.first { $0.hasPrefix("80A8") }, run.outcome.outcome.status)
        }
        #expect(try ttqSent([0x31, 0x01], 100).0 == "80A800000683042680400000")
        #expect(try ttqSent([0x40], 100).0 == "80A800000683042600400000")
        #expect(try ttqSent([0x31, 0x02, 0x03], 100).1 == .tryAnotherInterface)
        #expect(try ttqSent([0x31, 0x02, 0x03], 49).1 == .onlineRequest)
    }

    @Test(arguments: [2, 3])
    func `a card lost inside the kernel is asked for again with a fresh number`(lostAt: Int) throws {
        var card = card(0x80)
        card.selection = [DataObject(0x9F38, [0x9F, 0x66, 0x04, 0x9F, 0x37, 0x04])]
        let record = card.options.filter { $0.tag == 0x57 }
        card.options.removeAll { $0.tag == 0x57 }
        card.options.append(DataObject(0x94, [0x08, 0x01, 0x01, 0x00]))
        card.records[[0x01, 0x0C]] = record
        let run = try card.run(ttq(0x2600_4000), .test(100), lostAt: lostAt)
        #expect(run.outcome.outcome.status == .onlineRequest)
        #expect(run.messages.prefix(2) == ["15/02", "21/02"])
        let sent = run.commands.filter { $0.hasPrefix("80A8") }
        #expect(sent.map { $0.suffix(10) } == ["1234567800", "1234567900"])
    }
}
