// SPDX-License-Identifier: Apache-2.0
public import CardBytes
import Crypto
public import Envelope
import Glibc
import Linux

/// Keys in a file: for tests, for everybody who can read the file can open every envelope.
public struct FileKeys: EnvelopeOpener {
    private let key: RecipientPrivateKey
    /// Made from the recipient's private key, so that the file has one secret.
    private let storageKey: SymmetricKey
    private let tokenKey: SymmetricKey

    public enum ReadError: Error, Equatable, Sendable {
        case file(errno: Int32)
        case key(RecipientKeyError)
        /// Without `kid` no envelope could say that it is sealed to this key.
        case noKeyID
    }

    /// - Parameter path: of a private JWK with a `kid`.
    public init(path: String) throws(ReadError) {
        let jwk: SecretBytes
        do throws(SystemError) {
            let file = try Descriptor(opening: path, O_RDONLY)
            jwk = try SecretBytes(capacity: 4_096) { (writer) throws(SystemError) in
                try file.readSecret(atMost: 64 * 1_024) { writer.append($0) }
            }
        } catch {
            throw .file(errno: error.code)
        }
        try self.init(jwk: jwk)
    }

    public init(jwk: SecretBytes) throws(ReadError) {
        do throws(RecipientKeyError) { key = try RecipientPrivateKey(jwk: jwk) } catch { throw .key(error) }
        guard key.publicKey != nil else { throw .noKeyID }
        storageKey = Self.derived(jwk, "storage")
        tokenKey = Self.derived(jwk, "card tokens")
    }

    private static func derived(_ secret: SecretBytes, _ purpose: String) -> SymmetricKey {
        // The library reads the secret where it lies.
        let input = unsafe secret.withUnsafeBytes { unsafe SymmetricKey(data: $0) }
        return HKDF<SHA256>.deriveKey(
            inputKeyMaterial: input, info: Array("nfc-tap-switch \(purpose)".utf8), outputByteCount: 32)
    }

    public func recipients() async throws(OpeningRefusal) -> RecipientKeySet {
        RecipientKeySet(keys: key.publicKey.map { [$0] } ?? [])
    }

    public func open(_ envelope: String) async throws(OpeningRefusal) -> SecretBytes {
        do throws(EnvelopeError) {
            return try JWE.open(envelope, with: key)
        } catch {
            throw error == .wrongKey ? .unknownKey : .unreadable
        }
    }

    public func cardToken(merchant: String, number: SecretBytes) async throws(OpeningRefusal) -> String {
        for attempt in UInt8.min...UInt8.max {
            let message = CardTokenText.message(merchant: merchant, number: number, attempt: attempt)
            // The library reads the secret where it lies.
            let code = unsafe message.withUnsafeBytes {
                unsafe Array(HMAC<SHA256>.authenticationCode(for: $0, using: tokenKey))
            }
            if let text = CardTokenText.text(code) { return text }
        }
        throw .unavailable
    }

    public func seal(_ content: SecretBytes, for name: String) async throws(OpeningRefusal) -> [UInt8] {
        // The library reads the secret where it lies.
        let box = unsafe content.withUnsafeBytes {
            unsafe try? AES.GCM.seal($0, using: storageKey, authenticating: Array(name.utf8))
        }
        guard let combined = box?.combined else { throw .unavailable }
        return Array(combined)
    }

    public func unseal(_ sealed: [UInt8], for name: String) async throws(OpeningRefusal) -> SecretBytes {
        do {
            let box = try AES.GCM.SealedBox(combined: sealed)
            var opened = try AES.GCM.open(box, using: storageKey, authenticating: Array(name.utf8))
            defer { JWE.wipe(&opened) }
            return SecretBytes(capacity: opened.count) { $0.append(contentsOf: opened) }
        } catch {
            throw .unreadable
        }
    }
}
