// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV

/// The checks of local authentication for one request, in their order (EMV Contactless Book E §5.2, §5.4 and §7.3).
struct LocalAuthentication {
    let keys: CAECCPublicKeys
    let request: LocalAuthenticationRequest

    /// The first check that fails.
    var failure: LocalAuthenticationFailure? {
        guard let authority = keys.key(rid: request.rid, index: request.caIndex), authority.isValid(on: request.date)
        else { return .caKeyMissing }
        guard let issuer = IssuerECCCertificate(request.issuerCertificate) else { return .unsupportedIssuerCertificate }
        if let failure = failure(of: issuer, authority) { return failure }
        guard let icc = ICCECCCertificate(request.iccCertificate) else { return .unsupportedICCCertificate }
        guard icc.isValid(on: request.date, at: request.time) else { return .iccCertificateExpired }
        guard icc.staticDataHash == request.staticDataHash else { return .staticDataHash }
        guard icc.isSigned(by: issuer.key) else { return .iccSignature }
        return icc.key.x(times: request.blindingFactor) == request.blindedKey ? nil : .blindingFactor
    }

    private func failure(
        of issuer: IssuerECCCertificate, _ authority: CAECCPublicKey
    ) -> LocalAuthenticationFailure? {
        guard BCD.digits(request.pan)?.starts(with: issuer.issuerIdentifier) == true else {
            return .issuerIdentifierMismatch
        }
        guard issuer.expiry >= request.date else { return .issuerCertificateExpired }
        guard issuer.rid == request.rid, issuer.caIndex == request.caIndex else {
            return .certificationAuthorityMismatch
        }
        let name = RevokedCertificate(rid: issuer.rid, caIndex: issuer.caIndex, serial: issuer.serial)
        if keys.isRevoked(name) { return .issuerCertificateRevoked }
        return issuer.isSigned(by: authority.key) ? nil : .issuerSignature
    }
}
