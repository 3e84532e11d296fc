// SPDX-License-Identifier: Apache-2.0
/// A public key as a card carries it: certificate, remainder and exponent (90 92 9F32, or 9F46 9F48 9F47).
struct KeyCertificate: Sendable {
    var certificate: [UInt8]
    /// Empty where the whole modulus fits into the certificate.
    var remainder: [UInt8]
    var exponent: [UInt8]

    /// Signs a certificate over `key` (EMV Book 2 §5.1 table 2 and §6.1 table 10).
    ///
    /// - Parameters:
    ///   - format: 02 for an issuer's, 04 for a card's certificate.
    ///   - subject: issuer identifier (4 bytes) or PAN (10 bytes), filled with F.
    ///   - expiry: MMYY.
    ///   - serial: three bytes.
    ///   - staticData: what the hash takes in at the end; empty for an issuer's certificate.
    /// - Returns: `nil` where the signer's modulus has no room for the fields.
    init?(
        over key: RSAPrivateKey, signedBy signer: RSAPrivateKey, format: UInt8, subject: [UInt8], expiry: [UInt8],
        serial: [UInt8], staticData: [UInt8] = []
    ) {
        let head =
            [format] + subject + expiry + serial
            + [0x01, 0x01, UInt8(truncatingIfNeeded: key.modulus.count), UInt8(key.publicExponent.count)]
        let room = signer.modulus.count - 22 - head.count
        guard room >= 0 else { return nil }
        let left = Array(key.modulus.prefix(room))
        remainder = Array(key.modulus.dropFirst(room))
        exponent = key.publicExponent
        guard
            let signature = SignedFrame.signature(
                head + left, followedBy: remainder + exponent + staticData, with: signer)
        else { return nil }
        certificate = signature
    }
}
