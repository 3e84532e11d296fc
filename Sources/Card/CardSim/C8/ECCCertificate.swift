// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// Certificates of the kernel 8 test card (EMV Contactless Book E §5.2 and §5.4).
enum ECCCertificate {
    /// YYYYMMDD: valid through 2049-12-31, as all certificates of this module.
    static let expiry: [UInt8] = .hex("20491231")

    /// 90, format 12: the issuer's key under the authority's.
    static var issuer: [UInt8]? {
        guard let authority = ECCSigner(privateKey: ECCTestKeys.authority),
            let issuer = ECCSigner(privateKey: ECCTestKeys.issuer),
            let identifier = BCD.pack(ECCTestKeys.issuerIdentifier, count: 5)
        else { return nil }
        let signed: [UInt8] =
            [0x12, 0x00] + identifier + [0x10] + expiry + [0x00, 0x00, 0x01] + ECCTestKeys.rid
            + [ECCTestKeys.caIndex] + issuer.publicX
        return authority.signature(signed).map { signed + $0 }
    }

    /// 9F46, format 14: the card's key and the hash of its static data under the issuer's.
    static func card(staticDataHash: [UInt8]) -> [UInt8]? {
        guard let issuer = ECCSigner(privateKey: ECCTestKeys.issuer),
            let card = ECCSigner(privateKey: ECCTestKeys.card)
        else { return nil }
        let signed: [UInt8] =
            [0x14, 0x00, 0x00] + expiry + [0x23, 0x59, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x01, 0x02]
            + staticDataHash + card.publicX
        return issuer.signature(signed).map { signed + $0 }
    }
}
