// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV

/// Issuer public key certificate, format 12 (tag 90; EMV Contactless Book E §5.2).
struct IssuerECCCertificate {
    /// Three to ten leftmost digits of the PAN.
    let issuerIdentifier: [UInt8]
    /// Last day of use.
    let expiry: EMVDate
    /// Three bytes.
    let serial: [UInt8]
    let rid: [UInt8]
    let caIndex: UInt8
    let key: CurvePoint
    private let fields: ECCCertificateFields

    /// - Returns: `nil` for another length, format (12), encoding (00) or suite of the key (10), and for a key that is
    ///   no point of the curve.
    init?(_ certificate: [UInt8]) {
        guard var fields = ECCCertificateFields(certificate, count: 117), fields.takes([0x12, 0x00]) else { return nil }
        guard let digits = BCD.digits(fields.take(5)), digits.count >= 3, fields.takes([0x10]),
            let expiry = fields.date()
        else { return nil }
        issuerIdentifier = digits
        self.expiry = expiry
        serial = fields.take(3)
        rid = fields.take(5)
        caIndex = fields.take(1).first ?? 0
        guard let key = CurvePoint(x: fields.take(32)) else { return nil }
        self.key = key
        self.fields = fields
    }

    func isSigned(by authority: CurvePoint) -> Bool { fields.signature.isValid(fields.signed, by: authority) }
}
