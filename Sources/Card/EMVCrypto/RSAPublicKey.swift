// SPDX-License-Identifier: Apache-2.0
/// An RSA key for the public operation of EMV Book 2 §B2.1: `signature ^ exponent mod modulus`.
///
/// What depends on the modulus alone is computed once, when the key is made.
public struct RSAPublicKey: Sendable {
    /// Length of the modulus in bytes, and so of every signature and every result.
    public let byteCount: Int
    /// 3 or 65537 in EMV; 2 occurs in old lists.
    public let exponent: UInt32
    let modulus: Modulus

    /// - Parameters:
    ///   - modulus: big-endian, 1 to 256 bytes.
    ///   - exponent: at least 2.
    /// - Returns: `nil` for an even modulus (no RSA key), one below 3, a longer one, or an exponent below 2.
    public init?(modulus: [UInt8], exponent: UInt32) {
        guard modulus.count <= 256, exponent >= 2, let arithmetic = Modulus(modulus) else { return nil }
        byteCount = modulus.count
        self.exponent = exponent
        self.modulus = arithmetic
    }

    /// The signature raised to the exponent: big-endian, exactly `byteCount` bytes, padded with zeros on the left.
    ///
    /// - Returns: `nil` for a signature that is not exactly as long as the modulus, or not below it.
    public func recover(_ signature: [UInt8]) -> [UInt8]? {
        guard signature.count == byteCount else { return nil }
        let all = Modulus.limbs(signature)
        guard all.dropFirst(modulus.limbs.count).allSatisfy({ $0 == 0 }) else { return nil }
        let base = Array(all.prefix(modulus.limbs.count))
        guard Modulus.isBelow(base, modulus.limbs) else { return nil }
        return Modulus.bytes(modulus.power(base, [UInt64(exponent)]), count: byteCount)
    }

    /// The number that an exponent field spells (9F32, 9F47, CA key lists): big-endian, leading zeros allowed.
    ///
    /// - Returns: `nil` for an empty field, a number below 2 or beyond 32 bits.
    public static func exponent(_ bytes: [UInt8]) -> UInt32? {
        var value: UInt32 = 0
        for byte in bytes {
            guard value <= UInt32.max >> 8 else { return nil }
            value = value << 8 | UInt32(byte)
        }
        return value >= 2 ? value : nil
    }
}
