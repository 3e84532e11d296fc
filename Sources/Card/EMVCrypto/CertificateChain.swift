// SPDX-License-Identifier: Apache-2.0
import EMV

/// The way from a CA public key over the issuer's to the card's, for one request.
struct CertificateChain {
    let keys: CAPublicKeys
    let request: AuthenticationRequest

    /// Retrieval of the issuer public key (EMV Book 2 §5.3, §6.3).
    func issuerKey() throws(AuthenticationFailure) -> RSAPublicKey {
        guard keys.key(rid: request.rid, index: request.caIndex, on: request.date) != nil else { throw .caKeyMissing }
        guard !request.issuerCertificate.isEmpty, !request.issuerExponent.isEmpty else { throw .dataMissing }
        guard
            let authority = keys.key(
                rid: request.rid, index: request.caIndex, certificateLength: request.issuerCertificate.count,
                on: request.date)
        else { throw .lengthMismatch }
        let steps = AuthenticationSteps(request, isRevoked: keys.isRevoked)
        if let known = keys.issuers[request] {
            try steps.accept(known.subject)
            return known.key
        }
        let issuer = try steps.issuer(under: authority.key)
        keys.issuers.keep(issuer, of: request)
        return issuer.key
    }

    /// Retrieval of the ICC public key (EMV Book 2 §6.4).
    func iccKey() throws(AuthenticationFailure) -> RSAPublicKey {
        try AuthenticationSteps(request, isRevoked: keys.isRevoked).iccKey(under: issuerKey())
    }
}
