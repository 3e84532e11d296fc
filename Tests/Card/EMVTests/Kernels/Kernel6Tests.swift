// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Testing

@testable import EMV

@Suite("Kernel 6")
struct Kernel6Tests {
    static let aid: [UInt8] = [0xA0, 0, 0, 0x01, 0x52, 0x30, 0x10]

    static func terminal(_ ttq: UInt32, _ limits: EntryPointLimits = EntryPointLimits()) -> TerminalConfiguration {
        var limits = limits
        limits.ttq = TTQ(rawValue: ttq)
        return TerminalConfiguration(
            terminalData: [DataObject(0x9F35, [0x22]), DataObject(0x9F33, [0x00, 0x68, 0x08])],
            combinations: [Combination(aid: aid, kernel: .discover, limits: limits)])
    }

    /// Everything in the answer to GET PROCESSING OPTIONS.
    static func card(_ cid: UInt8 = 0x80, requirements: [UInt8] = [0, 0], results: UInt8 = 0) -> PlainCard {
        PlainCard(
            aid: aid, selection: [DataObject(0x9F38, [0x9F, 0x66, 0x04, 0x95, 0x05])],
            options: [
                DataObject(0x82, [0x01, 0x00]), DataObject(0x9F36, [0x00, 0x01]), DataObject(0x9F27, [cid]),
                DataObject(0x9F10, [0x01, 0x05, 0xA0, results, 0, 0, 0, 0, 0, 0]),
                DataObject(0x9F71, requirements), DataObject(0x9F26, [8, 7, 6, 5, 4, 3, 2, 1]),
                DataObject(
                    0x57, [0x65, 0x10, 0x00, 0x00, 0x00, 0x00, 0x01, 0x17, 0xD2, 0x91, 0x22, 0x01, 0x00, 0x00]),
                DataObject(0x5F24, [0x29, 0x12, 0x31]),
            ])
    }

    static func signingCard(requirements: [UInt8] = [0, 0]) -> PlainCard {
        var card = card(0x40, requirements: requirements)
        card.options += [
            DataObject(0x9F4B, [1]), DataObject(0x8F, [0x5B]), DataObject(0x90, [1]), DataObject(0x9F32, [3]),
            DataObject(0x9F46, [1]), DataObject(0x9F47, [3]),
        ]
        return card
    }

    private func value(_ run: Run, _ tag: CardBytes.Tag) -> String? {
        run.outcome.outcome.dataRecord?.value(of: tag).map { Hex.string($0) }
    }

    @Test func `an ARQC goes online with its record`() throws {
        let run = try Self.card().run(Self.terminal(0x2600_4000), .test(500))
        #expect(run.outcome.outcome.status == .onlineRequest)
        #expect(run.messages == ["15/02", "17/04", "1B/00"])
        #expect(run.commands.last == "80A800000B830926004000800000000000")
        #expect(value(run, 0x95) == "8000000000")
        #expect(value(run, 0x9F06) == "A0000001523010")
        #expect(value(run, 0x9B) == "0000")
    }

    @Test(arguments: [(500, "8000000000"), (501, "8000008000")] as [(UInt64, String)])
    func `the floor limit 9F1B is exceeded above it`(amount: UInt64, tvr: String) throws {
        let limits = EntryPointLimits(terminalFloorLimit: 500)
        #expect(value(try Self.card().run(Self.terminal(0x2600_4000, limits), .test(amount)), 0x95) == tvr)
    }

    @Test func `a card that prefers mag-stripe mode, and ZIP, are left to other readers`() throws {
        var card = Self.card()
        card.selection.append(DataObject(0x9F7D, [0x01, 0x00]))
        #expect(try card.run(Self.terminal(0x2600_4000), .test(500)).commands.count == 2)
        card = Self.card()
        card.aid = [0xA0, 0, 0, 0x03, 0x24, 0x10, 0x10]
        var terminal = Self.terminal(0x2600_4000)
        terminal.combinations[0].aid = card.aid
        var entryPoint = EntryPoint(
            configuration: terminal, transaction: .test(500), unpredictableNumbers: .fixed([1]))
        #expect(try Run.drive(&entryPoint) { card.answer($1) }.commands.count == 2)
    }

    @Test func `status words of GET PROCESSING OPTIONS`() throws {
        var card = Self.card()
        card.statuses[0xA8] = .referenceDataInvalidated
        let contact = try card.run(Self.terminal(0x2600_4000), .test(500)).outcome.outcome
        #expect(contact.status == .tryAnotherInterface)
        card.statuses[0xA8] = .commandNotAllowed
        let phone = try card.run(Self.terminal(0x2600_4000), .test(500))
        #expect(phone.messages.prefix(3) == ["15/02", "20/05", "20/02"])
        #expect(phone.fieldOff.prefix(2) == [0, 1_300])
        card.statuses[0xA8] = .conditionsNotSatisfied
        let next = try card.run(Self.terminal(0x2600_4000), .test(500)).outcome.outcome
        #expect(next.error.l2 == .emptyCandidateList)
    }

    @Test(arguments: [0x82, 0x9F36, 0x9F10, 0x9F27, 0x9F71] as [UInt32])
    func `a card without a mandatory object ends the application, empty or absent`(tag: UInt32) throws {
        for isEmpty in [false, true] {
            var card = Self.card()
            card.options.removeAll { $0.tag.rawValue == tag }
            if isEmpty { card.options.append(DataObject(CardBytes.Tag(tag), [])) }
            let outcome = try card.run(Self.terminal(0x2600_4000), .test(500)).outcome.outcome
            #expect(outcome.error.l2 == .cardDataMissing)
        }
    }

    @Test func `format 1, an object that comes twice and a wrong length end the application`() throws {
        var card = Self.card()
        card.answers[0xA8] = [0x80, 0x06, 0x01, 0x00, 0x08, 0x01, 0x01, 0x00]
        #expect(try card.run(Self.terminal(0x2600_4000), .test(500)).outcome.outcome.error.l2 == .parsingError)
        card = Self.card()
        card.options.append(DataObject(0x9F36, [0x00, 0x02]))
        #expect(try card.run(Self.terminal(0x2600_4000), .test(500)).outcome.outcome.error.l2 == .parsingError)
        card = Self.card(requirements: [0x00])
        #expect(try card.run(Self.terminal(0x2600_4000), .test(500)).outcome.outcome.error.l2 == .cardDataError)
        card = Self.card()
        card.setOptions(DataObject(0x9F26, []))
        #expect(try card.run(Self.terminal(0x2600_4000), .test(500)).outcome.outcome.error.l2 == .cardDataMissing)
    }

    @Test func `a signed TC is approved with the cryptogram of its signature`() throws {
        let run = try Self.signingCard().run(Self.terminal(0x2600_4000), .test(500), authentication: .accepting)
        #expect(run.outcome.outcome.status == .approved)
        #expect(value(run, 0x9F26) == "0102030405060708")
        #expect(value(run, 0x95) == "0000000000")
        #expect(value(run, 0x9B) == "8000")
    }

    @Test func `a TC is declined where the reader required an online cryptogram`() throws {
        let limits = EntryPointLimits(floorLimit: 0)
        let run = try Self.signingCard().run(Self.terminal(0x2600_4000, limits), .test(500), authentication: .accepting)
        #expect(run.outcome.outcome.status == .declined)
        #expect(run.outcome.outcome.dataRecord == nil)
    }

    @Test(
        "a failed CDA goes where the card says",
        arguments: [
            (0x0000, 0x2600_4000, Outcome.Status.declined), (0x0040, 0x2600_4000, .onlineRequest),
            (0x0040, 0x2E00_4000, .declined), (0x0020, 0x3600_4000, .tryAnotherInterface),
            (0x0020, 0x2600_4000, .declined), (0x0060, 0x3E00_4000, .tryAnotherInterface),
        ] as [(UInt16, UInt32, Outcome.Status)])
    func failedCDA(requirements: UInt16, ttq: UInt32, status: Outcome.Status) throws {
        let bytes = [UInt8(requirements >> 8), UInt8(truncatingIfNeeded: requirements)]
        for authentication in [OfflineAuthentication.refusing, .unavailable] {
            let run = try Self.signingCard(requirements: bytes).run(
                Self.terminal(ttq), .test(500), authentication: authentication)
            #expect(run.outcome.outcome.status == status)
        }
        let unsigned = try Self.card(0x40, requirements: bytes).run(Self.terminal(ttq), .test(500))
        #expect(unsigned.outcome.outcome.status == status)
    }

    @Test func `a certificate that is missing is declined whatever the card says`() throws {
        var card = Self.signingCard(requirements: [0x00, 0x40])
        card.options.removeAll { $0.tag == 0x9F47 }
        let run = try card.run(Self.terminal(0x2600_4000), .test(500), authentication: .accepting)
        #expect(run.outcome.outcome.status == .declined)
    }

    @Test func `an AAC and a reserved type decline`() throws {
        for cid: UInt8 in [0x00, 0xC0] {
            let outcome = try Self.card(cid).run(Self.terminal(0x2600_4000), .test(500)).outcome.outcome
            #expect(outcome.status == .declined)
        }
    }

    @Test(
        "restrictions decline or go online",
        arguments: [
            (0x5F24, "200315", 0x0000, Outcome.Status.onlineRequest), (0x5F24, "200315", 0x0004, .declined),
            (0x5F24, "200316", 0x0004, .approved), (0x5F25, "200317", 0x0000, .onlineRequest),
            (0x5F25, "200316", 0x0000, .approved), (0x9F07, "0000", 0x0000, .declined),
            (0x9F07, "0100", 0x0000, .approved),
        ] as [(UInt32, String, UInt16, Outcome.Status)])
    func restrictions(tag: UInt32, value: String, requirements: UInt16, status: Outcome.Status) throws {
        var card = Self.signingCard(requirements: [0x00, UInt8(truncatingIfNeeded: requirements)])
        card.setOptions(DataObject(CardBytes.Tag(tag), try Hex.bytes(value)))
        let run = try card.run(Self.terminal(0x2600_4000), .test(500), authentication: .accepting)
        #expect(run.outcome.outcome.status == status)
    }

    @Test func `a card on the exception file is declined`() throws {
        var kernels = KernelSet()
        kernels.register(.discover) {
            Kernel6(options: Kernel6Options(exceptionFile: ExceptionFile { pan, _ in pan.last == 7 }))
        }
        let run = try Self.card().run(Self.terminal(0x2600_4000), .test(500), kernels: kernels)
        #expect(run.outcome.outcome.status == .declined)
    }

    @Test(
        "reader and card agree on a verification",
        arguments: [
            (0x0000, 0, 0x2600_4000, false, Outcome.CVM.noCVM), (0x8000, 0, 0x2600_4000, true, .onlinePIN),
            (0x8000, 0, 0x2600_4000, false, .onlinePIN), (0x8002, 0, 0x2200_4000, true, .obtainSignature),
            (0x8000, 0, 0x2200_4000, true, nil), (0x4000, 0, 0x2600_4000, true, .obtainSignature),
            (0x4000, 0, 0x2400_4000, true, nil), (0x4001, 0, 0x2400_4000, true, .noCVM),
            (0x0000, 0x02, 0x2600_4000, true, .confirmationCodeVerified), (0x0000, 0x03, 0x2600_4000, true, nil),
            (0x0000, 0x02, 0x2600_0000, true, nil), (0x1000, 0x00, 0x2600_4000, true, .confirmationCodeVerified),
            (0x0001, 0x00, 0x2600_4000, true, .noCVM), (0x0000, 0, 0x2600_4000, true, nil),
        ] as [(UInt16, UInt8, UInt32, Bool, Outcome.CVM?)])
    func verification(requirements: UInt16, results: UInt8, ttq: UInt32, isRequired: Bool, cvm: Outcome.CVM?) throws {
        let bytes = [UInt8(requirements >> 8), UInt8(truncatingIfNeeded: requirements)]
        let limits = EntryPointLimits(cvmRequiredLimit: isRequired ? 0 : nil)
        let run = try Self.card(requirements: bytes, results: results).run(Self.terminal(ttq, limits), .test(500))
        #expect(run.outcome.outcome.cvm == cvm)
        #expect(run.outcome.outcome.status == (cvm == nil ? .endApplication : .onlineRequest))
        #expect(run.outcome.outcome.receipt == (cvm == .obtainSignature))
        if cvm == nil {
            let contact = try Self.card(requirements: bytes, results: results).run(
                Self.terminal(ttq | 0x1000_0000, limits), .test(500))
            #expect(contact.outcome.outcome.status == .tryAnotherInterface)
        }
    }

    @Test func `a reader that never goes online cannot take an ARQC`() throws {
        let declined = try Self.card().run(Self.terminal(0x3E00_4000), .test(500))
        #expect(declined.outcome.outcome.status == .declined)
        let contact = try Self.card(requirements: [0x00, 0x80]).run(Self.terminal(0x3E00_4000), .test(500))
        #expect(contact.outcome.outcome.status == .tryAnotherInterface)
    }
}
