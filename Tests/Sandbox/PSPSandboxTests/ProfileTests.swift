// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Envelope
import Foundation
import LocalHTTP
import PaymentValues
import Testing

@testable import PSPSandbox

@Suite("The sandbox's profile")
struct ProfileTests {
    private let start = Timestamp(milliseconds: 1_772_000_000_000)

    private func payload(_ profile: SandboxProfile, after seconds: Int64 = 0) throws -> String {
        let token = profile.token(
            start: start, now: start.advanced(bySeconds: seconds),
            recipients: RecipientKeySet(keys: [.sandboxTest]).jwks)
        let bytes = try JWS.verify(token, with: profile.key.verificationKey, type: "nfc-tap-profile+jws")
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func `the published test key is a pair`() throws {
        #expect(try TestSigner.key().verificationKey == .sandboxTest)
        #expect(VerificationKey.sandboxTest.isTest)
    }

    @Test func `the same profile is issued until half of its time is over, then one with a higher serial`() throws {
        var profile = SandboxProfile(key: try TestSigner.key())
        profile.lifetime = 100
        #expect(try payload(profile) == payload(profile, after: 49))
        #expect(try payload(profile).contains(#""serial": 1772000000,"#))
        #expect(try payload(profile, after: 50).contains(#""serial": 1772000050,"#))
    }

    @Test func `other terms are another text`() throws {
        var profile = SandboxProfile(key: try TestSigner.key())
        let first = try payload(profile)
        profile.termsVersion = "2027-01"
        #expect(try payload(profile) != first)
        #expect(try payload(profile).contains("sandbox, version 2027-01."))
    }

    @Test func `a wrong signature does not verify, and the other faults are under a good one`() throws {
        var profile = SandboxProfile(key: try TestSigner.key())
        profile.fault = .signature
        #expect(throws: JWSError.self) { try payload(profile) }
        profile.fault = .expired
        #expect(try payload(profile).contains(#""expiresAt": "2026-01-26"#))
        profile.fault = .malformed
        #expect(try payload(profile).contains("XTS"))
    }

    @Test func `without a profile the sandbox says that there is none`() async throws {
        try await SandboxBench.run { bench in
            let request = HTTPClientRequest(.get, "/v1/profile")
            let answer = try await bench.client.send(request, answerWithin: .seconds(5))
            #expect(answer.status == 404)
        }
    }
}
