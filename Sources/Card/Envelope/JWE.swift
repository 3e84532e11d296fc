// SPDX-License-Identifier: Apache-2.0
public import CardBytes
import Crypto

/// Compact JWE (RFC 7516 §3.1) under `A256GCM`: the form in which a read result leaves this machine.
public enum JWE {
    /// Seals `plaintext` to `recipient`. It is read where it lies, never copied. Where time matters once the plaintext is
    /// there, `OneTimeSeal` does most of the work before.
    ///
    /// - Returns: the five base64url parts with dots between them.
    /// - Throws: `.unusableKey` where the recipient's key agrees on nothing.
    public static func seal(
        _ plaintext: SecretBytes, to recipient: RecipientKey
    ) throws(EnvelopeError) -> String {
        try OneTimeSeal(to: recipient).seal(plaintext)
    }

    /// The content key (`ECDH-ES`) or the key that wraps it: AlgorithmID is `enc` or `alg` (RFC 7518 §4.6.2).
    ///
    /// - Throws: `.unusableKey` for a secret of zeros only, which a point of small order gives whatever the other key
    ///   (RFC 7748 §6.1); the cipher does not look.
    static func agreedKey(_ secret: SharedSecret, _ header: JWEHeader) throws(EnvelopeError) -> SymmetricKey {
        guard !isZero(secret) else { throw .unusableKey }
        return ConcatKDF.derive(
            secret, algorithm: header.agreementName, partyU: header.partyU, partyV: header.partyV)
    }

    /// Whether two keys agree on zero, which everybody knows: one of them is of small order (RFC 7748 §6.1).
    static func isZero(_ secret: SharedSecret) -> Bool {
        unsafe secret.withUnsafeBytes { bytes in
            var bits: UInt8 = 0
            for index in bytes.indices { unsafe bits |= bytes[index] }
            return bits == 0
        }
    }
}
