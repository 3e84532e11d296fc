// SPDX-License-Identifier: Apache-2.0
import Crypto
import EMVCrypto

/// A P-256 key that signs certificates by EC-SDSA with SHA-256 (EMV Contactless Book E §8.8.7). TEST keys only: the one-time
/// number comes from key and message, so that a certificate is the same in every run.
struct ECCSigner {
    private let privateKey: [UInt8]
    /// x-coordinate of the public key, 32 bytes.
    let publicX: [UInt8]

    /// - Parameter privateKey: 32 bytes; `nil` for what is no key.
    init?(privateKey: [UInt8]) {
        guard let x = ECCSigner.baseX(times: privateKey) else { return nil }
        self.privateKey = privateKey
        publicX = x
    }

    /// r ‖ s: r = H(x(k·G) ‖ message), s = k + r·d. `nil` once in 2^32 times, where a hash is above the order.
    func signature(_ message: [UInt8]) -> [UInt8]? {
        let number = Array(SHA256.hash(data: privateKey + message))
        guard let scalars = Modulus(ECCSigner.order), let x = ECCSigner.baseX(times: number) else {
            return nil
        }
        let r = Array(SHA256.hash(data: x + message))
        let factor = scalars.residue(Modulus.limbs(r))
        let product = scalars.product(factor, Modulus.limbs(privateKey))
        let negated = scalars.difference([0, 0, 0, 0], product)
        let s = scalars.difference(Modulus.limbs(number), negated)
        return r + Modulus.bytes(s, count: 32)
    }

    private static func baseX(times factor: [UInt8]) -> [UInt8]? {
        (try? P256.KeyAgreement.PrivateKey(rawRepresentation: factor)).map {
            Array($0.publicKey.x963Representation.dropFirst().prefix(32))
        }
    }

    /// Order of P-256.
    private static let order: [UInt8] = .hex("FFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551")
}
