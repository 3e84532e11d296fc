// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV
import Testing

@testable import CardSim

@Suite struct FurtherKernelCardTests {
    private func tap(_ name: String, _ application: String) throws -> TapScript {
        var script = try TapScript(name)
        #expect(try script.select("325041592E5359532E4444463031") == .success)
        #expect(script.objects[0x4F] == (try hex(application)))
        #expect(try script.select(application) == .success)
        script.terminal[0x9F6E] = [0x98, 0xA0, 0x00, 0x03]
        script.terminal[0x9F52] = [0x02]
        script.terminal[0x9F53] = [0xF2, 0x80, 0x00]
        return script
    }

    private func combined(_ script: TapScript, _ information: UInt8) throws -> AuthenticationRequest.Method {
        .cda(
            unpredictableNumber: try hex("ABABABAB"), transactionData: script.transactionData,
            cryptogramInformation: information)
    }

    @Test(
        arguments: [
            ("amex", "A000000025010901", "A000000025"), ("jcb", "A0000000651010", "A000000065"),
        ] as [(String, String, String)])
    func `cards of kernels 4 and 5 sign their cryptogram`(_ name: String, _ application: String, _ rid: String) throws {
        var script = try tap(name, application)
        #expect(try script.options().status == .success)
        try script.readRecords()
        _ = try script.generateAC(0x90)
        guard case .verified(let data) = try script.authentication(combined(script, 0x80), rid: rid) else {
            Issue.record("the signature does not verify")
            return
        }
        script.objects[0x9F26] = data.cryptogram
        #expect(TestIssuer.verify(script.record) == .verified)
    }

    @Test func `an American Express card refuses a reader that says nothing of itself`() throws {
        var script = try tap("amex", "A000000025010901")
        script.terminal[0x9F6E] = [0, 0, 0, 0]
        #expect(try script.options().status == .conditionsNotSatisfied)
        script.terminal[0x9F6E] = [0x18, 0xA0, 0x00, 0x03]
        #expect(try script.options().status == .success)
    }

    @Test(arguments: [("F28000", "20"), ("C28000", "10"), ("728000", "00"), ("808000", "00")] as [(String, String)])
    func `a JCB card tells the verification that the reader asks for`(_ profile: String, _ status: String) throws {
        var script = try tap("jcb", "A0000000651010")
        script.terminal[0x9F53] = try hex(profile)
        _ = try script.options()
        try script.readRecords()
        _ = try script.generateAC(0x80)
        #expect(script.objects[0x9F50] == (try hex(status)))
    }

    @Test func `a Discover card signs what it approves`() throws {
        var script = try tap("discover", "A0000001523010")
        script.terminal[0x9F66] = [0x26, 0x00, 0x40, 0x00]
        let response = try script.options()
        #expect(script.objects[0x9F27] == [0x40])
        for node in try TLV.nodes(response.data) where node.depth == 1 && node.tag != 0x9F4B {
            script.transactionData += response.data[node.start..<node.end]
        }
        try script.readRecords()
        guard case .verified(let data) = try script.authentication(combined(script, 0x40), rid: "A000000152") else {
            Issue.record("the signature does not verify")
            return
        }
        script.objects[0x9F26] = data.cryptogram
        #expect(TestIssuer.verify(script.record) == .verified)
    }

    @Test(arguments: [("26804000", "0000"), ("26C04000", "8000"), ("22C04000", "4000")] as [(String, String)])
    func `a Discover card goes online with its requirements`(_ qualifiers: String, _ requirements: String) throws {
        var script = try tap("discover", "A0000001523010")
        script.terminal[0x9F66] = try hex(qualifiers)
        _ = try script.options()
        #expect(script.objects[0x9F27] == [0x80])
        #expect(script.objects[0x9F71] == (try hex(requirements)))
        try script.readRecords()
        #expect(TestIssuer.verify(script.record) == .verified)
        #expect(try script.options().status == .conditionsNotSatisfied)
    }

    @Test func `a UnionPay card approves offline with a signature over amount and currency`() throws {
        var script = try tap("unionpay", "A000000333010102")
        script.terminal[0x9F66] = [0x26, 0x00, 0x40, 0x00]
        _ = try script.options()
        #expect(script.objects[0x9F27] == [0x40])
        try script.readRecords()
        #expect(script.objects[0x9F08] == [0x00, 0x30])
        let hashed = try hex("ABABABAB 000000001250 0978") + (script.objects[0x9F69] ?? [])
        #expect(try script.authentication(.dda(terminalDynamicData: hashed), rid: "A000000333").isVerified)
        #expect(TestIssuer.verify(script.record) == .verified)
    }
}
