// SPDX-License-Identifier: Apache-2.0
public import CardBytes
import Crypto
import StrictJSON

/// A key that signs statements: the installation's own, or in tests and the sandbox a payment service's.
public struct SigningKey: Sendable {
    public let verificationKey: VerificationKey
    private let key: P256.Signing.PrivateKey

    /// The `kid` of what it signs.
    public var keyID: String { verificationKey.keyID }

    /// A new key, named by its thumbprint (RFC 7638).
    public init() { self.init(P256.Signing.PrivateKey(), keyID: nil) }

    /// Reads a private JWK: `kty` EC, `crv` P-256, `x`, `y`, `d`; `kid` where present.
    ///
    /// - Throws: the first rule that the key breaks; `.malformedMember("d")` where `d` is not the private half of `x`, `y`.
    public init(jwk: SecretBytes) throws(RecipientKeyError) {
        self = try jwk.withSpan { (bytes) throws(RecipientKeyError) -> SigningKey in
            try SigningKey(bytes)
        }
    }

    private init(_ bytes: borrowing Span<UInt8>) throws(RecipientKeyError) {
        let index: JSONIndex
        do throws(JSONIndexError) { index = try JSONIndex(bytes) } catch { throw .notJSON }
        let members = try JWKMembers(index)
        let claimed = try VerificationKey(members, bytes)
        let d = try members.secretOctets("d", bytes)
        let key = unsafe d.withUnsafeBytes { unsafe try? P256.Signing.PrivateKey(rawRepresentation: $0) }
        guard let key else { throw .malformedMember("d") }
        self.init(key, keyID: claimed.keyID)
        guard verificationKey == claimed else { throw .malformedMember("d") }
    }

    private init(_ key: P256.Signing.PrivateKey, keyID: String?) {
        self.key = key
        let point = Array(key.publicKey.rawRepresentation)
        verificationKey = VerificationKey(keyID: keyID, x: Array(point.prefix(32)), y: Array(point.suffix(32)))
    }

    /// The private JWK, for a file that only its owner may read.
    public var jwk: SecretBytes {
        SecretBytes(capacity: 256) { writer in
            writer.append(contentsOf: verificationKey.jwk.utf8.dropLast())
            writer.append(contentsOf: #","d":""#.utf8)
            writer.append(contentsOf: Base64URL.encode(key.rawRepresentation))
            writer.append(contentsOf: #""}"#.utf8)
        }
    }

    func signature(of bytes: [UInt8]) throws(JWSError) -> [UInt8] {
        do { return Array(try key.signature(for: SHA256.hash(data: bytes)).rawRepresentation) } catch {
            throw .notAuthentic
        }
    }
}
