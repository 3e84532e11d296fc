// SPDX-License-Identifier: Apache-2.0
public import CardBytes
import Crypto
import CryptoExtras

/// Everything of an envelope that does not depend on what goes in: a fresh key, agreed with the recipient, and the header.
/// Made ahead, it leaves only the cipher for the moment in which there is something to seal. Seals once.
public struct OneTimeSeal: ~Copyable, Sendable {
    /// Protected header, encoded.
    private let header: [UInt8]
    private let key: SymmetricKey
    /// The JWE Encrypted Key, empty for direct agreement.
    private let encryptedKey: [UInt8]
    private let nonce: AES.GCM.Nonce

    /// - Throws: `.unusableKey` where the recipient's key agrees on nothing.
    public init(to recipient: RecipientKey) throws(EnvelopeError) {
        try self.init(to: recipient, inputs: SealingInputs())
    }

    init(to recipient: RecipientKey, inputs: SealingInputs) throws(EnvelopeError) {
        var header = JWEHeader(algorithm: recipient.algorithm, keyID: recipient.keyID)
        do {
            (key, encryptedKey) = try OneTimeSeal.contentKey(for: recipient, inputs, &header)
        } catch {
            throw .unusableKey
        }
        self.header = Base64URL.encode(header.json.utf8)
        nonce = inputs.nonce
    }

    /// Seals `plaintext`, which is read where it lies, never copied.
    ///
    /// - Returns: the five base64url parts with dots between them.
    /// - Throws: `EnvelopeError.unusableKey` if the cipher refuses.
    public consuming func seal(_ plaintext: SecretBytes) throws(EnvelopeError) -> String {
        let box: AES.GCM.SealedBox
        do {
            let (key, nonce, header) = (key, nonce, header)
            // The cipher reads the plaintext where it lies, so that no copy of it has to be wiped.
            box = try unsafe plaintext.withUnsafeBytes { bytes in
                try unsafe AES.GCM.seal(bytes, using: key, nonce: nonce, authenticating: header)
            }
        } catch {
            throw .unusableKey
        }
        var token = header
        for part in [encryptedKey, Array(box.nonce), Array(box.ciphertext), Array(box.tag)] {
            token.append(0x2E)
            token += Base64URL.encode(part)
        }
        return String(decoding: token, as: UTF8.self)
    }

    /// A key for one agreement, from 32 bytes of the system's random source.
    ///
    /// The library's own way to a new key signs with it and verifies that signature, which is half of what a seal costs and says nothing of a
    /// key that never signs (decision 153). From bytes it checks that the number is one of the curve's, 1 to n - 1, and makes the point.
    private static func freshKey() throws -> P256.KeyAgreement.PrivateKey {
        // One number in 2^32 is none of the curve's: such bytes are drawn anew, as FIPS 186-5 A.2.2 does.
        for _ in 0..<8 {
            // A symmetric key's bytes are drawn by the library and wiped with it.
            let bytes = SymmetricKey(size: .bits256)
            if let key = try? unsafe bytes.withUnsafeBytes({
                try unsafe P256.KeyAgreement.PrivateKey(rawRepresentation: $0)
            }) {
                return key
            }
        }
        throw EnvelopeError.unusableKey
    }

    /// The content key and the form in which it travels.
    private static func contentKey(
        for recipient: RecipientKey, _ inputs: SealingInputs, _ header: inout JWEHeader
    ) throws -> (SymmetricKey, encrypted: [UInt8]) {
        let secret: SharedSecret
        switch recipient.material {
        case .p256(let x, let y):
            let ephemeral = try inputs.p256 ?? freshKey()
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
            // As above, for the content key.
            let encrypted = try unsafe inputs.contentKey.withUnsafeBytes { bytes in
                try unsafe key.encrypt(bytes.assumingMemoryBound(to: UInt8.self), padding: .PKCS1_OAEP_SHA256)
            }
            return (inputs.contentKey, Array(encrypted))
        }
        let agreed = try JWE.agreedKey(secret, header)
        guard header.algorithm == .ecdhESA256KW else { return (agreed, []) }
        let wrapped = try AES.KeyWrap.wrap(inputs.contentKey, using: agreed)
        return (inputs.contentKey, Array(wrapped))
    }
}
