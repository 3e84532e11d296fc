// SPDX-License-Identifier: Apache-2.0
/// Why an envelope could not be sealed or opened. Never carries plaintext or key bytes.
public enum EnvelopeError: Error, Equatable, Sendable {
    /// The recipient's public key agrees on nothing (a point of small order) or is refused by the cipher.
    case unusableKey
    /// Not five base64url parts, or a part of the wrong length.
    case malformedToken
    /// The protected header is no JSON object, or the named member is missing or of the wrong form.
    case malformedHeader(member: String)
    /// Another `alg` than `ECDH-ES`, `ECDH-ES+A256KW`, `RSA-OAEP-256`: `RSA1_5` and direct keys among them.
    case unsupportedAlgorithm(String)
    /// Another `enc` than `A256GCM`: every CBC mode among them.
    case unsupportedEncryption(String)
    /// `zip` or `crit`: what they ask for is not done.
    case unsupportedHeader(member: String)
    /// The token is for another key: its `kid`, its `alg` or its curve is not this key's.
    case wrongKey
    /// The key does not open it, or a byte was changed. Which of the two is not told.
    case notAuthentic
}

extension EnvelopeError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unusableKey: "recipient key cannot be used for key agreement"
        case .malformedToken: "not a compact JWE"
        case .malformedHeader(let member): "JWE header: \(member) missing or malformed"
        case .unsupportedAlgorithm(let name): "JWE alg \(name.debugDescription) is not supported"
        case .unsupportedEncryption(let name): "JWE enc \(name.debugDescription) is not supported"
        case .unsupportedHeader(let member): "JWE header member \(member) is not supported"
        case .wrongKey: "JWE is sealed to another key"
        case .notAuthentic: "JWE does not open with this key"
        }
    }
}
