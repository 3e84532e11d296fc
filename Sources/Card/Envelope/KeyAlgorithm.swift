// SPDX-License-Identifier: Apache-2.0
/// How the content key reaches the recipient: the JWE `alg` values that are produced and opened (RFC 7518 §4.1).
/// The content itself is always under `A256GCM`.
public enum KeyAlgorithm: String, Sendable, CaseIterable {
    /// The agreed key is the content key.
    case ecdhES = "ECDH-ES"
    /// The agreed key wraps a random content key (RFC 3394).
    case ecdhESA256KW = "ECDH-ES+A256KW"
    /// A random content key under RSAES-OAEP with SHA-256 and MGF1 with SHA-256.
    case rsaOAEP256 = "RSA-OAEP-256"
}
