// SPDX-License-Identifier: Apache-2.0
import EMV

/// ICC public key certificate, format 14 (tag 9F46; EMV Contactless Book E §5.4).
struct ICCECCCertificate {
    /// Last day and minute of use, UTC.
    let expiry: EMVDate
    /// HHMM in BCD.
    let expiryTime: [UInt8]
    /// SHA-256 over the static data to be authenticated.
    let staticDataHash: [UInt8]
    let key: CurvePoint
    private let fields: ECCCertificateFields

    /// - Returns: `nil` for another length, format (14), encoding (00), suite of the key (00), hash encoding (01) or
    ///   hash algorithm (02), and for a key that is no point of the curve.
    init?(_ certificate: [UInt8]) {
        guard var fields = ECCCertificateFields(certificate, count: 145), fields.takes([0x14, 0x00, 0x00]),
            let expiry = fields.date()
        else { return nil }
        self.expiry = expiry
        expiryTime = fields.take(2)
        // Serial number: the revocation list is about issuers.
        _ = fields.take(6)
        guard fields.takes([0x01, 0x02]) else { return nil }
        staticDataHash = fields.take(32)
        guard let key = CurvePoint(x: fields.take(32)) else { return nil }
        self.key = key
        self.fields = fields
    }

    func isSigned(by issuer: CurvePoint) -> Bool { fields.signature.isValid(fields.signed, by: issuer) }

    func isValid(on date: EMVDate, at time: EMVTime) -> Bool {
        if date != expiry { return date < expiry }
        let now = Array(time.hhmmss.prefix(2))
        return !expiryTime.lexicographicallyPrecedes(now)
    }
}
