// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Synchronization
import Testing

@testable import EMV

@Suite("Kernel 7")
struct Kernel7Tests {
    static let aid: [UInt8] = [0xA0, 0, 0, 0x03, 0x33, 0x01, 0x01, 0x02]

    static func terminal(_ ttq: UInt32, _ limits: EntryPointLimits = EntryPointLimits()) -> TerminalConfiguration {
        var limits = limits
        limits.ttq = TTQ(rawValue: ttq)
        return TerminalConfiguration(
            terminalData: [DataObject(0x9F35, [0x22]), DataObject(0x9F33, [0x00, 0x68, 0x08])],
            combinations: [Combination(aid: aid, kernel: .unionPay, limits: limits)])
    }

    /// Everything in the answer to GET PROCESSING OPTIONS.
    static func card(_ cid: UInt8 = 0x80, ctq: [UInt8] = [], _ more: DataObject...) -> PlainCard {
        PlainCard(
            aid: aid, selection: [DataObject(0x9F38, [0x9F, 0x66, 0x04, 0x9F, 0x37, 0x04])],
            options: [
                DataObject(0x82, [0x20, 0x00]), DataObject(0x9F36, [0x00, 0x01]),
                DataObject(0x9F26, [1, 2, 3, 4, 5, 6, 7, 8]), DataObject(0x9F27, [cid]),
                DataObject(0x9F10, [0x07, 0x01, 0x12, 0x03, 0xA0, 0, 0]), DataObject(0x5F34, [0x01]),
                DataObject(
                    0x57, [0x62, 0x10, 0x94, 0x80, 0x00, 0x00, 0x00, 0x11, 0xD2, 0x91, 0x22, 0x01, 0x00, 0x00]),
            ] + (ctq.isEmpty ? [] : [DataObject(0x9F6C, ctq)]) + more)
    }

    static func signingCard(ctq: [UInt8] = [], version: [UInt8] = [0x00, 0x30]) -> PlainCard {
        var card = card(0x40, ctq: ctq)
        card.options += [DataObject(0x94, [0x08, 0x01, 0x01, 0x00]), DataObject(0x9F4B, [1])]
        card.records[[0x01, 0x0C]] = [
            DataObject(0x8F, [0x80]), DataObject(0x90, [1]), DataObject(0x9F32, [3]), DataObject(0x9F46, [1]),
            DataObject(0x9F47, [3]), DataObject(0x5F24, [0x29, 0x12, 0x31]), DataObject(0x9F08, version),
            DataObject(0x9F69, [0x01, 1, 2, 3, 4] + (ctq.isEmpty ? [0, 0] : ctq) + [0]),
        ]
        return card
    }

    @Test func `an ARQC goes online with its record`() throws {
        let run = try Self.card().run(Self.terminal(0x2600_4000), .test(500))
        #expect(run.outcome.outcome.status == .onlineRequest)
        #expect(run.messages == ["15/02", "17/04", "1B/00"])
        #expect(run.commands.last == "80A800000A8308260040001234567800")
        let record = try #require(run.outcome.outcome.dataRecord)
        #expect(record.value(of: 0x95) == [0, 0, 0, 0, 0])
        #expect(record.value(of: 0x9F66) == [0x26, 0x00, 0x40, 0x00])
        #expect(record.value(of: 0x57)?.count == 14)
    }

    @Test func `a card without the qualifiers in its PDOL is left out`() throws {
        var card = Self.card()
        card.selection = []
        #expect(try card.run(Self.terminal(0x2600_4000), .test(500)).commands.count == 2)
        card.selection = [DataObject(0x9F38, [0x9F, 0x37, 0x04])]
        #expect(try card.run(Self.terminal(0x2600_4000), .test(500)).outcome.outcome.error.l2 == .emptyCandidateList)
    }

    @Test func `6986 asks to present the card again after a second`() throws {
        var card = Self.card()
        card.statuses[0xA8] = .commandNotAllowed
        let run = try card.run(Self.terminal(0x2600_4000), .test(500))
        #expect(run.messages.prefix(3) == ["15/02", "21/05", "21/02"])
        #expect(run.fieldOff.prefix(2) == [0, 1_000])
    }

    @Test(arguments: [0x6984, 0x6985, 0x6A81] as [UInt16])
    func `any other status goes to the contacts, or ends the application`(status: UInt16) throws {
        var card = Self.card()
        card.statuses[0xA8] = StatusWord(status)
        let contact = try card.run(Self.terminal(0x3600_4000), .test(500)).outcome.outcome
        #expect(contact.status == .tryAnotherInterface && contact.alternateInterface == .contactChip)
        #expect(contact.error.statusWord == StatusWord(status))
        let end = try card.run(Self.terminal(0x2600_4000), .test(500)).outcome.outcome
        #expect(end.status == .endApplication && end.error.statusWord == StatusWord(status))
    }

    @Test(
        arguments: [
            (0x80, 0x82), (0x80, 0x9F36), (0x80, 0x9F26), (0x80, 0x9F10), (0x80, 0x57), (0x40, 0x94), (0x40, 0x9F26),
            (0x00, 0x57),
        ] as [(UInt8, UInt32)])
    func `a card without a mandatory object ends the application`(cid: UInt8, tag: UInt32) throws {
        var card = cid == 0x40 ? Self.signingCard() : Self.card(cid)
        card.options.removeAll { $0.tag.rawValue == tag }
        let outcome = try card.run(
            Self.terminal(0x2600_4000), .test(500), authentication: .accepting
        ).outcome.outcome
        #expect(outcome.status == .endApplication)
        #expect(outcome.error.l2 == .cardDataMissing)
    }

    @Test func `format 1 is refused, the terminal's objects are left out, a repetition ends the application`() throws {
        var card = Self.card()
        card.answers[0xA8] = [0x80, 0x06, 0x20, 0x00, 0x08, 0x01, 0x01, 0x00]
        #expect(try card.run(Self.terminal(0x2600_4000), .test(500)).outcome.outcome.error.l2 == .parsingError)
        let own = Self.card(
            0x80, DataObject(0x9F37, [9, 9, 9, 9]), DataObject(0x9F02, [9, 9, 9, 9, 9, 9]), DataObject(0x5F2A, [9, 9]))
        let record = try own.run(Self.terminal(0x2600_4000), .test(500)).outcome.outcome.dataRecord
        #expect(record?.value(of: 0x9F37) == [0x12, 0x34, 0x56, 0x78])
        #expect(record?.value(of: 0x5F2A) == [0x08, 0x40])
        let twice = try Self.card(0x80, DataObject(0x9F36, [0, 2])).run(Self.terminal(0x2600_4000), .test(500))
        #expect(twice.outcome.outcome.error.l2 == .parsingError)
        let sequence = try Self.card(0x80, DataObject(0x5F34, [0x02])).run(Self.terminal(0x2600_4000), .test(500))
        #expect(sequence.outcome.outcome.dataRecord?.value(of: 0x5F34) == [0x01])
    }

    @Test(arguments: [(0x80, .declined), (0x90, .approved), (0xA0, .onlineRequest)] as [(UInt8, Outcome.Status)])
    func `without 9F27 the issuer application data tell the type`(byte: UInt8, status: Outcome.Status) throws {
        var card = Self.signingCard()
        card.setOptions(DataObject(0x9F27, []), DataObject(0x9F10, [0x07, 0x01, 0x12, 0x03, byte, 0, 0]))
        let run = try card.run(Self.terminal(0x2400_4000), .test(100), authentication: .accepting)
        #expect(run.outcome.outcome.status == status)
    }

    @Test func `an AAC and a reserved type decline without a record`() throws {
        for cid: UInt8 in [0x00, 0xC0] {
            let outcome = try Self.card(cid).run(Self.terminal(0x2600_4000), .test(500)).outcome.outcome
            #expect(outcome.status == .declined)
            #expect(outcome.dataRecord == nil)
        }
    }

    @Test(
        "what the signature's hash ends with depends on the application version",
        arguments: [
            ("0030", 8, "12345678" + "000000000100" + "0840" + "0101020304000000"), ("0020", 8, "12345678"),
            ("002F", 0, "12345678"), (nil, 8, "12345678"), ("0030", 7, nil), ("0030", 17, nil),
            ("0031", 16, "12345678" + "000000000100" + "0840" + "01010203040000000000000000000000"),
        ] as [(String?, Int, String?)])
    func fastDDA(version: String?, count: Int, expected: String?) throws {
        var card = Self.signingCard()
        card.records[[0x01, 0x0C]]?.removeAll { $0.tag == 0x9F08 || $0.tag == 0x9F69 }
        if let version { card.records[[0x01, 0x0C]]?.append(DataObject(0x9F08, try Hex.bytes(version))) }
        let related = ([0x01, 1, 2, 3, 4] + [UInt8](repeating: 0, count: 20)).prefix(count)
        card.records[[0x01, 0x0C]]?.append(DataObject(0x9F69, Array(related)))
        let seen = SeenRequests()
        let authentication = OfflineAuthentication(
            hasKey: { _, _ in true },
            verify: { request in
                seen.all.withLock { $0.append(request) }
                return .verified(AuthenticatedData())
            })
        let run = try card.run(Self.terminal(0x2600_4000), .test(100), authentication: authentication)
        #expect(run.outcome.outcome.status == (expected == nil ? .declined : .approved))
        let requests = seen.all.withLock { $0 }
        #expect(requests.isEmpty == (expected == nil))
        if let request = requests.first, case .dda(let data) = request.method { #expect(Hex.string(data) == expected) }
    }

    @Test(
        "a failed authentication goes where the card says",
        arguments: [
            ([0x20, 0x00], 0x2600_4000, Outcome.Status.onlineRequest), ([0x20, 0x00], 0x2E00_4000, .declined),
            ([0x10, 0x00], 0x3600_4000, .tryAnotherInterface), ([0x10, 0x00], 0x2600_4000, .declined),
            ([0x00, 0x00], 0x3600_4000, .declined), ([], 0x3600_4000, .declined),
        ] as [([UInt8], UInt32, Outcome.Status)])
    func failedAuthentication(ctq: [UInt8], ttq: UInt32, status: Outcome.Status) throws {
        let card = Self.signingCard(ctq: ctq)
        let run = try card.run(Self.terminal(ttq), .test(100), authentication: .refusing)
        #expect(run.outcome.outcome.status == status)
        var other = card
        other.setOptions(DataObject(0x82, [0x00, 0x00]))
        let unsupported = try other.run(Self.terminal(ttq), .test(100), authentication: .accepting)
        #expect(unsupported.outcome.outcome.status == status)
    }

    @Test func `an expired card goes online only where it says so`() throws {
        for (ctq, ttq, status) in [
            ([0x08, 0x00], 0x2600_4000, Outcome.Status.onlineRequest), ([0x00, 0x00], 0x2600_4000, .declined),
            ([0x08, 0x00], 0x2E00_4000, .declined),
        ] as [([UInt8], UInt32, Outcome.Status)] {
            for card in [Self.signingCard(ctq: ctq), Self.card(0x80, ctq: ctq)] {
                var card = card
                card.records[[0x01, 0x0C]]?.removeAll { $0.tag == 0x5F24 }
                card.options.append(DataObject(0x5F24, [0x20, 0x03, 0x15]))
                let run = try card.run(Self.terminal(ttq), .test(100), authentication: .accepting)
                #expect(run.outcome.outcome.status == status)
            }
        }
        var unknown = Self.signingCard()
        unknown.records[[0x01, 0x0C]]?.removeAll { $0.tag == 0x5F24 }
        let run = try unknown.run(Self.terminal(0x2600_4000), .test(100), authentication: .accepting)
        #expect(run.outcome.outcome.status == .declined)
    }

    @Test func `a TC goes online where the reader required an online cryptogram`() throws {
        let limits = EntryPointLimits(floorLimit: 0)
        let run = try Self.signingCard().run(Self.terminal(0x2600_4000, limits), .test(100))
        #expect(run.outcome.outcome.status == .onlineRequest)
    }

    @Test func `PAN and sequence number are looked up on the exception file for approvals`() throws {
        var kernels = KernelSet()
        kernels.register(.unionPay) {
            Kernel7(
                options: Kernel7Options(
                    exceptionFile: ExceptionFile { pan, sequence in pan.last == 1 && sequence == 1 }))
        }
        let terminal = Self.terminal(0x2600_4000)
        let offline = try Self.signingCard().run(terminal, .test(100), authentication: .accepting, kernels: kernels)
        #expect(offline.outcome.outcome.status == .declined)
        let online = try Self.card().run(terminal, .test(100), kernels: kernels)
        #expect(online.outcome.outcome.status == .onlineRequest)
    }

    @Test(
        "reader and card agree on a verification",
        arguments: [
            ([], nil, 0x2600_4000, false, Outcome.CVM.noCVM), ([], nil, 0x2600_4000, true, .obtainSignature),
            ([], nil, 0x2400_4000, true, .onlinePIN), ([], nil, 0x2000_4000, true, nil),
            ([0x80, 0x00], nil, 0x2600_4000, true, .onlinePIN), ([0x80, 0x00], nil, 0x2200_4000, true, nil),
            ([0x40, 0x00], nil, 0x2600_4000, true, .obtainSignature), ([0x40, 0x00], nil, 0x2400_4000, true, nil),
            ([0x00, 0x80], nil, 0x2600_4000, true, .confirmationCodeVerified),
            ([0x00, 0x80], [0x00, 0x80], 0x2600_4000, true, .confirmationCodeVerified),
            ([0x00, 0x80], [0x00, 0x00], 0x2600_4000, true, nil), ([0x00, 0x00], nil, 0x2600_4000, false, .noCVM),
            ([0x00, 0x00], nil, 0x2600_4000, true, nil),
        ] as [([UInt8], [UInt8]?, UInt32, Bool, Outcome.CVM?)])
    func verification(ctq: [UInt8], copy: [UInt8]?, ttq: UInt32, isRequired: Bool, cvm: Outcome.CVM?) throws {
        var card = Self.card(0x80, ctq: ctq)
        if let copy { card.options.append(DataObject(0x9F69, [0x01, 1, 2, 3, 4] + copy + [0])) }
        let limits = EntryPointLimits(cvmRequiredLimit: isRequired ? 0 : nil)
        let run = try card.run(Self.terminal(ttq, limits), .test(500))
        #expect(run.outcome.outcome.status == (cvm == nil ? .declined : .onlineRequest))
        #expect(run.outcome.outcome.cvm == cvm ?? .noCVM)
        #expect(run.outcome.outcome.receipt == (cvm == .obtainSignature))
    }

    @Test func `an online PIN takes an approval online`() throws {
        let run = try Self.signingCard(ctq: [0x80, 0x00]).run(
            Self.terminal(0x2600_4000), .test(100), authentication: .accepting)
        #expect(run.outcome.outcome.status == .onlineRequest)
        #expect(run.outcome.outcome.cvm == .onlinePIN)
    }

    @Test func `a card that is lost may be presented again`() throws {
        for step in 2...3 {
            let run = try Self.signingCard().run(
                Self.terminal(0x2600_4000), .test(100), authentication: .accepting, lostAt: step)
            #expect(run.outcome.outcome.status == .approved)
            #expect(run.messages.prefix(2) == ["15/02", "21/02"])
        }
    }
}
