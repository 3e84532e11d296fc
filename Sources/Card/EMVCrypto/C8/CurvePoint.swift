// SPDX-License-Identifier: Apache-2.0
import Crypto

/// A point of P-256, with what swift-crypto leaves out of signatures that are none of ECDSA. For public data only: sums of
/// points take a time that depends on them. Products with a number are swift-crypto's.
struct CurvePoint: Equatable, Sendable {
    /// Coordinates, 32 bytes each.
    let x: [UInt8]
    let y: [UInt8]

    /// - Parameter coordinates: x ‖ y; `nil` unless 64 bytes of a point on the curve.
    init?(_ coordinates: [UInt8]) {
        guard coordinates.count == 64,
            (try? P256.KeyAgreement.PublicKey(x963Representation: [0x04] + coordinates)) != nil
        else { return nil }
        x = Array(coordinates.prefix(32))
        y = Array(coordinates.suffix(32))
    }

    private init(_ key: P256.KeyAgreement.PublicKey) {
        let coordinates = Array(key.x963Representation.dropFirst())
        x = Array(coordinates.prefix(32))
        y = Array(coordinates.suffix(32))
    }

    private init(x: [UInt64], y: [UInt64]) {
        self.x = Modulus.bytes(x, count: 32)
        self.y = Modulus.bytes(y, count: 32)
    }

    /// The base point times `factor`; `nil` where that is 0 or not below the order.
    init?(factor: [UInt8]) {
        guard let key = try? P256.KeyAgreement.PrivateKey(rawRepresentation: factor) else { return nil }
        self.init(key.publicKey)
    }

    /// The point with this x-coordinate and the smaller y-coordinate: the form in which certificates name public keys
    /// (EMV Contactless Book E §8.8.4).
    init?(x: [UInt8]) {
        guard x.count == 32, let field = CurvePoint.field,
            let key = try? P256.KeyAgreement.PublicKey(compressedRepresentation: [0x02] + x)
        else { return nil }
        let point = CurvePoint(key)
        let even = Modulus.limbs(point.y)
        let odd = field.difference([0, 0, 0, 0], even)
        self = Modulus.isBelow(odd, even) ? CurvePoint(x: Modulus.limbs(x), y: odd) : point
    }

    /// x-coordinate of this point times `factor` (Diffie-Hellman); `nil` where the factor is 0 or not below the order.
    func x(times factor: [UInt8]) -> [UInt8]? {
        guard let key = try? P256.KeyAgreement.PrivateKey(rawRepresentation: factor),
            let point = try? P256.KeyAgreement.PublicKey(x963Representation: [0x04] + x + y),
            let shared = try? key.sharedSecretFromKeyAgreement(with: point)
        else { return nil }
        return unsafe shared.withUnsafeBytes { unsafe Array($0) }
    }

    /// The point with the other y-coordinate.
    var negated: CurvePoint? {
        CurvePoint.field.map { field in
            CurvePoint(
                x: Modulus.limbs(x), y: field.difference([0, 0, 0, 0], Modulus.limbs(y)))
        }
    }

    /// The sum of two points with different x-coordinates; `nil` for others, which come up by chance only.
    func adding(_ other: CurvePoint) -> CurvePoint? {
        guard let field = CurvePoint.field, x != other.x else { return nil }
        let (x1, y1) = (Modulus.limbs(x), Modulus.limbs(y))
        let (x2, y2) = (Modulus.limbs(other.x), Modulus.limbs(other.y))
        let width = field.power(field.difference(x2, x1), CurvePoint.inversion)
        let slope = field.product(field.difference(y2, y1), width)
        let x3 = field.difference(field.difference(field.product(slope, slope), x1), x2)
        let y3 = field.difference(field.product(slope, field.difference(x1, x3)), y1)
        return CurvePoint(x: x3, y: y3)
    }

    /// The order of the curve.
    static let order: [UInt8] = [
        0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xBC, 0xE6,
        0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
    ]
    /// Arithmetic modulo the order.
    static let scalars = Modulus(order)
    /// Arithmetic modulo the prime 2^256 − 2^224 + 2^192 + 2^96 − 1.
    private static let field = Modulus(Modulus.bytes(prime, count: 32))
    private static let prime: [UInt64] = [.max, 0x0000_0000_FFFF_FFFF, 0, 0xFFFF_FFFF_0000_0001]
    /// The prime less two: the power that inverts.
    private static let inversion: [UInt64] = [.max - 2, 0x0000_0000_FFFF_FFFF, 0, 0xFFFF_FFFF_0000_0001]
}
