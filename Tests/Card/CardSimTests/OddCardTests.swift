// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV
import Testing

@testable import CardSim

@Suite struct OddCardTests {
    private static let directory = "325041592E5359532E4444463031"
    private static let visa = "A0000000031010"
    private static let mastercard = "A0000000041010"

    private func selected(_ name: String, _ application: String = visa) throws -> TapScript {
        var script = try TapScript(name)
        #expect(try script.select(application) == .success)
        return script
    }

    @Test(
        arguments: [
            ("no-ppse", 0x6A82), ("locked", 0x6A81), ("empty-ppse", 0x9000), ("blocked-application", 0x9000),
        ] as [(String, UInt16)])
    func `the PPSE answers as the card's name says`(_ name: String, _ status: UInt16) throws {
        var script = try TapScript(name)
        #expect(try script.select(Self.directory) == StatusWord(status))
    }

    @Test func `an empty PPSE has no entry`() throws {
        var script = try TapScript("empty-ppse")
        _ = try script.select(Self.directory)
        #expect(script.objects[0x84] == Array("2PAY.SYS.DDF01".utf8))
        #expect(script.objects[0x4F] == nil)
    }

    @Test func `a blocked application says 6283, and the one behind it works`() throws {
        var blocked = try TapScript("blocked-application")
        #expect(try blocked.select(Self.visa) == .selectedFileDeactivated)
        var script = try TapScript("blocked-first")
        #expect(try script.select(Self.mastercard) == .selectedFileDeactivated)
        #expect(try script.select("A0000000043060") == .success)
        _ = try script.options()
        try script.readRecords()
        _ = try script.generateAC(0x80)
        #expect(TestIssuer.verify(script.record) == .verified)
    }

    @Test func `directories list what their cards' names say`() throws {
        func entries(_ name: String) throws -> [[CardBytes.Tag: [UInt8]]] {
            var script = try TapScript(name)
            let response = try script.send(CommandAPDU.select(hex(Self.directory)).bytes)
            let nodes = try TLV.nodes(response.data)
            return nodes.filter { $0.tag == 0x61 }.map { entry in
                let inside = nodes.filter { $0.depth == entry.depth + 1 && entry.value.contains($0.start) }
                return Dictionary(uniqueKeysWithValues: inside.map { ($0.tag, Array(response.data[$0.value])) })
            }
        }
        #expect(try entries("equal-priority").map { $0[0x87] } == [[1], [1]])
        let badges = try entries("co-badged")
        #expect(badges.map { $0[0x4F] } == [try hex("A00000005945430100"), try hex(Self.mastercard)])
        #expect(badges.map { $0[0x87] } == [[1], [2]])
        #expect(badges[1][0x9F2A] == [2])
        #expect(try entries("missing-application").count == 2)
        var script = try TapScript("missing-application")
        #expect(try script.select("A0000000032010") == .fileNotFound)
        #expect(try script.select(Self.visa) == .success)
    }

    @Test(
        arguments: [
            ("gpo-6985", 0x6985), ("gpo-6984", 0x6984), ("gpo-6f00", 0x6F00), ("see-phone-forever", 0x6986),
        ] as [(String, UInt16)])
    func `GET PROCESSING OPTIONS is refused as the name says`(_ name: String, _ status: UInt16) throws {
        var script = try selected(name)
        for _ in 0..<3 { #expect(try script.options().status == StatusWord(status)) }
    }

    @Test func `a phone that wants its holder works at the second tap, verified`() throws {
        var script = try selected("see-phone")
        #expect(try script.options().status == 0x6986)
        script.card.powerOn()
        _ = try script.select(Self.visa)
        #expect(try script.options().status == .success)
        #expect(script.objects[0x9F6C] == [0x00, 0x80])
        #expect(TestIssuer.verify(script.record) == .verified)
    }

    @Test func `a Mastercard phone says that it verifies its holder`() throws {
        var script = try selected("mastercard-phone", Self.mastercard)
        _ = try script.options()
        #expect(script.objects[0x82] == [0x1B, 0x80])
        try script.readRecords()
        _ = try script.generateAC(0x90)
        let method = AuthenticationRequest.Method.cda(
            unpredictableNumber: try hex("ABABABAB"), transactionData: script.transactionData,
            cryptogramInformation: 0x80)
        #expect(try script.authentication(method, rid: "A000000004").isVerified)
    }

    @Test(
        arguments: [
            ("malformed-ppse", "00A404000E325041592E5359532E444446303100"),
            ("malformed-fci", "00A4040007A000000003101000"), ("malformed-record", "00B2011C00"),
        ] as [(String, String)])
    func `malformed answers cannot be parsed to their end`(_ name: String, _ command: String) throws {
        var script = try TapScript(name)
        _ = try script.send("00A4040007A000000003101000")
        let response = try script.send(command)
        #expect(response.status == .success)
        #expect(throws: TLVError.self) { try TLV.nodes(response.data) }
    }

    @Test func `a malformed answer to GET PROCESSING OPTIONS cannot be parsed to its end`() throws {
        var script = try selected("malformed-tlv")
        #expect(throws: TLVError.self) { _ = try script.options() }
    }

    @Test func `a DOL that names a tag twice is answered by its length`() throws {
        var script = try selected("repeated-dol")
        #expect(try script.options().status == .success)
        #expect(TestIssuer.verify(script.record) == .verified)
    }

    @Test func `vendor's tags stand in PDOL, FCI and records`() throws {
        var script = try selected("vendor-tags")
        #expect(script.objects[0x9F8102] == [1, 2])
        #expect(try DOL(script.objects[0x9F38] ?? []).contains(0x9F8101))
        _ = try script.options()
        try script.readRecords()
        #expect(script.objects[0x9F8201] == (try hex("C0FFEE")))
        #expect(script.objects[0x9F8311] == [])
        #expect(TestIssuer.verify(script.record) == .verified)
    }

    @Test func `cards that decline give an AAC that the issuer knows`() throws {
        var visa = try selected("visa-declines")
        _ = try visa.options()
        #expect(visa.objects[0x9F27] == [0x00])
        #expect(TestIssuer.verify(visa.record) == .verified)
        var mastercard = try selected("mastercard-declines", Self.mastercard)
        _ = try mastercard.options()
        try mastercard.readRecords()
        _ = try mastercard.generateAC(0x40)
        #expect(mastercard.objects[0x9F27] == [0x00])
        #expect(TestIssuer.verify(mastercard.record) == .verified)
    }

    @Test func `offline authentication fails where the name says so, and for that reason`() throws {
        let expected: [(String, AuthenticationResult)] = [
            ("visa-expired-certificate", .failed(.iccCertificateExpired)),
            ("visa-unknown-ca", .failed(.caKeyMissing)),
            ("visa-bad-signature", .failed(.malformedRecoveredData)),
        ]
        for (name, result) in expected {
            var script = try selected(name)
            script.terminal[0x9F66] = [0x26, 0x00, 0x40, 0x00]
            _ = try script.options()
            try script.readRecords()
            let hashed = try hex("ABABABAB 000000001250 0978") + (script.objects[0x9F69] ?? [])
            #expect(
                try script.authentication(.dda(terminalDynamicData: hashed), rid: "A000000003") == result,
                "\(name)")
        }
    }

    @Test func `an expired Visa card still authenticates, so that its date decides`() throws {
        var script = try selected("visa-expired")
        script.terminal[0x9F66] = [0x26, 0x00, 0x40, 0x00]
        _ = try script.options()
        try script.readRecords()
        #expect(script.objects[0x5F24] == (try hex("191231")))
        let hashed = try hex("ABABABAB 000000001250 0978") + (script.objects[0x9F69] ?? [])
        #expect(try script.authentication(.dda(terminalDynamicData: hashed), rid: "A000000003").isVerified)
    }

    @Test func `a damaged CDA signature does not verify`() throws {
        var script = try selected("mastercard-bad-signature", Self.mastercard)
        _ = try script.options()
        try script.readRecords()
        _ = try script.generateAC(0x90)
        let method = AuthenticationRequest.Method.cda(
            unpredictableNumber: try hex("ABABABAB"), transactionData: script.transactionData,
            cryptogramInformation: 0x80)
        #expect(try script.authentication(method, rid: "A000000004") == .failed(.malformedRecoveredData))
    }

    @Test func `a Mastercard with a PDOL covers its values by the signature`() throws {
        var script = try selected("mastercard-pdol", Self.mastercard)
        _ = try script.options()
        #expect(script.transactionData.count == 17)
        try script.readRecords()
        _ = try script.generateAC(0x50)
        let method = AuthenticationRequest.Method.cda(
            unpredictableNumber: try hex("ABABABAB"), transactionData: script.transactionData,
            cryptogramInformation: 0x40)
        #expect(try script.authentication(method, rid: "A000000004").isVerified)
    }

    @Test func `dates, PANs and doubled objects are as odd as named`() throws {
        var early = try selected("mastercard-not-yet-valid", Self.mastercard)
        _ = try early.options()
        try early.readRecords()
        #expect(early.objects[0x5F25] == (try hex("490101")))
        var late = try selected("mastercard-expired", Self.mastercard)
        _ = try late.options()
        try late.readRecords()
        #expect(late.objects[0x5F24] == (try hex("191231")))
        var two = try selected("pan-mismatch")
        _ = try two.options()
        try two.readRecords()
        #expect(two.objects[0x57]?.starts(with: two.objects[0x5A] ?? [0]) == false)
        var double = try selected("duplicate-tag")
        _ = try double.options()
        #expect(double.objects[0x57] != nil)
        let record = try double.send("00B2011C00")
        #expect(try TLV.first(0x57, record.data) != nil)
    }

    @Test func `GET PROCESSING OPTIONS of odd Mastercards has the shape in their names`() throws {
        var none = try selected("mastercard-no-afl", Self.mastercard)
        #expect(try none.options().data == hex("770482021980"))
        var bad = try selected("mastercard-bad-afl", Self.mastercard)
        _ = try bad.options()
        #expect(bad.objects[0x94]?.count == 3)
        var first = try selected("mastercard-format-1", Self.mastercard)
        #expect(try first.options().data == hex("8006188010010201"))
        first.objects[0x82] = [0x18, 0x80]
        first.objects[0x94] = try hex("10010201")
        try first.readRecords()
        _ = try first.generateAC(0x80)
        #expect(TestIssuer.verify(first.record) == .verified)
        var refusing = try selected("generate-ac-6985", Self.mastercard)
        _ = try refusing.options()
        try refusing.readRecords()
        #expect(try refusing.generateAC(0x80).status == .conditionsNotSatisfied)
        var online = try selected("mastercard-online", Self.mastercard)
        _ = try online.options()
        try online.readRecords()
        _ = try online.generateAC(0x50)
        #expect(online.objects[0x9F27] == [0x80])
    }

    @Test func `long records fill an answer to its last byte`() throws {
        var script = try selected("long-records")
        _ = try script.options()
        #expect(try script.send("00B2010C00").data.count == 256)
        try script.readRecords()
        #expect(script.objects[0xDF1A]?.count == 249)
        #expect(TestIssuer.verify(script.record) == .verified)
    }

    @Test func `a slow card takes its time for every answer, and a torn one leaves once`() throws {
        var slow = try #require(CardCatalogue.card(named: "slow"))
        guard case .late(let answer, 300) = slow.answer(try hex("00A4040007A000000003101000")) else {
            Issue.record("not slow")
            return
        }
        #expect(answer.suffix(2) == [0x90, 0x00])
        let commands = [
            ("torn-gpo", Self.visa, "80A80000238321" + String(repeating: "36", count: 33)),
            ("torn-record", Self.visa, "00B2011C00"),
            ("torn-generate-ac", Self.mastercard, "80AE8000"),
        ]
        for (name, application, command) in commands {
            var card = try #require(CardCatalogue.card(named: name))
            _ = card.answer(try CommandAPDU.select(hex(application)).bytes)
            #expect(card.answer(try hex(command)) == .gone, "\(name)")
            card.powerOn()
            _ = card.answer(try CommandAPDU.select(hex(application)).bytes)
            #expect(card.answer(try hex(command)) != .gone, "\(name)")
        }
    }

    @Test func `a card of type B says so`() throws {
        let card = try #require(CardCatalogue.card(named: "type-b"))
        #expect(card.activation.technology == .typeB)
        #expect(card.activation.uid.count == 4)
    }

    @Test func `records that are missing are refused`() throws {
        var script = try selected("missing-record")
        _ = try script.options()
        #expect(try script.send("00B2011C00").status == .recordNotFound)
    }
}
