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
        let parts = token.utf8.split(separator: 0x2E, omittingEmptySubsequences: false)
        guard parts.count == 5, let headerBytes = Base64URL.decode(parts[0]) else { throw .malformedToken }
        let header = try JWEHeader(headerBytes)
        guard let encryptedKey = Base64URL.decode(parts[1]), let nonce = Base64URL.decode(parts[2]), nonce.count == 12,
            let ciphertext = Base64URL.decode(parts[3]), let tag = Base64URL.decode(parts[4]), tag.count == 16
        else { throw .malformedToken }
        if let own = key.keyID, let named = header.keyID, own != named { throw .wrongKey }
        guard encryptedKey.isEmpty == (header.algorithm == .ecdhES) else { throw .malformedToken }
        let contentKey = try contentKey(header, encryptedKey, key)
        do {
            let box = try AES.GCM.SealedBox(
                nonce: AES.GCM.Nonce(data: nonce), ciphertext: ciphertext, tag: tag)
            var opened = try AES.GCM.open(box, using: contentKey, authenticating: Array(parts[0]))
            defer { wipe(&opened) }
            return SecretBytes(capacity: opened.count) { $0.append(contentsOf: opened) }
        } catch {
            throw .notAuthentic
        }
    }

    private static func contentKey(
        _ header: JWEHeader, _ encryptedKey: [UInt8], _ key: RecipientPrivateKey
    ) throws(EnvelopeError) -> SymmetricKey {
        do {
            switch (key.material, header.ephemeralKey) {
            case (.p256(let own), .p256(let x, let y)):
                let secret = try own.sharedSecretFromKeyAgreement(
                    with: P256.KeyAgreement.PublicKey(rawRepresentation: x + y))
                return try unwrapped(encryptedKey, agreedKey(secret, header))
            case (.x25519(let own), .x25519(let x)):
                let secret = try own.sharedSecretFromKeyAgreement(
                    with: Curve25519.KeyAgreement.PublicKey(rawRepresentation: x))
                return try unwrapped(encryptedKey, agreedKey(secret, header))
            case (.rsa(let own), nil):
                var contentKey = try own.decrypt(encryptedKey)
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

    private static func unwrapped(_ encryptedKey: [UInt8], _ agreed: SymmetricKey) throws -> SymmetricKey {
        guard !encryptedKey.isEmpty else { return agreed }
        let key = try AES.KeyWrap.unwrap(encryptedKey, using: agreed)
        guard key.bitCount == 256 else { throw EnvelopeError.notAuthentic }
        return key
    }

    /// swift-crypto returns opened bytes on the heap; zeroes are all that may stay there.
    private static func wipe(_ bytes: inout some MutableCollection<UInt8>) {
        for index in bytes.indices { bytes[index] = 0 }
    }
}
