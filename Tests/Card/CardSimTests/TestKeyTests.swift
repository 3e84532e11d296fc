// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMVCrypto
import TestSupport
import Testing

@testable import CardSim

@Suite struct TestKeyTests {
    private static let keys: [(name: String, key: RSAPrivateKey?, bits: Int)] = [
        ("visaCA", TestPrivateKeys.visaCA, 1408), ("mastercardCA", TestPrivateKeys.mastercardCA, 1984),
        ("generalCA", TestPrivateKeys.generalCA, 1152), ("visaIssuer", TestPrivateKeys.visaIssuer, 1152),
        ("mastercardIssuer", TestPrivateKeys.mastercardIssuer, 1408),
        ("generalIssuer", TestPrivateKeys.generalIssuer, 1024), ("visaICC", TestPrivateKeys.visaICC, 896),
        ("mastercardICC", TestPrivateKeys.mastercardICC, 768),
    ]

    @Test func `what a private key signs its public key recovers`() throws {
        var random = SeededGenerator(seed: 11)
        for (name, key, bits) in Self.keys {
            let key = try #require(key)
            #expect(key.modulus.count * 8 == bits, "\(name)")
            let exponent = try #require(RSAPublicKey.exponent(key.publicExponent))
            let publicKey = try #require(RSAPublicKey(modulus: key.modulus, exponent: exponent))
            let noise = (1..<key.modulus.count).map { _ in UInt8.random(in: 0...255, using: &random) }
            for message in [[0x6A] + noise, [0x00] + noise, [UInt8](repeating: 0, count: key.modulus.count)] {
                #expect(publicKey.recover(key.signature(message)) == message, "\(name)")
            }
        }
    }

    @Test func `numbers that are no key are refused`() {
        func key(_ p: String, _ q: String) -> RSAPrivateKey? {
            RSAPrivateKey(modulus: "23", publicExponent: "03", p: p, q: q, dp: "03", dq: "03", qInverse: "03")
        }
        #expect(key("07", "05") != nil)
        #expect(key("06", "05") == nil)
        #expect(key("07", "0X") == nil)
        #expect(key("0100000000000000000000000000000007", "05") == nil)
    }

    @Test func `the terminal's test keys are those of this authority`() throws {
        for issuer in TestIssuerIdentity.all {
            let authority = try #require(issuer.authority)
            let key = CAPublicKeys.test.key(
                rid: issuer.rid, index: TestIssuerIdentity.caIndex, certificateLength: authority.modulus.count)
            let checksum = CAPublicKey.checksum(
                rid: issuer.rid, index: TestIssuerIdentity.caIndex, modulus: authority.modulus,
                exponent: authority.publicExponent)
            #expect(key?.checksum == checksum)
        }
    }

    @Test func `a frame that has no room for its fields is refused`() throws {
        let key = try #require(TestPrivateKeys.mastercardICC)
        let most = key.modulus.count - 22
        #expect(SignedFrame.signature([UInt8](repeating: 5, count: most), followedBy: [], with: key) != nil)
        #expect(SignedFrame.signature([UInt8](repeating: 5, count: most + 1), followedBy: [], with: key) == nil)
    }

    @Test func `a card's number and track are laid out as the standard says`() {
        let even = CardPersonalisation(pan: "4761 7390 0101 0010")
        #expect(Hex.string(even.panField) == "4761739001010010")
        #expect(Hex.string(even.track2) == "4761739001010010D4912201000001234F")
        let odd = CardPersonalisation(pan: "374245455400001")
        #expect(Hex.string(odd.panField) == "374245455400001F")
        #expect(Hex.string(odd.track2) == "374245455400001D4912201000001234")
    }
}
