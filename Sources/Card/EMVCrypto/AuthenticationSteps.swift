// SPDX-License-Identifier: Apache-2.0
import CardBytes
public import EMV

/// The steps of offline data authentication one by one, each with the key that it is given, for who writes a kernel and
/// keeps keys in another way. `OfflineAuthentication.using` takes all of them with the keys of a list.
///
/// Nothing a card sends traps; the first check that fails is the error.
public struct AuthenticationSteps: Sendable {
    public let request: AuthenticationRequest
    private let isRevoked: @Sendable (RevokedCertificate) -> Bool

    /// - Parameter isRevoked: whether the issuer's certificate must not be used any more.
    public init(
        _ request: AuthenticationRequest, isRevoked: @escaping @Sendable (RevokedCertificate) -> Bool = { _ in false }
    ) {
        self.request = request
        self.isRevoked = isRevoked
    }

    /// Retrieval of the issuer public key (EMV Book 2 §5.3, §6.3).
    ///
    /// - Parameter authority: the CA public key that `request.rid` and `request.caIndex` name; that it is in use on
    ///   `request.date` is the caller's to know.
    /// - Throws: `AuthenticationFailure`, the check that the issuer's certificate fails first.
    public func issuerKey(under authority: RSAPublicKey) throws(AuthenticationFailure) -> RSAPublicKey {
        try issuer(under: authority).key
    }

    /// What the issuer's certificate says, after all checks of it.
    func issuer(under authority: RSAPublicKey) throws(AuthenticationFailure) -> IssuerCertificate {
        guard !request.issuerCertificate.isEmpty, !request.issuerExponent.isEmpty else { throw .dataMissing }
        let certificate = try RecoveredData(request.issuerCertificate, with: authority, format: .issuerCertificate)
        let bytes = certificate.bytes
        guard certificate.isHash(followedBy: request.issuerRemainder, request.issuerExponent)
        else { throw .issuerCertificateHash }
        let subject = IssuerCertificate.Subject(
            identifier: Array(bytes[2..<6]), expiry: Array(bytes[6..<8]), serial: Array(bytes[8..<11]))
        try accept(subject)
        guard bytes[11] == 0x01, bytes[12] == 0x01 else { throw .unsupportedAlgorithm }
        let key = try CertifiedKey.assembled(
            field: bytes[15..<(bytes.count - 21)], length: Int(bytes[13]), remainder: request.issuerRemainder,
            exponent: request.issuerExponent)
        return IssuerCertificate(subject: subject, key: key)
    }

    /// The checks of an issuer's certificate that rest on the card, the day and the revocation list: made at each tap
    /// (EMV Book 2 §5.3 steps 8 to 10).
    func accept(_ issuer: IssuerCertificate.Subject) throws(AuthenticationFailure) {
        guard issuerIdentifierMatches(issuer.identifier) else { throw .issuerIdentifierMismatch }
        guard try CertifiedKey.expiry(issuer.expiry[...]) >= request.date else { throw .issuerCertificateExpired }
        let name = RevokedCertificate(rid: request.rid, caIndex: request.caIndex, serial: issuer.serial)
        guard !isRevoked(name) else { throw .issuerCertificateRevoked }
    }

    /// Retrieval of the ICC public key (EMV Book 2 §6.4).
    ///
    /// - Throws: `AuthenticationFailure`, the check that the card's certificate fails first.
    public func iccKey(under issuer: RSAPublicKey) throws(AuthenticationFailure) -> RSAPublicKey {
        guard !request.iccCertificate.isEmpty, !request.iccExponent.isEmpty else { throw .dataMissing }
        let certificate = try RecoveredData(request.iccCertificate, with: issuer, format: .iccCertificate)
        let bytes = certificate.bytes
        guard
            certificate.isHash(followedBy: request.iccRemainder, request.iccExponent, request.staticData)
        else { throw .iccCertificateHash }
        guard let certified = BCD.digits(bytes[2..<12]), certified == BCD.digits(request.pan), !certified.isEmpty
        else { throw .panMismatch }
        guard try CertifiedKey.expiry(bytes[12..<14]) >= request.date else { throw .iccCertificateExpired }
        guard bytes[17] == 0x01, bytes[18] == 0x01 else { throw .unsupportedAlgorithm }
        return try CertifiedKey.assembled(
            field: bytes[21..<(bytes.count - 21)], length: Int(bytes[19]), remainder: request.iccRemainder,
            exponent: request.iccExponent)
    }

    /// The signature itself, by the request's method (EMV Book 2 §5.4, §6.5 and §6.6).
    ///
    /// - Parameter key: the issuer's for SDA, the card's for DDA and CDA.
    /// - Throws: `AuthenticationFailure`, the check that the signature fails first.
    public func verify(with key: RSAPublicKey) throws(AuthenticationFailure) -> AuthenticatedData {
        guard !request.signature.isEmpty else { throw .dataMissing }
        switch request.method {
        case .sda: return try SignedData.verifyStatic(request, issuer: key)
        case .dda(let terminalDynamicData):
            return try SignedData.verifyDynamic(request, icc: key, terminalDynamicData: terminalDynamicData)
        case .cda(let unpredictableNumber, let transactionData, let cryptogramInformation):
            return try SignedData.verifyCombined(
                request, icc: key, unpredictableNumber: unpredictableNumber, transactionData: transactionData,
                cryptogramInformation: cryptogramInformation)
        }
    }

    /// The issuer identifier is three to eight leftmost digits of the PAN, filled with F on the right
    /// (EMV Book 2 §5.3 step 8).
    private func issuerIdentifierMatches(_ identifier: [UInt8]) -> Bool {
        guard let digits = BCD.digits(identifier), digits.count >= 3, let pan = BCD.digits(request.pan)
        else { return false }
        return pan.starts(with: digits)
    }
}
