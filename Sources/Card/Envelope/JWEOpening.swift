// SPDX-License-Identifier: Apache-2.0
public import CardBytes
import Crypto
import CryptoExtras

extension JWE {
    /// Opens a compact JWE. The header text is authenticated as received, never re-serialised.
    ///
    /// - Throws: what is wrong with the token; `.wrongKey` where it names another key; `.notAuthentic` where nothing
    ///   is, but it does not open.
    public static func open(
        _ token: String, with key: RecipientPrivateKey
    ) throws(EnvelopeError) -> SecretBytes {
        let envelope = try ReceivedEnvelope(token)
        if let own = key.keyID, let named = envelope.keyID, own != named { throw .wrongKey }
        guard envelope.encryptedKey.isEmpty == (envelope.algorithm == .ecdhES) else { throw .malformedToken }
        return try envelope.open(key: contentKey(envelope, key))
    }

    private static func contentKey(
        _ envelope: ReceivedEnvelope, _ key: RecipientPrivateKey
    ) throws(EnvelopeError) -> SymmetricKey {
        do {
            switch (key.material, envelope.header.ephemeralKey) {
            case (.p256(let own), .p256(let x, let y)):
                let secret = try own.sharedSecretFromKeyAgreement(
                    with: P256.KeyAgreement.PublicKey(rawRepresentation: x + y))
                return try envelope.unwrapped(agreedKey(secret, envelope.header))
            case (.x25519(let own), .x25519(let x)):
                let secret = try own.sharedSecretFromKeyAgreement(
                    with: Curve25519.KeyAgreement.PublicKey(rawRepresentation: x))
                return try envelope.unwrapped(agreedKey(secret, envelope.header))
            case (.rsa(let own), nil):
                var contentKey = try own.decrypt(envelope.encryptedKey)
                defer { wipe(&contentKey) }
                guard contentKey.count == 32 else { throw EnvelopeError.notAuthentic }
                return SymmetricKey(data: contentKey)
            case (.p256, .x25519?), (.p256, nil), (.x25519, .p256?), (.x25519, nil), (.rsa, _?):
                throw EnvelopeError.wrongKey
            }
        } catch EnvelopeError.wrongKey {
            throw .wrongKey
        } catch {
            throw .notAuthentic
        }
    }

    /// swift-crypto returns opened bytes on the heap; zeroes are all that may stay there.
    package static func wipe(_ bytes: inout some MutableCollection<UInt8>) {
        for index in bytes.indices { bytes[index] = 0 }
    }
}
