// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Testing

@testable import EMV

/// Cardholder verification, offline authentication, GENERATE AC and mag-stripe mode.
@Suite("Kernel 4 cryptograms")
struct Kernel4CryptogramTests {
    private func mobile(_ results: [UInt8]?) -> PlainCard {
        var card = Kernel4Tests.card(profile: [0x10, 0xC0])
        if let results { card.options.append(DataObject(0x9F71, results)) }
        return card
    }

    private func value(_ run: Run, _ tag: CardBytes.Tag) -> String? {
        run.outcome.outcome.dataRecord?.value(of: tag).map { Hex.string($0) }
    }

    private func list(_ rules: [UInt8]) -> PlainCard {
        var card = Kernel4Tests.card()
        card.records[[0x01, 0x0C]]?.removeAll { $0.tag == 0x8E }
        if !rules.isEmpty { card.records[[0x01, 0x0C]]?.append(DataObject(0x8E, [0, 0, 0, 0, 0, 0, 0, 0] + rules)) }
        return card
    }

    /// Without contacts, so that an impossible verification goes on.
    private let withoutContacts = DataObject(0x9F6E, [0x18, 0xA0, 0x00, 0x03])

    @Test(
        "above the limit the list decides",
        arguments: [
            ([0x42, 0x03, 0x1E, 0x03], 0x68, "420300", Outcome.CVM.onlinePIN, "8000040000"),
            ([0x42, 0x03, 0x1E, 0x03], 0x28, "1E0300", .obtainSignature, "8000000000"),
            ([0x42, 0x00, 0x1E, 0x00], 0x28, "1E0000", .obtainSignature, "8000000000"),
            ([0x02, 0x00, 0x1E, 0x00], 0x28, "3F0001", .noCVM, "8000800000"),
            ([0x1F, 0x00], 0x28, "3F0001", .noCVM, "8000800000"),
            ([0x5F, 0x00, 0x1E, 0x03], 0x28, "1E0300", .obtainSignature, "8000000000"),
            ([0x00, 0x00], 0x28, "000001", .noCVM, "8000800000"),
            ([0x46, 0x00, 0x1E, 0x00], 0x28, "1E0000", .obtainSignature, "8000400000"),
            ([0x1E, 0x09], 0x28, "3F0001", .noCVM, "8000800000"),
            ([], 0x28, "3F0001", .noCVM, "A000800000"),
        ] as [([UInt8], UInt8, String, Outcome.CVM, String)])
    func verification(
        rules: [UInt8], capabilities: UInt8, results: String, cvm: Outcome.CVM, tvr: String
    ) throws {
        let terminal = Kernel4Tests.terminal(DataObject(0x9F33, [0x00, capabilities, 0x88]), withoutContacts)
        let run = try list(rules).run(terminal, .test(5_000))
        #expect(run.outcome.outcome.status == .onlineRequest)
        #expect(run.outcome.outcome.cvm == cvm)
        #expect(run.outcome.outcome.receipt == (cvm == .obtainSignature))
        #expect(value(run, 0x9F34) == results)
        #expect(value(run, 0x95) == tvr)
    }

    @Test func `below the limit the list is not walked`() throws {
        let run = try list([0x00, 0x00]).run(Kernel4Tests.terminal(), .test(4_999))
        #expect(value(run, 0x9F34) == "3F0000")
        #expect(run.outcome.outcome.cvm == .noCVM)
    }

    @Test func `an impossible verification goes to the contacts where there are some`() throws {
        let outcome = try list([0x1F, 0x00]).run(Kernel4Tests.terminal(), .test(5_000)).outcome.outcome
        #expect(outcome.status == .tryAnotherInterface)
        #expect(outcome.alternateInterface == .contactChip)
        var card = Kernel4Tests.card(profile: [0x00, 0x80])
        card.cryptogram = []
        let other = try card.run(Kernel4Tests.terminal(), .test(5_000)).outcome.outcome
        #expect(other.status == .tryAnotherInterface)
    }

    @Test(arguments: [[0x01, 0x01, 0x02], nil, [0x3F, 0x01, 0x00], [0x01, 0x01, 0x01]] as [[UInt8]?])
    func `a device that has not verified its holder is looked at once`(results: [UInt8]?) throws {
        let run = try mobile(results).run(Kernel4Tests.terminal(withoutContacts), .test(5_000))
        #expect(run.outcome.outcome.status == .onlineRequest)
        if results?.last == 0x02 {
            #expect(run.outcome.outcome.cvm == .confirmationCodeVerified)
            #expect(value(run, 0x9F34) == "410302")
            #expect(run.messages == ["15/02", "17/04", "1B/00"])
        } else {
            // The second tap goes on in the list.
            #expect(run.messages == ["15/02", "20/05", "20/02", "17/04", "1B/00"])
            #expect(run.fieldOff == [0, 1_300])
            #expect(run.outcome.outcome.cvm == .onlinePIN)
        }
    }

    @Test func `a blocked device sets the try limit bit and the list goes on`() throws {
        let run = try mobile([0x01, 0x01, 0x03]).run(Kernel4Tests.terminal(withoutContacts), .test(5_000))
        #expect(value(run, 0x95) == "8000240000")
        #expect(run.outcome.outcome.cvm == .onlinePIN)
    }

    @Test func `a reader without mobile CVM does not care`() throws {
        let terminal = Kernel4Tests.terminal(DataObject(0x9F6E, [0x98, 0x20, 0x00, 0x03]))
        let run = try mobile(nil).run(terminal, .test(5_000))
        #expect(run.messages == ["15/02", "17/04", "1B/00"])
        #expect(run.outcome.outcome.cvm == .onlinePIN)
    }

    @Test(
        "the action codes decide by the type of terminal",
        arguments: [
            (0x21, "0000000000", 0x80), (0x22, "0000000000", 0x40), (0x22, "8000000000", 0x80),
            (0x25, "8000000000", 0x80), (0x24, "0000000000", 0x80), (0x23, "8000000000", 0x40),
        ] as [(UInt8, String, UInt8)])
    func analysis(type: UInt8, online: String, reference: UInt8) throws {
        let terminal = Kernel4Tests.terminal(
            DataObject(0xDF8122, try Hex.bytes(online)), DataObject(0xDF8120, [0, 0, 0, 0, 0]), type: type)
        let run = try Kernel4Tests.card(cid: reference).run(terminal, .test(500))
        #expect(run.commands.last?.hasPrefix("80AE" + Hex.string([reference])) == true)
        #expect(run.outcome.outcome.status == (reference == 0x40 ? .approved : .onlineRequest))
    }

    @Test func `every TVR bit meets its action code`() throws {
        for bit in 0..<40 {
            let mask = TVR(rawValue: 1 << UInt64(bit))
            let hit = ActionCodes(
                terminalDenial: mask, terminalOnline: mask, terminalDefault: mask, issuerDenial: [], issuerOnline: [],
                issuerDefault: [])
            let miss = TVR(rawValue: TVR(rawValue: .max).rawValue & ~mask.rawValue)
            #expect(hit.decide(mask, TerminalType(rawValue: 0x22)) == .aac)
            var online = hit
            online.terminalDenial = []
            #expect(online.decide(mask, TerminalType(rawValue: 0x22)) == .arqc)
            #expect(online.decide(miss, TerminalType(rawValue: 0x22)) == .tc)
            #expect(online.decide(mask, TerminalType(rawValue: 0x23)) == .aac)
            #expect(online.decide(miss, TerminalType(rawValue: 0x23)) == .tc)
        }
    }

    @Test func `CDA is asked for where card, reader and keys allow it`() throws {
        let online = DataObject(0xDF8122, [0x00, 0x00, 0x00, 0x00, 0x00])
        let signed = try Kernel4Tests.signingCard().run(
            Kernel4Tests.terminal(online), .test(500), authentication: .accepting)
        #expect(signed.commands.last?.hasPrefix("80AE5000") == true)
        #expect(signed.outcome.outcome.status == .approved)
        #expect(value(signed, 0x9F26) == "0102030405060708")
        #expect(value(signed, 0x95) == "0000000000")
        var plain = Kernel4Tests.signingCard()
        plain.cryptogram = Kernel4Tests.card(cid: 0x40).cryptogram
        let noKey = try plain.run(Kernel4Tests.terminal(online), .test(500))
        #expect(noKey.commands.last?.hasPrefix("80AE40000B04000000") == true)
        plain.records[[0x02, 0x0C]]?.removeAll { $0.tag == 0x9F47 }
        let missing = try plain.run(Kernel4Tests.terminal(online), .test(500), authentication: .accepting)
        #expect(missing.commands.last?.hasPrefix("80AE40000B24000000") == true)
    }

    @Test func `a wrong or missing CDA signature declines`() throws {
        let refused = try Kernel4Tests.signingCard(cid: 0x80).run(
            Kernel4Tests.terminal(), .test(500), authentication: .refusing)
        #expect(
            refused.commands.last?.hasPrefix("80AE4000") == true || refused.commands.last?.hasPrefix("80AE") == true)
        #expect(refused.outcome.outcome.status == .declined)
        var card = Kernel4Tests.signingCard(cid: 0x80)
        card.cryptogram = Kernel4Tests.card(cid: 0x80).cryptogram
        let missing = try card.run(Kernel4Tests.terminal(), .test(500), authentication: .accepting)
        #expect(missing.outcome.outcome.status == .declined)
    }

    @Test func `a card without CDA gets SDA`() throws {
        let card = Kernel4Tests.signingCard(profile: [0x50, 0x80], cid: 0x80)
        var plain = card
        plain.cryptogram = Kernel4Tests.card().cryptogram
        let terminal = Kernel4Tests.terminal(type: 0x21)
        #expect(value(try plain.run(terminal, .test(500), authentication: .accepting), 0x95) == "0200000000")
        #expect(value(try plain.run(terminal, .test(500), authentication: .refusing), 0x95) == "4200000000")
        #expect(value(try plain.run(terminal, .test(500)), 0x95) == "4200000000")
    }

    @Test func `6984 of a device asks for its holder, of a card it ends the application`() throws {
        var device = mobile(nil)
        device.statuses[0xAE] = .referenceDataInvalidated
        let run = try device.run(Kernel4Tests.terminal(), .test(500))
        #expect(run.messages.prefix(3) == ["15/02", "20/05", "20/02"])
        var card = Kernel4Tests.card()
        card.statuses[0xAE] = .referenceDataInvalidated
        #expect(try card.run(Kernel4Tests.terminal(), .test(500)).outcome.outcome.status == .endApplication)
    }

    @Test func `an AAC declines or goes to the contacts where the reader tries them first`() throws {
        let card = Kernel4Tests.card(cid: 0x00)
        #expect(try card.run(Kernel4Tests.terminal(), .test(500)).outcome.outcome.status == .declined)
        let contacts = Kernel4Tests.terminal(DataObject(0x9F6E, [0x9C, 0xA0, 0x00, 0x03]))
        #expect(try card.run(contacts, .test(500)).outcome.outcome.status == .tryAnotherInterface)
        let none = Kernel4Tests.terminal(DataObject(0x9F6E, [0x1C, 0xA0, 0x00, 0x03]))
        #expect(try card.run(none, .test(500)).outcome.outcome.status == .declined)
    }

    @Test func `a card that answers with more than was asked for ends the application`() throws {
        let outcome = try Kernel4Tests.card(cid: 0x40).run(Kernel4Tests.terminal(type: 0x21), .test(500)).outcome
            .outcome
        #expect(outcome.error.l2 == .cardDataError)
        var card = Kernel4Tests.card()
        card.cryptogram.removeAll { $0.tag == 0x9F36 }
        #expect(try card.run(Kernel4Tests.terminal(), .test(500)).outcome.outcome.error.l2 == .cardDataMissing)
    }

    @Test func `a card that is lost in GENERATE AC ends the application, before it the tap starts over`() throws {
        let run = try Kernel4Tests.card().run(Kernel4Tests.terminal(), .test(500), lostAt: 4)
        #expect(run.outcome.outcome.status == .endApplication)
        #expect(run.outcome.outcome.start == .b)
        #expect(run.outcome.outcome.uiOnRestart?.message == .presentCardAgain)
        let early = try Kernel4Tests.card().run(Kernel4Tests.terminal(), .test(500), lostAt: 3)
        #expect(early.outcome.outcome.status == .onlineRequest)
        #expect(early.messages.prefix(2) == ["15/02", "21/02"])
    }

    @Test func `a mag-stripe card needs a reader that has the mode switched on`() throws {
        let card = Kernel4Tests.card(profile: [0x10, 0x00])
        let outcome = try card.run(Kernel4Tests.terminal(), .test(500)).outcome.outcome
        #expect(outcome.status == .endApplication)
        #expect(outcome.error.l2 == .magStripeNotSupported)
    }

    @Test func `a mag-stripe transaction puts number, cryptogram and counter into the tracks`() throws {
        var card = Kernel4Tests.card(profile: [0x10, 0x00])
        card.data[[0x9F, 0x36]] = [0x9F, 0x36, 0x02, 0x01, 0x02]
        let run = try card.run(Kernel4Tests.terminal(DataObject(0x9F6E, [0xD8, 0xA0, 0x00, 0x03])), .test(500))
        #expect(run.outcome.outcome.status == .onlineRequest)
        #expect(run.commands[4] == "80CA9F3600")
        // The random number after 12345678 is 12345679; modulo 60 it moves 2019-03 back by 37 months.
        #expect(value(run, 0x9F37) == "12341602")
        // Cryptogram 030201 = 197121.
        #expect(value(run, 0x57) == "374245455400001D291220116029712100258F")
        let track1 = String(decoding: try #require(run.outcome.outcome.dataRecord?.value(of: 0x56)), as: UTF8.self)
        #expect(track1 == "B374245455400001^TEST/AMEX            00258^2912201160297121")
        #expect(value(run, 0x95) == "8000000000")
    }
}
