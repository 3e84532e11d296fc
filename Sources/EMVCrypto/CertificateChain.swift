// SPDX-License-Identifier: Apache-2.0
import CardBytes
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

        let certificate = try RecoveredData(request.issuerCertificate, with: authority.key, format: .issuerCertificate)
        let bytes = certificate.bytes
        guard certificate.isHash(followedBy: request.issuerRemainder, request.issuerExponent)
        else { throw .issuerCertificateHash }
        guard issuerIdentifierMatches(bytes[2..<6]) else { throw .issuerIdentifierMismatch }
        guard try CertifiedKey.expiry(bytes[6..<8]) >= request.date else { throw .issuerCertificateExpired }
        let name = RevokedCertificate(rid: request.rid, caIndex: request.caIndex, serial: Array(bytes[8..<11]))
        guard !keys.isRevoked(name) else { throw .issuerCertificateRevoked }
        guard bytes[11] == 0x01, bytes[12] == 0x01 else { throw .unsupportedAlgorithm }
        return try CertifiedKey.assembled(
            field: bytes[15..<(bytes.count - 21)], length: Int(bytes[13]), remainder: request.issuerRemainder,
            exponent: request.issuerExponent)
    }

    /// Retrieval of the ICC public key (EMV Book 2 §6.4).
    func iccKey() throws(AuthenticationFailure) -> RSAPublicKey {
        let issuer = try issuerKey()
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

    /// The issuer identifier is three to eight leftmost digits of the PAN, filled with F on the right
    /// (EMV Book 2 §5.3 step 8).
    private func issuerIdentifierMatches(_ identifier: ArraySlice<UInt8>) -> Bool {
        guard let digits = BCD.digits(identifier), digits.count >= 3, let pan = BCD.digits(request.pan)
        else { return false }
        return pan.starts(with: digits)
    }
}
