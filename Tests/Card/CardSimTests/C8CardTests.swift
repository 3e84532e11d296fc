// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV
import EMVCrypto
import Testing

@testable import CardSim

/// The kernel 8 test card by itself: what it refuses, and what its issuer says.
@Suite struct C8CardTests {
    private static let point: [UInt8] = .hex(
        "6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296"
            + "4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5")
    private static let options =
        [0x80, 0xA8, 0x00, 0x00, 0x4A, 0x83, 0x48] + point + [2, 0x80, 0, 0x10, 0xFF, 0xFF, 0, 0, 0]
    private static let cryptogram = [0x80, 0xAE, 0x80, 0x00, 0x25] + [UInt8](repeating: 0, count: 37) + [0x00]

    private func selected() throws -> TapScript {
        var script = try TapScript("c8")
        #expect(try script.select("F04E46432D43380101") == .success)
        return script
    }

    private func status(_ command: [UInt8], _ script: inout TapScript) throws -> StatusWord {
        try script.send(command).status
    }

    @Test func `the application answers in its order only`() throws {
        var script = try selected()
        #expect(script.objects[0x9F2C] == [2, 0, 0xFF, 0xFF, 0, 0, 0])
        #expect(try status(Self.cryptogram, &script) == .conditionsNotSatisfied)
        #expect(try status([0x84, 0x32, 0, 0, 3, 0x9F, 0x81, 0x11, 0], &script) == .conditionsNotSatisfied)
        #expect(try status([0x00, 0xB2, 0x01, 0x14, 0x00], &script) == .conditionsNotSatisfied)
        #expect(try status(Self.options, &script) == .success)
        #expect(try status(Self.options, &script) == .conditionsNotSatisfied)
        #expect(try status([0x80, 0xEA, 0, 0, 3, 1, 2, 3, 0], &script) == .wrongLength)
        #expect(try status([0x84, 0x32, 0, 0, 3, 0x9F, 0x81, 0x12, 0], &script) == .referencedDataNotFound)
        #expect(try status([0x84, 0x34, 0, 0, 1, 0x00, 0], &script) == .conditionsNotSatisfied)
        #expect(try status([0x80, 0xAE, 0xC0, 0x00, 0x01, 0x00, 0x00], &script) == .incorrectParameters)
        #expect(try status([0x80, 0xAE, 0x80, 0x00, 0x01, 0x00, 0x00], &script) == .wrongLength)
        #expect(try status(Self.cryptogram, &script) == .success)
        #expect(try status(Self.cryptogram, &script) == .conditionsNotSatisfied)
        #expect(try status([0x84, 0x34, 0, 0, 1, 0x00, 0], &script) == .conditionsNotSatisfied)
    }

    @Test func `a kernel key that is no point opens no channel`() throws {
        var script = try selected()
        var command = Self.options
        command[20] ^= 0x01
        #expect(try status(command, &script) == .conditionsNotSatisfied)
    }

    @Test func `certificates are the same in every process and verify under the published authority`() throws {
        let issuer = try #require(ECCCertificate.issuer)
        #expect(issuer.count == 117 && ECCCertificate.issuer == issuer)
        #expect(ECCCertificate.card(staticDataHash: [UInt8](repeating: 0, count: 32))?.count == 145)
        #expect(CAECCPublicKeys.test.key(rid: ECCTestKeys.rid, index: ECCTestKeys.caIndex) != nil)
    }

    @Test func `the issuer tells a wrong cryptogram from a missing object and a strange card`() throws {
        var tap = C8Tap()
        let record = try tap.run().record.map { ($0.tag, $0.value) }
        func verdict(without tag: CardBytes.Tag? = nil, _ changed: (CardBytes.Tag, [UInt8])? = nil) -> ARQCVerdict {
            TestIssuer.verify((changed.map { [$0] } ?? []) + record.filter { $0.0 != tag })
        }
        #expect(verdict() == .verified)
        #expect(verdict((0x9F02, [0, 0, 0, 0, 0, 1])) == .wrongCryptogram)
        #expect(verdict((0x95, [0, 0, 0, 0, 0])) == .wrongCryptogram)
        #expect(verdict(without: 0x9F36) == .missing(0x9F36))
        #expect(verdict(without: 0x82) == .missing(0x82))
        #expect(verdict((0x9F10, [0x01, 0xC8])) == .unknownCard)
        #expect(verdict((0x9F10, [UInt8](repeating: 0, count: 32))) == .unknownCard)
    }
}
