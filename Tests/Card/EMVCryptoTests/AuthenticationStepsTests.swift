// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV
import EMVCrypto
import TestSupport
import Testing

/// The steps with keys that the caller keeps, against the collected signatures (`oda.jsonl`): public API only.
@Suite("Offline authentication step by step")
struct AuthenticationStepsTests {
    @Test func `the steps come to what all of them together come to, for every collected signature`() throws {
        var verified = 0
        for chain in try Vectors.chains() {
            let keys = try chain.keys()
            for isStatic in [false, true] where isStatic ? !chain.request.ssad.isEmpty : chain.expected.method != nil {
                let request = try chain.authenticationRequest(sda: isStatic)
                let authority = try #require(
                    keys.key(
                        rid: request.rid, index: request.caIndex, certificateLength: request.issuerCertificate.count,
                        on: request.date))
                let whole = OfflineAuthentication.using(keys).verify(request)
                #expect(try steps(request, authority.key) == whole, "\(chain.id)")
                if case .verified = whole { verified += 1 }
                var changed = request
                changed.issuerCertificate[10] ^= 0x01
                guard case .failed = try steps(changed, authority.key) else {
                    Issue.record("\(chain.id): a changed certificate was taken")
                    continue
                }
            }
        }
        #expect(verified >= 6)
    }

    private func steps(_ request: AuthenticationRequest, _ authority: RSAPublicKey) throws -> AuthenticationResult {
        let steps = AuthenticationSteps(request)
        do throws(AuthenticationFailure) {
            let issuer = try steps.issuerKey(under: authority)
            guard case .sda = request.method else {
                return .verified(try steps.verify(with: steps.iccKey(under: issuer)))
            }
            return .verified(try steps.verify(with: issuer))
        } catch {
            return .failed(error)
        }
    }
}
