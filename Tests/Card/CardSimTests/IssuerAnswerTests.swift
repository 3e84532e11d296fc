// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Testing

@testable import CardSim

/// The issuer's cryptogram over its answer, by method 1 (EMV Book 2 §8.2.1). The values are pyemv 1.5.0's, of
/// `VisaCVN10(…).generate_arpc` for the test issuer's key, card 4761739001010010 and sequence number 01.
@Suite("The issuer's answer")
struct IssuerAnswerTests {
    @Test(arguments: [
        ("1122334455667788", "3030", "8FE34F3BABE2CE43"), ("A5F0C3961E2D4B87", "3035", "BC953755ADF9CF08"),
        ("0000000000000000", "5931", "0DDAF6443DD9BB7E"),
    ])
    func `its cryptogram is the one of another implementation`(request: String, code: String, expected: String) throws {
        let record: [(CardBytes.Tag, [UInt8])] = [
            (0x9F26, try Hex.bytes(request)), (0x9F10, try Hex.bytes("06010A03A00000")),
            (0x5A, try Hex.bytes("4761739001010010")), (0x5F34, [0x01]),
        ]
        let data = TestIssuer.authenticationData(for: record, responseCode: try Hex.bytes(code))
        #expect(Hex.string(try #require(data)) == expected + code)
    }

    @Test func `there is none for another version of the cryptogram, another issuer or a code of another length`()
        throws
    {
        let good: [CardBytes.Tag: [UInt8]] = try [
            0x9F26: [UInt8](repeating: 1, count: 8), 0x9F10: Hex.bytes("06010A03A00000"),
            0x5A: Hex.bytes("4761739001010010"),
        ]
        func data(_ change: (inout [CardBytes.Tag: [UInt8]]) -> Void, code: [UInt8] = [0x30, 0x30]) -> [UInt8]? {
            var record = good
            change(&record)
            return TestIssuer.authenticationData(for: record.map { ($0.key, $0.value) }, responseCode: code)
        }
        #expect(data { _ in }?.count == 10)
        #expect(data { $0[0x9F10]?[2] = 0x12 } == nil)
        #expect(data { $0[0x5A]?[0] = 0x99 } == nil)
        #expect(data({ _ in }, code: [0x30]) == nil)
        #expect(data { $0[0x9F26] = [1] } == nil)
    }

    @Test func `a card takes one answer to one cryptogram, and its scripts only then`() throws {
        var script = try TapScript("visa-issuer-update")
        _ = try script.select("A0000000031010")
        _ = try script.options()
        try script.readRecords()
        let data = try #require(TestIssuer.authenticationData(for: script.record, responseCode: [0x30, 0x30]))
        let authenticate = try CommandAPDU(cla: 0, ins: 0x82, p1: 0, p2: 0, data: data)
        let command = try CommandAPDU(Hex.bytes("84DA9F58020A0B"))
        #expect(try script.send(command.bytes).status == .conditionsNotSatisfied)
        _ = try script.select("A0000000031010")
        #expect(try script.send(authenticate.bytes).status == .success)
        #expect(try script.send(command.bytes).status == .success)
        #expect(try script.send(authenticate.bytes).status == .conditionsNotSatisfied)
        _ = try script.select("A0000000031010")
        #expect(try script.send(command.bytes).status == .conditionsNotSatisfied)
    }
}
