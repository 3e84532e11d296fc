// SPDX-License-Identifier: Apache-2.0
public import CardBytes
import Crypto
import StrictJSON

/// The private half of a recipient key. Only a PSP has one; here it serves the sandbox and tests.
public struct RecipientPrivateKey: Sendable {
    enum Material: Sendable {
        case p256(P256.KeyAgreement.PrivateKey)
        case x25519(Curve25519.KeyAgreement.PrivateKey)
        case rsa(RSAPrivateMembers)
    }

    /// `kid`, where the JWK has one. A token that names another is refused.
    public let keyID: String?
    /// The public half, where the JWK has a `kid` to name it by.
    public let publicKey: RecipientKey?
    let material: Material

    /// Reads a private JWK: `kty`, `crv`, `d` or `n`, `e`, `d`, `p`, `q`; `kid` where present.
    ///
    /// - Throws: what makes it no private key of a supported kind.
    public init(jwk: SecretBytes) throws(RecipientKeyError) {
        self = try jwk.withSpan { (bytes) throws(RecipientKeyError) -> RecipientPrivateKey in
            try RecipientPrivateKey(bytes)
        }
    }

    private init(_ bytes: borrowing Span<UInt8>) throws(RecipientKeyError) {
        let index: JSONIndex
        do throws(JSONIndexError) { index = try JSONIndex(bytes) } catch { throw .notJSON }
        let members = try JWKMembers(index)
        keyID = try members.text("kid", bytes)
        guard keyID?.isOneLine != false else { throw .malformedMember("kid") }
        let publicMaterial = try RecipientKey.material(members, bytes)
        try publicMaterial.check()
        let algorithm = try RecipientKey.algorithm(named: members.text("alg", bytes), for: publicMaterial)
        publicKey = keyID.map { RecipientKey(algorithm: algorithm, keyID: $0, material: publicMaterial) }
        let d = try members.secretOctets("d", bytes)
        do {
            // The library reads the secret where it lies, so that no copy has to be wiped.
            switch publicMaterial {
            case .p256:
                material = .p256(
                    try unsafe d.withUnsafeBytes { try unsafe P256.KeyAgreement.PrivateKey(rawRepresentation: $0) })
            case .x25519:
                material = .x25519(
                    try unsafe d.withUnsafeBytes {
                        try unsafe Curve25519.KeyAgreement.PrivateKey(rawRepresentation: $0)
                    })
            case .rsa(let n, let e):
                let p = try members.secretOctets("p", bytes)
                let q = try members.secretOctets("q", bytes)
                let key = RSAPrivateMembers(n: n, e: e, d: d, p: p, q: q)
                try key.check()
                material = .rsa(key)
            }
        } catch let error as RecipientKeyError {
            throw error
        } catch {
            throw .malformedMember("d")
        }
    }
}
