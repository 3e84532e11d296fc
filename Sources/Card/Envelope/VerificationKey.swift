// SPDX-License-Identifier: Apache-2.0
import Crypto
import StrictJSON

/// The public half of a key that signs statements: a JWK on P-256 (RFC 7517, RFC 7518 §6.2.1).
public struct VerificationKey: Equatable, Sendable {
    /// Bytes of an `ES256` signature: r and s, big-endian (RFC 7518 §3.4).
    static let signatureLength = 64

    /// The JWK's `kid`; where it has none, its thumbprint.
    public let keyID: String
    /// Affine coordinates of 32 bytes each, big-endian.
    let x: [UInt8]
    let y: [UInt8]

    init(keyID: String?, x: [UInt8], y: [UInt8]) {
        self.x = x
        self.y = y
        self.keyID = keyID ?? RecipientKey.Material.p256(x: x, y: y).thumbprint
    }

    /// Reads one public JWK: `kty` EC, `crv` P-256, `x`, `y`; `kid`, `alg` ES256 and `use` sig where present.
    ///
    /// - Throws: the first rule that the key breaks; `.privateKey` where the private half is in it.
    public init(jwk: [UInt8]) throws(RecipientKeyError) {
        let index = try RecipientKey.index(jwk)
        let span = jwk.span
        let members = try JWKMembers(index)
        guard !members.has("d", span) else { throw .privateKey }
        try self.init(members, span)
    }

    init(_ members: JWKMembers, _ bytes: borrowing Span<UInt8>) throws(RecipientKeyError) {
        if let use = try members.text("use", bytes), use != "sig" { throw .notForSignatures }
        if let algorithm = try members.text("alg", bytes), algorithm != "ES256" { throw .notForSignatures }
        let type = try members.requiredText("kty", bytes)
        guard type == "EC" else { throw .unsupportedKeyType(type) }
        let curve = try members.requiredText("crv", bytes)
        guard curve == "P-256" else { throw .unsupportedCurve(curve) }
        let keyID = try members.text("kid", bytes)
        guard keyID?.isOneLine != false else { throw .malformedMember("kid") }
        self.init(
            keyID: keyID, x: try members.octets("x", count: 32, bytes),
            y: try members.octets("y", count: 32, bytes))
        guard publicKey != nil else { throw .notOnCurve }
    }

    /// Whether this is a published test key, whose private half anybody has, under whatever name, or one that calls itself
    /// a test key: its `kid` starts with `test-`.
    public var isTest: Bool { keyID.hasPrefix("test-") || PublishedSandboxKeys.thumbprints.contains(thumbprint) }

    /// The public JWK as JSON, members in alphabetical order.
    public var jwk: String {
        let (x, y) = (Base64URL.string(x), Base64URL.string(y))
        return
            #"{"alg":"ES256","crv":"P-256","kid":\#(JSONEscape.quoted(keyID)),"kty":"EC","use":"sig","x":"\#(x)","y":"\#(y)"}"#
    }

    /// SHA-256 over the members that make the key (RFC 7638 §3), base64url.
    public var thumbprint: String { RecipientKey.Material.p256(x: x, y: y).thumbprint }

    func isSignature(_ signature: [UInt8], of bytes: [UInt8]) -> Bool {
        guard let publicKey, let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature) else {
            return false
        }
        return publicKey.isValidSignature(signature, for: SHA256.hash(data: bytes))
    }

    private var publicKey: P256.Signing.PublicKey? { try? P256.Signing.PublicKey(rawRepresentation: x + y) }
}
