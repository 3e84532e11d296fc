// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Testing

@testable import EMV

/// Action analysis, GENERATE AC, legacy and mag-stripe mode, recovery and issuer update.
@Suite("Kernel 5 cryptograms")
struct Kernel5CryptogramTests {
    private func value(_ run: Run, _ tag: CardBytes.Tag) -> String? {
        run.outcome.outcome.dataRecord?.value(of: tag).map { Hex.string($0) }
    }

    private let noCodes = [
        DataObject(0xDF8120, [0, 0, 0, 0, 0]), DataObject(0xDF8121, [0, 0, 0, 0, 0]),
        DataObject(0xDF8122, [0, 0, 0, 0, 0]),
    ]

    @Test(
        "the action codes decide, also for a terminal that is always online",
        arguments: [
            (0x22, 0x0000_0000, ApplicationCryptogram.tc), (0x22, 0x80_0000_0000, .arqc), (0x21, 0, .tc),
            (0x24, 0x80_0000_0000, .arqc), (0x25, 0x80_0000_0000, .arqc), (0x23, 0x80_0000_0000, .aac),
            (0x23, 0, .tc), (0x26, 0x80_0000_0000, .aac), (0x22, 0x04_0000_0000, .aac), (0x26, 0x04_0000_0000, .aac),
        ] as [(UInt8, UInt64, ApplicationCryptogram)])
    func analysis(type: UInt8, bits: UInt64, expected: ApplicationCryptogram) {
        let codes = ActionCodes(
            terminalDenial: TVR(rawValue: 0x04_0000_0000), terminalOnline: TVR(rawValue: 0x80_0000_0000),
            terminalDefault: TVR(rawValue: 0x80_0000_0000), issuerDenial: [], issuerOnline: [], issuerDefault: [])
        let terminal = TerminalType(rawValue: type)
        #expect(Kernel5TAA.decide(TVR(rawValue: bits), codes, terminal, isRefund: false) == expected)
        #expect(Kernel5TAA.decide(TVR(rawValue: bits), codes, terminal, isRefund: true) == .aac)
    }

    @Test func `missing issuer codes deny nothing and send everything online`() {
        var codes = ActionCodes(terminalDenial: [], terminalOnline: [], terminalDefault: [])
        for bit in 0..<40 {
            let tvr = TVR(rawValue: 1 << UInt64(bit))
            #expect(Kernel5TAA.decide(tvr, codes, TerminalType(rawValue: 0x22), isRefund: false) == .arqc)
            #expect(Kernel5TAA.decide(tvr, codes, TerminalType(rawValue: 0x23), isRefund: false) == .aac)
        }
        #expect(Kernel5TAA.decide([], codes, TerminalType(rawValue: 0x22), isRefund: false) == .tc)
        codes.issuerOnline = []
        #expect(Kernel5TAA.decide(.expired, codes, TerminalType(rawValue: 0x22), isRefund: false) == .tc)
    }

    @Test func `without configured codes the kernel's own count`() throws {
        let none = Kernel5Tests.terminal(DataObject(0xDF8120, []), DataObject(0xDF8121, []), DataObject(0xDF8122, []))
        let run = try Kernel5Tests.card().run(none, .test(500))
        #expect(run.commands.last?.hasPrefix("80AE8000") == true)
        var usage = Kernel5Tests.card()
        usage.records[[0x01, 0x0C]]?.append(DataObject(0x9F07, [0x00, 0x00]))
        #expect(try usage.run(none, .test(500)).outcome.outcome.status == .declined)
    }

    @Test(
        "the card says how its holder is verified, the profile what the reader can do",
        arguments: [
            (0x00, 500, "F28000", Outcome.CVM.noCVM, "1F0002"), (0x00, 5_000, "F28000", nil, nil),
            (0x10, 5_000, "F28000", .obtainSignature, "1E0000"), (0x10, 5_000, "B28000", nil, nil),
            (0x20, 5_000, "F28000", .onlinePIN, "020000"), (0x20, 5_000, "D28000", nil, nil),
            (0x30, 5_000, "F28000", .confirmationCodeVerified, "010002"), (0x30, 5_000, "E28000", nil, nil),
            (0x35, 500, "F28000", .confirmationCodeVerified, "010002"), (0x40, 500, "F28000", nil, nil),
        ] as [(UInt8, UInt64, String, Outcome.CVM?, String?)])
    func verification(
        status: UInt8, amount: UInt64, profile: String, cvm: Outcome.CVM?, results: String?
    ) throws {
        let terminal = Kernel5Tests.terminal(DataObject(0x9F53, try Hex.bytes(profile)))
        let run = try Kernel5Tests.card(status: status).run(terminal, .test(amount))
        #expect(run.outcome.outcome.status == (cvm == nil ? .declined : .onlineRequest))
        #expect(run.outcome.outcome.cvm == cvm ?? .noCVM)
        #expect(value(run, 0x9F34) == results)
        if cvm == nil { #expect(run.outcome.outcome.dataRecord?.map { $0.tag } == [0x57, 0x95, 0x9F53]) }
    }

    @Test func `a signed TC is approved, a wrong signature declines with its bit`() throws {
        let card = Kernel5Tests.signingCard()
        let good = try card.run(Kernel5Tests.terminal(), .test(500), authentication: .accepting)
        #expect(good.commands.last?.hasPrefix("80AE5000") == true)
        #expect(good.outcome.outcome.status == .approved)
        #expect(value(good, 0x9F26) == "0102030405060708")
        let bad = try card.run(Kernel5Tests.terminal(), .test(500), authentication: .refusing)
        #expect(bad.outcome.outcome.status == .declined)
        #expect(value(bad, 0x95) == "0400000000")
    }

    @Test func `missing data and keys keep CDA from being asked for`() throws {
        var terminal = Kernel5Tests.terminal()
        terminal.combinations[0].kernelData = [DataObject(0xDF811B, [0x22])] + noCodes
        var card = Kernel5Tests.signingCard(cid: 0x40)
        card.cryptogram = Kernel5Tests.card(cid: 0x40).cryptogram
        #expect(value(try card.run(terminal, .test(500)), 0x95) == "0400000000")
        card.records[[0x02, 0x0C]]?.removeAll { $0.tag == 0x9F46 }
        let run = try card.run(terminal, .test(500), authentication: .accepting)
        #expect(value(run, 0x95) == "2400000000")
        #expect(run.commands.last?.hasPrefix("80AE4000") == true)
        terminal.combinations[0].kernelData[0] = DataObject(0xDF811B, [0x02])
        #expect(value(try card.run(terminal, .test(500)), 0x95) == "8000000000")
    }

    @Test(
        "an answer that lacks something, or is more than was asked for, declines",
        arguments: [0x9F27, 0x9F36, 0x9F26, 0x9F50] as [UInt32])
    func missing(tag: UInt32) throws {
        var card = Kernel5Tests.card()
        card.cryptogram.removeAll { $0.tag.rawValue == tag }
        #expect(try card.run(Kernel5Tests.terminal(), .test(500)).outcome.outcome.status == .declined)
        let more = try Kernel5Tests.card(cid: 0x40).run(Kernel5Tests.terminal(), .test(500))
        #expect(more.outcome.outcome.status == .declined)
        let less = try Kernel5Tests.card(cid: 0x00).run(Kernel5Tests.terminal(), .test(500))
        #expect(less.outcome.outcome.status == .declined)
        var signing = Kernel5Tests.signingCard()
        signing.cryptogram.removeAll { $0.tag == 0x9F4B || $0.tag.rawValue == tag }
        let run = try signing.run(Kernel5Tests.terminal(), .test(500), authentication: .accepting)
        #expect(run.outcome.outcome.status == .declined)
    }

    @Test(
        arguments: [
            (0x6986, Outcome.Status.endApplication, UIRequest.Message.seePhone),
            (0x6984, .tryAnotherInterface, .insertCard), (0x6985, .endApplication, .insertSwipeOrTryAnotherCard),
        ] as [(UInt16, Outcome.Status, UIRequest.Message)])
    func `status words of GENERATE AC`(
        status: UInt16, outcome: Outcome.Status, message: UIRequest.Message
    ) throws {
        var card = Kernel5Tests.card()
        card.statuses[0xAE] = StatusWord(status)
        let run = try card.run(Kernel5Tests.terminal(), .test(500))
        #expect(run.outcome.outcome.status == outcome)
        #expect(run.outcome.outcome.uiOnOutcome?.message == message)
        #expect(run.outcome.outcome.start == (status == 0x6986 ? .b : nil))
        #expect(run.outcome.outcome.error.statusWord == StatusWord(status))
    }

    @Test func `a legacy card is asked for an ARQC where the reader allows it`() throws {
        var card = Kernel5Tests.card()
        card.selection = []
        card.answers[0xA8] = [0x80, 0x06, 0x00, 0x00, 0x08, 0x01, 0x01, 0x00]
        card.answers[0xAE] = [0x80, 0x0B, 0x80, 0x00, 0x01, 1, 2, 3, 4, 5, 6, 7, 8]
        let refused = try card.run(Kernel5Tests.terminal(), .test(500))
        #expect(refused.commands.count == 2)
        let terminal = Kernel5Tests.terminal(DataObject(0xDF811B, [0x23]))
        let run = try card.run(terminal, .test(500))
        #expect(run.outcome.outcome.status == .onlineRequest)
        #expect(run.commands.last?.hasPrefix("80AE8000") == true)
        #expect(value(run, 0x95) == "8000008000")
        let signed = try card.run(terminal, .test(5_000))
        #expect(signed.outcome.outcome.cvm == .obtainSignature)
        card.answers[0xA8] = nil
        #expect(try card.run(terminal, .test(500)).commands.count == 3)
        card.answers[0xA8] = [0x80, 0x06, 0x00, 0x00, 0x08, 0x01, 0x01, 0x00]
        #expect(try card.run(terminal, .test(500, type: .refund)).outcome.outcome.status == .declined)
    }

    @Test(
        "a mag-stripe card tells its verification by the last digit of its track",
        arguments: [
            (0x01, 500, Outcome.Status.onlineRequest, Outcome.CVM.noCVM),
            (0x02, 5_000, .onlineRequest, .obtainSignature),
            (0x03, 5_000, .onlineRequest, .onlinePIN), (0x04, 5_000, .onlineRequest, .confirmationCodeVerified),
            (0x01, 5_000, .declined, .noCVM), (0x05, 500, .declined, .noCVM), (0x00, 500, .declined, .noCVM),
        ] as [(UInt8, UInt64, Outcome.Status, Outcome.CVM)])
    func magStripe(digit: UInt8, amount: UInt64, status: Outcome.Status, cvm: Outcome.CVM) throws {
        var card = Kernel5Tests.card()
        card.options = [DataObject(0x82, [0x00, 0x00])]
        card.answers[0xD0] = [
            0x77, 0x10, 0x57, 0x0E, 0x35, 0x69, 0x99, 0x00, 0x10, 0x08, 0x22, 0x11, 0xD2, 0x91, 0x22, 0x01, 0x00, digit,
        ]
        #expect(try card.run(Kernel5Tests.terminal(), .test(amount)).commands.count == 3)
        let run = try card.run(Kernel5Tests.terminal(DataObject(0xDF811B, [0x26])), .test(amount))
        #expect(run.outcome.outcome.status == status)
        #expect(run.outcome.outcome.cvm == cvm)
        #expect(run.commands[3].hasPrefix("80D0000025"))
        if status == .onlineRequest { #expect(value(run, 0x9F39) == "91") }
        for (word, expected) in [
            (0x6300, Outcome.Status.declined), (0x6986, .endApplication), (0x6985, .endApplication),
        ]
            as [(UInt16, Outcome.Status)]
        {
            var other = card
            other.statuses[0xD0] = StatusWord(word)
            let outcome = try other.run(
                Kernel5Tests.terminal(DataObject(0xDF811B, [0x26])), .test(amount)
            ).outcome.outcome
            #expect(outcome.status == expected)
            #expect(outcome.start == (word == 0x6986 ? .b : nil))
        }
    }

    @Test func `the answer to a torn GENERATE AC is fetched with ECHO at the next tap`() throws {
        var card = Kernel5Tests.signingCard()
        var entryPoint = EntryPoint(
            configuration: Kernel5Tests.terminal(), transaction: .test(500),
            unpredictableNumbers: .fixed([0x1234_5678]),
            authentication: .accepting)
        let torn = try Run.drive(&entryPoint) { number, command in command.ins == 0xAE ? nil : card.answer(command) }
        #expect(torn.outcome.outcome.status == .endApplication)
        #expect(torn.outcome.wantsRestart)
        card.statuses[0xA8] = 0x6200
        var echo = TLVWriter()
        echo.append(0x77, card.cryptogram.encoded)
        card.answers[0xDF] = echo.bytes
        let run = try Run.drive(&entryPoint) { card.answer($1) }
        #expect(run.commands.last == "80DF000000")
        #expect(run.outcome.outcome.status == .approved)
        #expect(value(run, 0x9F37) == "12345678")
        #expect(value(run, 0x57)?.hasPrefix("3569990010082211D") == true)
        #expect(entryPoint.tornTransactions.isEmpty)
    }

    @Test func `6200 without a torn transaction, and a card that cannot echo, try the next application`() throws {
        var card = Kernel5Tests.signingCard()
        card.statuses[0xA8] = 0x6200
        #expect(try card.run(Kernel5Tests.terminal(), .test(500)).commands.count == 3)
        card.statuses = [:]
        var entryPoint = EntryPoint(
            configuration: Kernel5Tests.terminal(), transaction: .test(500), unpredictableNumbers: .fixed([1]),
            authentication: .accepting)
        _ = try Run.drive(&entryPoint) { number, command in command.ins == 0xAE ? nil : card.answer(command) }
        card.statuses[0xA8] = 0x6200
        let run = try Run.drive(&entryPoint) { card.answer($1) }
        #expect(run.commands.last == "80DF000000")
        #expect(run.outcome.outcome.error.l2 == .emptyCandidateList)
    }

    @Test(arguments: [(0x00, nil), (0x01, .d), (0x02, .b)] as [(UInt8, StartPoint?)])
    func `the issuer's answer is brought to cards that take it`(parameter: UInt8, start: StartPoint?) throws {
        var card = Kernel5Tests.card()
        card.cryptogram.append(DataObject(0x9F60, [parameter]))
        var entryPoint = EntryPoint(
            configuration: Kernel5Tests.terminal(), transaction: .test(500), unpredictableNumbers: .fixed([1]))
        let first = try Run.drive(&entryPoint) { card.answer($1) }
        #expect(first.outcome.outcome.start == start)
        guard start != nil else { return }
        card.answers[0x82] = []
        entryPoint.provide(
            OnlineResponse(authorisationResponseCode: [0x30, 0x30], issuerAuthenticationData: [1, 2, 3]))
        let second = try Run.drive(&entryPoint) { card.answer($1) }
        #expect(second.commands.last == "0082000003010203")
        #expect(second.outcome.outcome.status == .endApplication)
        #expect(second.outcome.outcome.discretionaryData?.value(of: 0x9F5B) == [0x90, 0x00])
    }
}
