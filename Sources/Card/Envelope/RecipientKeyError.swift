// SPDX-License-Identifier: Apache-2.0
/// Why a JWK is not used as a recipient or to verify signatures. Names members, never their values, except `kid`, algorithm and curve names.
public enum RecipientKeyError: Error, Equatable, Sendable {
    /// The text is no JSON object that a strict reader takes: wrong syntax, a duplicate member, too deep.
    case notJSON
    case missingMember(String)
    /// Wrong type, or numbers that are no key.
    case malformedMember(String)
    /// A member that is not base64url without padding (RFC 7515 §2).
    case notBase64URL(String)
    /// A member of another length than the curve's: leading zeros belong to it (RFC 7518 §6.2.1.2). In bytes.
    case wrongLength(String, bytes: Int, expected: Int)
    /// `x` and `y` are no point of P-256.
    case notOnCurve
    /// Another `kty` than `EC`, `OKP`, `RSA`.
    case unsupportedKeyType(String)
    /// Another `crv` than `P-256` or `X25519`.
    case unsupportedCurve(String)
    /// An `alg` that is not one of this key type's.
    case unsupportedAlgorithm(String)
    /// `use` says something else than `enc`.
    case notForEncryption
    /// `use` or `alg` say something else than `sig` and `ES256`, of a key that is to verify signatures.
    case notForSignatures
    /// An RSA modulus under 2048 or over 8192 bits.
    case unsupportedModulus(bits: Int)
    /// Private members are present. A machine that seals must not hold the key that opens.
    case privateKey
    /// The same of a key of a set, by its name there: whoever has read the set opens what is sealed to it.
    case privateKeyInSet(String)
    /// Seconds since 1970, from the member `nbf`.
    case notYetValid(UInt64)
    /// Seconds since 1970, from the member `exp`.
    case expired(UInt64)
    /// A key set without one usable key.
    case noUsableKey
    /// The same, with each key and why it is not used.
    case allRefused([RecipientKeySet.Refusal])
}

extension RecipientKeyError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .notJSON: "not a JSON object"
        case .missingMember(let name): "member \(name) is missing"
        case .malformedMember(let name): "member \(name) is malformed"
        case .notBase64URL(let name): "member \(name) is not base64url without padding (RFC 7515)"
        case .wrongLength(let name, let bytes, let expected):
            "member \(name) has \(bytes) bytes instead of \(expected); leading zeros belong to it (RFC 7518)"
        case .notOnCurve: "members x and y are no point of P-256"
        case .unsupportedKeyType(let name): "kty \(name.debugDescription) is not supported, use EC, OKP or RSA"
        case .unsupportedCurve(let name): "crv \(name.debugDescription) is not supported, use P-256 or X25519"
        case .unsupportedAlgorithm(let name):
            "alg \(name.debugDescription) is not supported for this key, use ECDH-ES, ECDH-ES+A256KW or RSA-OAEP-256"
        case .notForEncryption: "use is not \"enc\""
        case .notForSignatures: "use is not \"sig\", or alg is not ES256"
        case .unsupportedModulus(let bits): "RSA modulus of \(bits) bits, 2048 to 8192 are supported"
        case .privateKey: "private key given, only its public members belong on this machine"
        case .privateKeyInSet(let name):
            "\(name) holds the private half; make a new key, and publish its public members only"
        case .notYetValid(let seconds): "key is valid from \(seconds) s after 1970 only"
        case .expired(let seconds): "key expired \(seconds) s after 1970"
        case .noUsableKey: "key set without a usable key"
        case .allRefused(let refusals):
            "key set without a usable key: " + refusals.map(\.description).joined(separator: "; ")
        }
    }
}
