// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV
import Testing

@testable import CardSim

@Suite struct PaymentCardTests {
    private static let visa = "A0000000031010"
    private static let mastercard = "A0000000041010"

    private func tap(_ name: String, _ application: String) throws -> TapScript {
        var script = try TapScript(name)
        #expect(try script.select("325041592E5359532E4444463031") == .success)
        #expect(script.objects[0x4F] == (try hex(application)))
        #expect(try script.select(application) == .success)
        return script
    }

    @Test func `visa answers everything with the processing options and its cryptogram verifies`() throws {
        var script = try tap("visa", Self.visa)
        #expect(try script.options().status == .success)
        #expect(script.objects[0x94] == nil)
        #expect(script.objects[0x9F27] == [0x80])
        #expect(script.objects[0x9F6C] == [0x00, 0x00])
        #expect(script.objects[0x57]?.starts(with: try hex("4761739001010010D4912201")) == true)
        #expect(TestIssuer.verify(script.record) == .verified)
    }

    @Test func `a Visa card asks for the verification that the reader requires and has`() throws {
        for (qualifiers, expected) in [
            ("26C04000", "8000"), ("22C04000", "4000"), ("20C04000", "0000"), ("26804000", "0000"),
        ] {
            var script = try tap("visa", Self.visa)
            script.terminal[0x9F66] = try hex(qualifiers)
            _ = try script.options()
            #expect(script.objects[0x9F6C] == (try hex(expected)), "\(qualifiers)")
        }
    }

    @Test func `visa-afl approves offline with a signature that verifies`() throws {
        var script = try tap("visa-afl", Self.visa)
        script.terminal[0x9F66] = [0x26, 0x00, 0x40, 0x00]
        #expect(try script.options().status == .success)
        #expect(script.objects[0x9F27] == [0x40])
        try script.readRecords()
        let related = try #require(script.objects[0x9F69])
        #expect(related.count == 7 && related[0] == 1)
        #expect(Array(related.suffix(2)) == script.objects[0x9F6C])
        let hashed = try hex("ABABABAB 000000001250 0978") + related
        let expected = AuthenticatedData(iccDynamicNumber: [0x00, 0x01])
        #expect(try script.authentication(.dda(terminalDynamicData: hashed), rid: "A000000003") == .verified(expected))
        #expect(TestIssuer.verify(script.record) == .verified)
    }

    @Test func `visa-afl goes online with one record where the reader wants it`() throws {
        var script = try tap("visa-afl", Self.visa)
        #expect(try script.options().status == .success)
        #expect(script.objects[0x9F27] == [0x80])
        #expect(script.objects[0x94] == [0x18, 0x01, 0x01, 0x01])
        #expect(script.objects[0x9F4B] == nil)
        try script.readRecords()
        #expect(script.objects[0x5A] == (try hex("4761739001010010")))
        #expect(TestIssuer.verify(script.record) == .verified)
    }

    @Test func `visa-afl signs an online cryptogram too where the reader authenticates those`() throws {
        var script = try tap("visa-afl", Self.visa)
        script.terminal[0x9F66] = [0x27, 0x80, 0x40, 0x00]
        _ = try script.options()
        #expect(script.objects[0x9F27] == [0x80])
        try script.readRecords()
        let hashed = try hex("ABABABAB 000000001250 0978") + (script.objects[0x9F69] ?? [])
        #expect(try script.authentication(.dda(terminalDynamicData: hashed), rid: "A000000003").isVerified)
    }

    @Test func `visa-fdda-00 signs the unpredictable number only`() throws {
        var script = try tap("visa-fdda-00", Self.visa)
        script.terminal[0x9F66] = [0x26, 0x00, 0x40, 0x00]
        _ = try script.options()
        try script.readRecords()
        #expect(script.objects[0x9F69]?.first == 0x00)
        let number = try hex("ABABABAB")
        #expect(try script.authentication(.dda(terminalDynamicData: number), rid: "A000000003").isVerified)
        let other = try hex("ABABABAC")
        #expect(
            try script.authentication(.dda(terminalDynamicData: other), rid: "A000000003") == .failed(.signatureHash))
        #expect(TestIssuer.verify(script.record) == .verified)
    }

    @Test func `mastercard signs its cryptogram and the transaction data`() throws {
        var script = try tap("mastercard", Self.mastercard)
        #expect(try script.options().status == .success)
        #expect(script.objects[0x82] == [0x19, 0x80])
        try script.readRecords()
        #expect(try script.generateAC(0x90).status == .success)
        #expect(script.objects[0x9F27] == [0x80])
        #expect(script.objects[0x9F26] == nil)
        let method = AuthenticationRequest.Method.cda(
            unpredictableNumber: try hex("ABABABAB"), transactionData: script.transactionData,
            cryptogramInformation: 0x80)
        guard case .verified(let data) = try script.authentication(method, rid: "A000000004") else {
            Issue.record("the signature does not verify")
            return
        }
        #expect(data.iccDynamicNumber.count == 8)
        script.objects[0x9F26] = data.cryptogram
        #expect(TestIssuer.verify(script.record) == .verified)
    }

    @Test func `mastercard-nocda gives its cryptogram in the clear`() throws {
        var script = try tap("mastercard-nocda", Self.mastercard)
        _ = try script.options()
        #expect(script.objects[0x82] == [0x18, 0x80])
        try script.readRecords()
        #expect(script.objects[0x90] == nil)
        #expect(try script.generateAC(0x80).status == .success)
        #expect(script.objects[0x9F4B] == nil)
        #expect(TestIssuer.verify(script.record) == .verified)
    }

    @Test(arguments: [(0x40, 0x40), (0x00, 0x00), (0x80, 0x80)] as [(UInt8, UInt8)])
    func `mastercard answers with the type that was asked for`(_ asked: UInt8, _ answered: UInt8) throws {
        var script = try tap("mastercard", Self.mastercard)
        _ = try script.options()
        try script.readRecords()
        _ = try script.generateAC(asked)
        #expect(script.objects[0x9F27] == [answered])
        #expect(TestIssuer.verify(script.record) == .verified)
    }

    @Test(arguments: ["visa", "visa-afl", "visa-fdda-00", "mastercard", "mastercard-nocda"])
    func `a well-behaved card says nothing twice`(_ name: String) throws {
        let isVisa = name.hasPrefix("visa")
        var script = try TapScript(name)
        _ = try script.select(isVisa ? Self.visa : Self.mastercard)
        script.terminal[0x9F66] = [0x26, 0x00, 0x40, 0x00]
        var tags = try script.primitiveTags(script.options())
        let locator = script.objects[0x94] ?? []
        for entry in stride(from: 0, to: locator.count - 3, by: 4) {
            for number in locator[entry + 1]...locator[entry + 2] {
                tags += try script.primitiveTags(script.send([0x00, 0xB2, number, locator[entry] | 0x04, 0x00]))
            }
        }
        #expect(Set(tags).count == tags.count)
    }

    @Test func `the counter grows by one with every transaction and survives the field`() throws {
        var script = try tap("visa", Self.visa)
        for round in 1...3 {
            script.objects = [:]
            script.card.powerOn()
            _ = try script.select(Self.visa)
            _ = try script.options()
            #expect(script.objects[0x9F36] == [0x00, UInt8(round)])
        }
        #expect(try script.send("80CA9F3600").data == hex("9F36020003"))
        #expect(try script.send("80CA9F4F00").status == .referencedDataNotFound)
    }

    @Test func `cards refuse with the status words of real ones`() throws {
        var script = try TapScript("mastercard")
        #expect(try script.send("80A8000002830000").status == .conditionsNotSatisfied)
        #expect(try script.send("00A4040007A000000099101000").status == .fileNotFound)
        #expect(try script.send("00A4040004A000000000").status == .fileNotFound)
        #expect(try script.send("00A4000002 3F00 00").status == 0x6A86)
        #expect(try script.send("80A4040007A000000004101000").status == 0x6E00)
        #expect(try script.send("00A4040007A000000004101000").status == .success)
        #expect(try script.send("80AE8000 01 00 00").status == .conditionsNotSatisfied)
        #expect(try script.send("00B2 01 0C 00").status == .fileNotFound)
        #expect(try script.send("00B2 09 14 00").status == .recordNotFound)
        #expect(try script.send("00B2 01 15 00").status == 0x6A86)
        #expect(try script.send("80A8000003 83 01 00 00").status == .wrongLength)
        #expect(try script.send("80A8000000").status == .wrongLength)
        #expect(try script.send("80A8010002 8300 00").status == 0x6A86)
        #expect(try script.send("00A8000002 8300 00").status == 0x6E00)
        #expect(try script.send("80A8000002 8300 00").status == .success)
        #expect(try script.send("80A8000002 8300 00").status == .conditionsNotSatisfied)
        #expect(try script.send("80AE8000 01 00 00").status == .wrongLength)
        #expect(try script.send("80AEC000 01 00 00").status == 0x6A86)
        #expect(try script.send("80500000 00").status == .instructionNotSupported)
    }

    @Test func `a Visa card wants a reader that speaks EMV`() throws {
        var script = try tap("visa", Self.visa)
        script.terminal[0x9F66] = [0x80, 0x00, 0x00, 0x00]
        #expect(try script.options().status == .conditionsNotSatisfied)
        script.terminal[0x9F66] = [0x20, 0x00, 0x00, 0x00]
        #expect(try script.options().status == .success)
    }

    @Test func `a command without Le is answered all the same`() throws {
        var script = try TapScript("mastercard")
        #expect(try script.send("00A4040007A0000000041010").status == .success)
        #expect(try script.send("80A80000028300").status == .success)
        #expect(try script.send("00B20114").status == .success)
    }

    @Test func `part of a name selects the first application that begins with it`() throws {
        var script = try TapScript("mastercard")
        #expect(try script.select("A000000004") == .success)
        #expect(script.objects[0x84] == (try hex(Self.mastercard)))
    }
}

extension AuthenticationResult {
    var isVerified: Bool {
        if case .verified = self { return true }
        return false
    }
}
