// SPDX-License-Identifier: Apache-2.0
import Crypto

/// EC-SDSA over P-256 and SHA-256 in the form that hashes the x-coordinate only (EMV Contactless Book E §8.8.7; ISO/IEC
/// 14888-3): r = H(x(k·G) ‖ message), s = k + r·d modulo the order.
struct SchnorrSignature: Sendable {
    /// 32 bytes each.
    let r: [UInt8]
    let s: [UInt8]

    /// - Parameter bytes: r ‖ s; `nil` unless 64 bytes.
    init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == 64 else { return nil }
        r = Array(bytes.prefix(32))
        s = Array(bytes.suffix(32))
    }

    /// Whether `key` signed `message`.
    func isValid(_ message: [UInt8], by key: CurvePoint) -> Bool {
        // The hash may be above the order: then r·Q is that of the residue.
        guard let scalars = CurvePoint.scalars, let signed = CurvePoint(factor: s) else { return false }
        let factor = scalars.residue(Modulus.limbs(r))
        guard let product = SchnorrSignature.product(key, factor, scalars), let negated = product.negated,
            let witness = signed.adding(negated)
        else { return false }
        return Array(SHA256.hash(data: witness.x + message)) == r
    }

    /// factor · key. Diffie-Hellman gives its x-coordinate; which of the two points it is tells that of
    /// (factor + 1) · key.
    private static func product(
        _ key: CurvePoint, _ factor: [UInt64], _ scalars: Modulus
    ) -> CurvePoint? {
        let negativeOne = scalars.difference([0, 0, 0, 0], [1, 0, 0, 0])
        let following = scalars.difference(factor, negativeOne)
        guard let x = key.x(times: Modulus.bytes(factor, count: 32)), let point = CurvePoint(x: x),
            let check = key.x(times: Modulus.bytes(following, count: 32))
        else { return nil }
        // One times the key is the key; its double is not the sum of different points.
        if x == key.x { return factor == [1, 0, 0, 0] ? key : nil }
        return point.adding(key)?.x == check ? point : point.negated
    }
}
