public import CardBytes
import Crypto
import CryptoExtras

/// Compact JWE (RFC 7516 §3.1) under `A256GCM`: the form in which a read result leaves this machine.
public enum JWE {
    /// Seals `plaintext` to `recipient`. It is read where it lies, never copied.
    ///
    /// - Returns: the five base64url parts with dots between them.
    /// - Throws: `.unusableKey` where the recipient's key agrees on nothing.
    public static func seal(
        _ plaintext: SecretBytes, to recipient: RecipientKey
    ) throws(EnvelopeError) -> String {
        try seal(plaintext, to: recipient, inputs: SealingInputs())
    }

    static func seal(
        _ plaintext: SecretBytes, to recipient: RecipientKey, inputs: SealingInputs
    ) throws(EnvelopeError) -> String {
        var header = JWEHeader(algorithm: recipient.algorithm, keyID: recipient.keyID)
        let content: ContentKey
        do {
            content = try contentKey(for: recipient, inputs, &header)
        } catch {
            throw .unusableKey
        }
        var token = Base64URL.encode(header.json.utf8)
        let box: AES.GCM.SealedBox
        do {
            box = try unsafe plaintext.withUnsafeBytes { bytes in
                try unsafe AES.GCM.seal(bytes, using: content.key, nonce: inputs.nonce, authenticating: token)
            }
        } catch {
            throw .unusableKey
        }
        for part in [content.encrypted, Array(box.nonce), Array(box.ciphertext), Array(box.tag)] {
            token.append(0x2E)
            token += Base64URL.encode(part)
        }
        return String(decoding: token, as: UTF8.self)
    }

    /// The content key and the form in which it travels.
    private struct ContentKey {
        var key: SymmetricKey
        /// The JWE Encrypted Key, empty for direct agreement.
        var encrypted: [UInt8] = []
    }

    private static func contentKey(
        for recipient: RecipientKey, _ inputs: SealingInputs, _ header: inout JWEHeader
    ) throws -> ContentKey {
        let secret: SharedSecret
        switch recipient.material {
        case .p256(let x, let y):
            let ephemeral = inputs.p256 ?? P256.KeyAgreement.PrivateKey()
            secret = try ephemeral.sharedSecretFromKeyAgreement(
                with: P256.KeyAgreement.PublicKey(rawRepresentation: x + y))
            let own = Array(ephemeral.publicKey.rawRepresentation)
            header.ephemeralKey = .p256(x: Array(own.prefix(32)), y: Array(own.suffix(32)))
        case .x25519(let x):
            let ephemeral = inputs.x25519 ?? Curve25519.KeyAgreement.PrivateKey()
            secret = try ephemeral.sharedSecretFromKeyAgreement(
                with: Curve25519.KeyAgreement.PublicKey(rawRepresentation: x))
            header.ephemeralKey = .x25519(Array(ephemeral.publicKey.rawRepresentation))
        case .rsa(let n, let e):
            let key = try _RSA.Encryption.PublicKey(n: n, e: e)
            let encrypted = try unsafe inputs.contentKey.withUnsafeBytes { bytes in
                try unsafe key.encrypt(bytes.assumingMemoryBound(to: UInt8.self), padding: .PKCS1_OAEP_SHA256)
            }
            return ContentKey(key: inputs.contentKey, encrypted: Array(encrypted))
        }
        let agreed = try agreedKey(secret, header)
        guard header.algorithm == .ecdhESA256KW else { return ContentKey(key: agreed) }
        let wrapped = try AES.KeyWrap.wrap(inputs.contentKey, using: agreed)
        return ContentKey(key: inputs.contentKey, encrypted: Array(wrapped))
    }

    /// The content key (`ECDH-ES`) or the key that wraps it: AlgorithmID is `enc` or `alg` (RFC 7518 §4.6.2).
    ///
    /// - Throws: `.unusableKey` for a secret of zeros only, which a point of small order gives whatever the other key
    ///   (RFC 7748 §6.1); the cipher does not look.
    static func agreedKey(_ secret: SharedSecret, _ header: JWEHeader) throws(EnvelopeError) -> SymmetricKey {
        let bits = unsafe secret.withUnsafeBytes { bytes in
            var bits: UInt8 = 0
            for index in bytes.indices { unsafe bits |= bytes[index] }
            return bits
        }
        guard bits != 0 else { throw .unusableKey }
        return ConcatKDF.derive(
            secret, algorithm: header.algorithm == .ecdhES ? "A256GCM" : header.algorithm.rawValue,
            partyU: header.partyU, partyV: header.partyV)
    }
}
