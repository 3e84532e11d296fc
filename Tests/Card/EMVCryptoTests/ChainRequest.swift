// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV
import EMVCrypto

extension Vectors.Chain {
    /// A date on which the vector's certificates are valid: a month before the first of them ends.
    var validDate: EMVDate {
        get throws {
            let issuer = EMVDate(mmyy: try hex(expected.issuerExpiry))
            let icc = EMVDate(mmyy: try hex(expected.iccExpiry))
            let first = [issuer, icc].compactMap { $0 }.min() ?? EMVDate(year: 2000, month: 1, day: 1)
            return EMVDate(year: first.year - 1, month: first.month, day: 1)
        }
    }

    /// The card's PAN; for the one mock card whose PAN belongs to another issuer, one of its issuer.
    var panOfIssuer: [UInt8] {
        get throws { try hex(id.hasPrefix("javaemvreader") ? "4925640000000000" : request.pan) }
    }

    /// The CA keys a terminal needs for this card.
    func keys(expiry: String = "", revoked: Set<RevokedCertificate> = []) throws -> CAPublicKeys {
        let key = try CAPublicKey(
            rid: ca.rid, index: ca.index, modulus: ca.modulus, exponent: ca.exponent, checksum: ca.sha1 ?? "",
            expiry: expiry, environment: .test)
        return try CAPublicKeys(environment: .test, keys: [key], revoked: revoked)
    }

    /// The dynamic signature's request where the vector has one, else the static one's.
    func authenticationRequest(sda: Bool = false) throws -> AuthenticationRequest {
        let method: AuthenticationRequest.Method
        if sda || expected.method == nil {
            method = .sda
        } else if expected.method == "cda" {
            method = .cda(
                unpredictableNumber: try hex(request.unpredictableNumber),
                transactionData: try hex(request.transactionData), cryptogramInformation: try hex(request.cid)[0])
        } else {
            method = .dda(terminalDynamicData: try hex(request.terminalDynamicData))
        }
        let isStatic = sda || expected.method == nil
        return AuthenticationRequest(
            method: method, rid: try hex(request.rid), caIndex: try hex(request.caIndex)[0],
            issuerCertificate: try hex(request.issuerCertificate), issuerExponent: try hex(request.issuerExponent),
            issuerRemainder: try hex(request.issuerRemainder),
            iccCertificate: isStatic ? [] : try hex(request.iccCertificate),
            iccExponent: isStatic ? [] : try hex(request.iccExponent),
            iccRemainder: isStatic ? [] : try hex(request.iccRemainder),
            signature: try hex(isStatic ? request.ssad : request.sdad), pan: try hex(request.pan),
            staticData: try hex(request.staticData), date: try validDate)
    }
}
