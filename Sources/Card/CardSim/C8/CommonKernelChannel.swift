// SPDX-License-Identifier: Apache-2.0
import Crypto
import EMVCrypto

/// The card's side of kernel 8's secure channel (EMV Contactless Book E §7).
struct CommonKernelChannel: Sendable {
    /// 9F8103: x-coordinate of the blinded card key, then the encrypted blinding factor.
    private(set) var keyData: [UInt8] = []
    private let keys: SessionKeys
    private var cardCounter: UInt16 = 0x8000
    private var kernelCounter: UInt16 = 0x0000

    /// - Parameters:
    ///   - kernelKey: 9E: x ‖ y.
    ///   - blindingFactor: 32 bytes; `nil` where one of the two is no key.
    init?(kernelKey: [UInt8], blindingFactor: [UInt8]) {
        guard let blinding = try? P256.KeyAgreement.PrivateKey(rawRepresentation: blindingFactor),
            let card = try? P256.KeyAgreement.PrivateKey(rawRepresentation: ECCTestKeys.card),
            let kernel = try? P256.KeyAgreement.PublicKey(x963Representation: [0x04] + kernelKey),
            let blindedKey = CommonKernelChannel.x(blinding, card.publicKey),
            // r · Dc · Qk, one factor after the other: of the point between only x is known, and either y will do.
            let half = CommonKernelChannel.x(blinding, kernel),
            let between = try? P256.KeyAgreement.PublicKey(compressedRepresentation: [0x02] + half),
            let secret = CommonKernelChannel.x(card, between), let session = SessionKeys(secret: secret)
        else { return nil }
        keys = session
        keyData = blindedKey + encrypt(blindingFactor)
    }

    private static func x(
        _ factor: P256.KeyAgreement.PrivateKey, _ point: P256.KeyAgreement.PublicKey
    ) -> [UInt8]? {
        guard let shared = try? factor.sharedSecretFromKeyAgreement(with: point) else { return nil }
        return unsafe shared.withUnsafeBytes { unsafe Array($0) }
    }

    mutating func encrypt(_ data: [UInt8]) -> [UInt8] {
        defer { cardCounter &+= 1 }
        return keys.apply(counter: cardCounter, data)
    }

    /// The answer to READ DATA.
    mutating func answer(read object: [UInt8]) -> [UInt8] {
        let number = bytes(cardCounter)
        let encrypted = encrypt(object)
        return encrypted + keys.integrity.mac(number + encrypted).prefix(8)
    }

    mutating func decrypt(_ data: [UInt8]) -> [UInt8] {
        defer { kernelCounter &+= 1 }
        return keys.apply(counter: kernelCounter, data)
    }

    /// The answer to WRITE DATA.
    mutating func answer(written object: [UInt8]) -> [UInt8] {
        defer { cardCounter &+= 1 }
        return Array(keys.integrity.mac(bytes(cardCounter) + object).prefix(8))
    }

    func iadMAC(_ input: [UInt8]) -> [UInt8] { Array(keys.integrity.macPlus([0, 0] + input).prefix(8)) }

    func edaMAC(cryptogram: [UInt8], iadMAC: [UInt8]) -> [UInt8] {
        Array(keys.integrity.mac([0, 0] + cryptogram + iadMAC).prefix(8))
    }

    private func bytes(_ counter: UInt16) -> [UInt8] {
        [UInt8(truncatingIfNeeded: counter >> 8), UInt8(truncatingIfNeeded: counter)]
    }
}
