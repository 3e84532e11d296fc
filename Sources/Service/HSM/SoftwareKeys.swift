// SPDX-License-Identifier: Apache-2.0
public import CardBytes
import Crypto
public import Envelope

/// The same keys without a token, from private JWKs: for tests only, because whoever reads the file or this process has them. Whoever
/// makes one has asked for it by a flag.
public struct SoftwareKeys: TokenKeys {
    private let keys: [RecipientPrivateKey]
    private let signer: SigningKey?
    /// Keys for codes and the books, from a secret that is in no file of its own.
    private let codes: SymmetricKey
    private let books: SymmetricKey

    /// - Parameters:
    ///   - recipients: private JWKs with a `kid`, in the order of preference. The first one also gives the keys for card tokens and the books.
    ///   - signer: private JWK on P-256.
    public init(recipients: [SecretBytes], signer: SecretBytes? = nil) throws(RecipientKeyError) {
        var keys: [RecipientPrivateKey] = []
        for jwk in recipients {
            let key = try RecipientPrivateKey(jwk: jwk)
            guard key.keyID != nil else { throw .missingMember("kid") }
            keys.append(key)
        }
        guard let first = recipients.first else { throw .noUsableKey }
        self.keys = keys
        if let signer { self.signer = try SigningKey(jwk: signer) } else { self.signer = nil }
        // The secret is read where it lies.
        let secret = unsafe first.withUnsafeBytes { unsafe SymmetricKey(data: UnsafeRawBufferPointer($0)) }
        func derived(_ name: String) -> SymmetricKey {
            HKDF<SHA256>.deriveKey(inputKeyMaterial: secret, info: Array(name.utf8), outputByteCount: 32)
        }
        codes = derived("nfc-tap card tokens")
        books = derived("nfc-tap books")
    }

    public func recipients() async throws(TokenError) -> RecipientKeySet {
        RecipientKeySet(keys: keys.compactMap(\.publicKey))
    }

    public func open(_ envelope: String) async throws(TokenError) -> SecretBytes {
        guard envelope.utf8.count <= mostEnvelopeBytes else { throw .envelope(.malformedToken) }
        let received: ReceivedEnvelope
        do throws(EnvelopeError) { received = try ReceivedEnvelope(envelope) } catch { throw .envelope(error) }
        guard let keyID = received.keyID else { throw .envelope(.malformedHeader(member: "kid")) }
        guard let key = keys.first(where: { $0.keyID == keyID }) else { throw .unknownKey(keyID) }
        do throws(EnvelopeError) { return try JWE.open(envelope, with: key) } catch { throw .envelope(error) }
    }

    /// - Throws: nothing of this key set.
    public func code(of message: SecretBytes) async throws(TokenError) -> [UInt8] {
        // As above.
        unsafe message.withUnsafeBytes { bytes in
            Array(unsafe HMAC<SHA256>.authenticationCode(for: UnsafeRawBufferPointer(bytes), using: codes))
        }
    }

    public func seal(_ content: SecretBytes, for name: String) async throws(TokenError) -> [UInt8] {
        let (nonce, associated) = (RowSeal.freshNonce(), RowSeal.associated("software", name))
        do {
            // As above.
            let box = try unsafe content.withUnsafeBytes { bytes in
                try unsafe AES.GCM.seal(
                    UnsafeRawBufferPointer(bytes), using: books, nonce: AES.GCM.Nonce(data: nonce),
                    authenticating: associated)
            }
            return RowSeal.head("software") + nonce + Array(box.ciphertext) + Array(box.tag)
        } catch {
            throw .envelope(.unusableKey)
        }
    }

    public func unseal(_ sealed: [UInt8], for name: String) async throws(TokenError) -> SecretBytes {
        guard let seal = RowSeal(sealed) else { throw .envelope(.malformedToken) }
        guard seal.label == "software" else { throw .unknownKey(seal.label) }
        do {
            let box = try AES.GCM.SealedBox(
                nonce: AES.GCM.Nonce(data: seal.nonce), ciphertext: seal.ciphertext.dropLast(16),
                tag: seal.ciphertext.suffix(16))
            var opened = try AES.GCM.open(box, using: books, authenticating: RowSeal.associated(seal.label, name))
            defer { JWE.wipe(&opened) }
            return SecretBytes(capacity: opened.count) { $0.append(contentsOf: opened) }
        } catch {
            throw .envelope(.notAuthentic)
        }
    }

    public func verificationKey() async throws(TokenError) -> VerificationKey {
        guard let signer else { throw .unknownKey("signer") }
        return signer.verificationKey
    }

    public func sign(_ payload: [UInt8], type: String) async throws(TokenError) -> String {
        guard let signer else { throw .unknownKey("signer") }
        do throws(JWSError) { return try JWS.sign(payload, key: signer, type: type) } catch {
            throw .unknownKey(signer.keyID)
        }
    }
}
