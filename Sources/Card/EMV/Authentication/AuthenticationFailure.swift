// SPDX-License-Identifier: Apache-2.0
/// Which step of offline data authentication failed. Kernels treat all alike; the reason is for people.
public enum AuthenticationFailure: Sendable, Equatable {
    case caKeyMissing
    /// A certificate, exponent, remainder or signature that the method needs is absent.
    case dataMissing
    /// A certificate or signature has not the length of the key's modulus, or a remainder the wrong length.
    case lengthMismatch
    /// Header, trailer or format of recovered data is wrong.
    case malformedRecoveredData
    /// Hash or public key algorithm other than SHA-1 and RSA.
    case unsupportedAlgorithm
    case issuerCertificateHash
    case issuerCertificateExpired
    case issuerCertificateRevoked
    /// The issuer identifier is no prefix of the PAN.
    case issuerIdentifierMismatch
    case iccCertificateHash
    case iccCertificateExpired
    case panMismatch
    case signatureHash
    /// CDA: the CID inside the signature differs from the one in the clear.
    case cryptogramInformationMismatch
    case transactionDataHash
}
