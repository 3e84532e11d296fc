// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CryptoExtras

/// A private RSA JWK (RFC 7518 §6.3.2), big-endian. The cipher's own key type may not cross threads; this one may.
struct RSAPrivateMembers: Sendable {
    var n: [UInt8]
    var e: [UInt8]
    var d: SecretBytes
    var p: SecretBytes
    var q: SecretBytes

    /// What RSAES-OAEP with SHA-256 hides in `ciphertext` (RFC 8017 §7.1.2).
    ///
    /// - Throws: the cipher's refusal, of the numbers or of the ciphertext.
    func decrypt(_ ciphertext: [UInt8]) throws -> [UInt8] {
        try withKey { try Array($0.decrypt(ciphertext, padding: .PKCS1_OAEP_SHA256)) }
    }

    /// - Throws: the cipher's refusal of numbers that are no key.
    func check() throws { try withKey { _ in } }

    private func withKey<Result: Sendable>(_ body: (_RSA.Encryption.PrivateKey) throws -> Result) throws -> Result {
        // The cipher reads the numbers where they lie, so that no copy of them has to be wiped.
        try unsafe d.withUnsafeBytes { d in
            try unsafe p.withUnsafeBytes { p in
                try unsafe q.withUnsafeBytes { q in
                    try unsafe body(_RSA.Encryption.PrivateKey(n: n, e: e, d: d, p: p, q: q))
                }
            }
        }
    }
}
