// SPDX-License-Identifier: Apache-2.0
import StrictJSON

/// Signed statements in compact form (RFC 7515 §3.1), always `ES256` (RFC 7518 §3.4). `typ` is signed with them, so that a
/// statement of one kind never passes for one of another.
public enum JWS {
    /// - Parameter type: the header's `typ`, for example `nfc-tap-batch+jws`.
    /// - Throws: `.notAuthentic` where the key cannot sign.
    public static func sign(
        _ payload: some Sequence<UInt8>, key: SigningKey, type: String
    ) throws(JWSError) -> String {
        let statement = UnsignedStatement(payload, keyID: key.keyID, type: type)
        return statement.token(try key.signature(of: statement.bytes))
    }

    /// - Returns: the payload, once header, type and signature hold.
    /// - Throws: `JWSError` for a token of another form, algorithm, type or key, or with another signature.
    public static func verify(
        _ token: String, with key: VerificationKey, type: String
    ) throws(JWSError) -> [UInt8] {
        let parts = token.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Base64URL.decode(parts[0]), let payload = Base64URL.decode(parts[1]),
            let signature = Base64URL.decode(parts[2]), signature.count == VerificationKey.signatureLength
        else { throw .malformedToken }
        try check(header, key, type)
        let signed = Array(token.utf8.prefix(parts[0].count + 1 + parts[1].count))
        guard key.isSignature(signature, of: signed) else { throw .notAuthentic }
        return payload
    }

    private static func check(_ header: [UInt8], _ key: VerificationKey, _ type: String) throws(JWSError) {
        let span = header.span
        let index: JSONIndex
        do throws(JSONIndexError) { index = try JSONIndex(span) } catch { throw .malformedHeader(member: "(all)") }
        for name in ["crit", "b64"] where index.member(name, in: span) != nil { throw .unsupportedHeader(member: name) }
        guard let algorithm = try text("alg", index, span) else { throw .malformedHeader(member: "alg") }
        guard algorithm == "ES256" else { throw .unsupportedAlgorithm(algorithm) }
        if let keyID = try text("kid", index, span), keyID != key.keyID { throw .wrongKey }
        guard let found = try text("typ", index, span) else { throw .malformedHeader(member: "typ") }
        guard found == type else { throw .wrongType(found) }
    }

    private static func text(
        _ name: String, _ index: JSONIndex, _ bytes: borrowing Span<UInt8>
    ) throws(JWSError) -> String? {
        guard let node = index.member(name, in: bytes) else { return nil }
        guard let text = index.string(node, in: bytes) else { throw .malformedHeader(member: name) }
        return text
    }
}
