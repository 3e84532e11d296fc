// SPDX-License-Identifier: Apache-2.0
import StrictJSON

/// A statement whose signature is made elsewhere, for example in a token: header and payload of a JWS under `ES256`.
public struct UnsignedStatement: Sendable {
    /// What is signed: its SHA-256 goes into ECDSA on P-256.
    public let bytes: [UInt8]

    /// - Parameters:
    ///   - keyID: `kid` of the key that signs.
    ///   - type: the header's `typ`.
    public init(_ payload: some Sequence<UInt8>, keyID: String, type: String) {
        let header = #"{"alg":"ES256","kid":\#(JSONEscape.quoted(keyID)),"typ":\#(JSONEscape.quoted(type))}"#
        bytes = Base64URL.encode(header.utf8) + [UInt8(ascii: ".")] + Base64URL.encode(payload)
    }

    /// The JWS in compact form.
    ///
    /// - Parameters:
    ///   - signature: r and s, 32 bytes each, big-endian.
    ///   - key: whoever has to believe it has this one.
    /// - Throws: `.notAuthentic` where the signature is not this key's.
    public func signed(_ signature: [UInt8], by key: VerificationKey) throws(JWSError) -> String {
        guard signature.count == VerificationKey.signatureLength, key.isSignature(signature, of: bytes) else {
            throw .notAuthentic
        }
        return token(signature)
    }

    func token(_ signature: [UInt8]) -> String {
        String(decoding: bytes, as: UTF8.self) + "." + Base64URL.string(signature)
    }
}
