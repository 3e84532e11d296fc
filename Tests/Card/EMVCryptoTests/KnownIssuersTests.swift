// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV
import EMVCrypto
import TestSupport
import Testing

/// A list that remembers issuer certificates answers as one that recovers each anew, whatever cards present in between.
@Suite("Known issuer certificates")
struct KnownIssuersTests {
    @Test(arguments: [1, 2, 32])
    func `random cards, known and damaged, come to the same with and without a memory`(capacity: Int) throws {
        var random = SeededGenerator(seed: UInt64(capacity))
        let chains = try Vectors.chains()
        var authorities: [CAPublicKey] = []
        for chain in chains {
            for key in try authority(chain) where !authorities.contains(where: { $0.checksum == key.checksum }) {
                let isTaken = authorities.contains {
                    $0.rid == key.rid && $0.index == key.index && $0.key.byteCount == key.key.byteCount
                }
                if !isTaken { authorities.append(key) }
            }
        }
        let keys = try CAPublicKeys(environment: .test, keys: authorities)
        let remembering = OfflineAuthentication.using(keys.remembering(issuers: capacity))
        let forgetful = OfflineAuthentication.using(keys.remembering(issuers: 0))
        let requests = try chains.map { try $0.authenticationRequest() }
        var verified = 0
        for _ in 0..<400 {
            var request = try #require(requests.randomElement(using: &random))
            if Bool.random(using: &random) { damage(&request, others: requests, &random) }
            let result = remembering.verify(request)
            #expect(result == forgetful.verify(request))
            if case .verified = result { verified += 1 }
        }
        #expect(verified > 20)
    }

    @Test func `a known certificate is held against the card, the day and the list at each tap`() throws {
        let chain = try #require(try Vectors.chains().first { try isVerified($0) })
        let request = try chain.authenticationRequest()
        let known = OfflineAuthentication.using(try chain.keys())
        guard case .verified = known.verify(request) else {
            Issue.record("the first card was not verified")
            return
        }
        var stranger = request
        stranger.pan = [0x99] + request.pan.dropFirst()
        #expect(known.verify(stranger) == .failed(.issuerIdentifierMismatch))
        var later = request
        later.date = EMVDate(year: request.date.year + 60, month: 1, day: 1)
        #expect(known.verify(later) == .failed(.issuerCertificateExpired))
        var elsewhere = request
        elsewhere.caIndex ^= 0x01
        #expect(known.verify(elsewhere) == .failed(.caKeyMissing))
        // A list read anew has a memory of its own: what it revokes is refused although the other one knows it.
        let authority = try #require(
            RSAPublicKey(modulus: hex(chain.ca.modulus), exponent: UInt32(chain.ca.exponent, radix: 16) ?? 0))
        let serial = try #require(authority.recover(request.issuerCertificate))[8..<11]
        let revoked = RevokedCertificate(rid: request.rid, caIndex: request.caIndex, serial: Array(serial))
        let renewed = OfflineAuthentication.using(try chain.keys(revoked: [revoked]))
        #expect(renewed.verify(request) == .failed(.issuerCertificateRevoked))
        #expect(renewed.verify(request) == .failed(.issuerCertificateRevoked))
    }

    private func isVerified(_ chain: Vectors.Chain) throws -> Bool {
        guard case .verified = OfflineAuthentication.using(try chain.keys()).verify(try chain.authenticationRequest())
        else { return false }
        return true
    }

    private func authority(_ chain: Vectors.Chain) throws -> [CAPublicKey] {
        [
            try CAPublicKey(
                rid: chain.ca.rid, index: chain.ca.index, modulus: chain.ca.modulus, exponent: chain.ca.exponent,
                checksum: chain.ca.sha1 ?? "", expiry: "", environment: .test)
        ]
    }

    private func damage(
        _ request: inout AuthenticationRequest, others: [AuthenticationRequest], _ random: inout SeededGenerator
    ) {
        func flip(_ bytes: inout [UInt8], _ random: inout SeededGenerator) {
            guard let place = bytes.indices.randomElement(using: &random) else { return }
            bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        }
        switch Int.random(in: 0..<8, using: &random) {
        case 0: flip(&request.issuerCertificate, &random)
        case 1: flip(&request.issuerExponent, &random)
        case 2: flip(&request.issuerRemainder, &random)
        case 3: flip(&request.pan, &random)
        case 4: flip(&request.iccCertificate, &random)
        case 5: request.date = EMVDate(year: Int.random(in: 1990...2060, using: &random), month: 6, day: 1)
        case 6: request.caIndex = others.randomElement(using: &random)?.caIndex ?? 0
        default: request.issuerCertificate = others.randomElement(using: &random)?.issuerCertificate ?? []
        }
    }
}
