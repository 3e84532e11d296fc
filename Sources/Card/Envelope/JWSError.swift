// SPDX-License-Identifier: Apache-2.0
/// Why a signed statement is not believed.
public enum JWSError: Error, Equatable, Sendable {
    /// Not three base64url parts, or a signature of another length than 64 bytes.
    case malformedToken
    /// The protected header is no JSON object, or the named member is missing or of the wrong form.
    case malformedHeader(member: String)
    /// Another `alg` than `ES256`: `none` among them.
    case unsupportedAlgorithm(String)
    /// `crit` or `b64`: what they ask for is not done.
    case unsupportedHeader(member: String)
    /// The token's `kid` names another key.
    case wrongKey
    /// The token's `typ` says that it is something else than what was asked for.
    case wrongType(String)
    /// The signature is not this key's, or a byte was changed.
    case notAuthentic
}

extension JWSError {
    /// Of the header, where one member is what is wrong.
    public var member: String? {
        switch self {
        case .malformedHeader(let member), .unsupportedHeader(let member): member
        case .unsupportedAlgorithm: "alg"
        case .wrongType: "typ"
        case .malformedToken, .wrongKey, .notAuthentic: nil
        }
    }
}

extension JWSError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .malformedToken: "not a compact JWS"
        case .malformedHeader(let member): "JWS header: \(member) missing or malformed"
        case .unsupportedAlgorithm(let name): "JWS alg \(name.debugDescription) is not supported, use ES256"
        case .unsupportedHeader(let member): "JWS header member \(member) is not supported"
        case .wrongKey: "JWS is signed with another key"
        case .wrongType(let name): "JWS typ \(name.debugDescription) is not what is expected here"
        case .notAuthentic: "JWS signature does not verify"
        }
    }
}
