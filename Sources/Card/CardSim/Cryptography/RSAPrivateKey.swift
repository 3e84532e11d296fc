// SPDX-License-Identifier: Apache-2.0
import EMVCrypto

/// An RSA private key in five numbers, for the published TEST keys only: not free of side channels.
struct RSAPrivateKey: Sendable {
    /// Big-endian modulus; its length is that of every signature.
    let modulus: [UInt8]
    /// Big-endian, without leading zeros.
    let publicExponent: [UInt8]
    private let primes: (Modulus, Modulus)
    private let exponents: ([UInt64], [UInt64])
    private let inverse: [UInt64]

    /// The numbers in hexadecimal: primes p > q, d mod (p − 1), d mod (q − 1), q⁻¹ mod p.
    ///
    /// - Returns: `nil` where a number is not hexadecimal or p and q are no odd numbers of the same length.
    init?(modulus: String, publicExponent: String, p: String, q: String, dp: String, dq: String, qInverse: String) {
        guard let first = Modulus(.hex(p)), let second = Modulus(.hex(q)),
            first.limbs.count == second.limbs.count
        else { return nil }
        self.modulus = .hex(modulus)
        self.publicExponent = .hex(publicExponent)
        primes = (first, second)
        exponents = (Modulus.limbs(.hex(dp)), Modulus.limbs(.hex(dq)))
        inverse = Self.fitted(Modulus.limbs(.hex(qInverse)), first.limbs.count)
    }

    /// message ^ d mod n by the Chinese remainder theorem.
    ///
    /// - Parameter message: as long as the modulus and below it.
    func signature(_ message: [UInt8]) -> [UInt8] {
        let (p, q) = primes
        let wide = Modulus.limbs(message)
        let first = p.power(p.residue(wide), exponents.0)
        let second = q.power(q.residue(wide), exponents.1)
        let factor = p.product(inverse, p.difference(first, p.residue(second)))

        // second + factor · q, which is below n.
        var result = Self.fitted(second, p.limbs.count + q.limbs.count)
        for (offset, digit) in factor.enumerated() {
            var carry: UInt64 = 0
            for (position, limb) in q.limbs.enumerated() {
                let sum = UInt128(digit) * UInt128(limb) + UInt128(result[offset + position]) + UInt128(carry)
                result[offset + position] = UInt64(truncatingIfNeeded: sum)
                carry = UInt64(truncatingIfNeeded: sum >> 64)
            }
            var position = offset + q.limbs.count
            while carry != 0, position < result.count {
                let (sum, overflow) = result[position].addingReportingOverflow(carry)
                result[position] = sum
                carry = overflow ? 1 : 0
                position += 1
            }
        }
        return Modulus.bytes(result, count: modulus.count)
    }

    private static func fitted(_ limbs: [UInt64], _ count: Int) -> [UInt64] {
        Array(limbs.prefix(count)) + [UInt64](repeating: 0, count: max(0, count - limbs.count))
    }
}
