// SPDX-License-Identifier: Apache-2.0
/// Which step of local authentication failed. The kernel treats all alike; the reason is for people.
public enum LocalAuthenticationFailure: Sendable, Equatable, CaseIterable {
    case caKeyMissing
    /// A certificate of another length, format, encoding or algorithm suite than those of P-256 and SHA-256.
    case unsupportedIssuerCertificate
    case unsupportedICCCertificate
    /// The issuer identifier is no prefix of the PAN.
    case issuerIdentifierMismatch
    case issuerCertificateExpired
    case issuerCertificateRevoked
    /// The issuer certificate names another RID or CA key than the card.
    case certificationAuthorityMismatch
    case issuerSignature
    case iccCertificateExpired
    /// The static data are not those that the ICC certificate covers.
    case staticDataHash
    case iccSignature
    /// The blinded key is not the certified one.
    case blindingFactor
}
