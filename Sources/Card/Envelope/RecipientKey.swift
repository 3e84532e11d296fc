// SPDX-License-Identifier: Apache-2.0
import Crypto
import CryptoExtras
import StrictJSON

/// The public key that read results are sealed to: a JWK of a PSP (RFC 7517).
public struct RecipientKey: Equatable, Sendable {
    /// The key itself, as its JWK members spell it.
    enum Material: Equatable, Sendable {
        /// Affine coordinates of 32 bytes each, big-endian.
        case p256(x: [UInt8], y: [UInt8])
        /// 32 bytes, little-endian (RFC 7748).
        case x25519([UInt8])
        /// Modulus and public exponent, big-endian.
        case rsa(n: [UInt8], e: [UInt8])
    }

    /// Members that only a private JWK has (RFC 7518 §6.2.2, §6.3.2).
    private static let privateMembers = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"]

    public let algorithm: KeyAlgorithm
    /// The JWK's `kid`, which it need not have (RFC 7517 §4.5), else its thumbprint; repeated in each envelope's header.
    public let keyID: String
    /// Start of the key's life in seconds since 1970, where the JWK has `nbf`.
    public let notBefore: UInt64?
    /// End of the key's life in seconds since 1970, where the JWK has `exp`.
    public let expires: UInt64?
    let material: Material

    init(
        algorithm: KeyAlgorithm, keyID: String, notBefore: UInt64? = nil, expires: UInt64? = nil, material: Material
    ) {
        self.algorithm = algorithm
        self.keyID = keyID
        self.notBefore = notBefore
        self.expires = expires
        self.material = material
    }

    /// Reads one public JWK: `kty`, `crv`, `x`, `y` or `n`, `e`; `kid`, `alg`, `use`, `nbf` and `exp` where present.
    /// Other members are ignored (RFC 7517 §4).
    ///
    /// - Throws: the first rule the key breaks. Its period is not checked here: see `checkPeriod`.
    public init(jwk: [UInt8]) throws(RecipientKeyError) {
        try self.init(RecipientKey.index(jwk), object: 0, jwk.span)
    }

    init(_ index: JSONIndex, object: Int, _ bytes: borrowing Span<UInt8>) throws(RecipientKeyError) {
        let members = try JWKMembers(index, object: object)
        for name in RecipientKey.privateMembers where members.has(name, bytes) { throw .privateKey }
        if let use = try members.text("use", bytes), use != "enc" { throw .notForEncryption }
        material = try RecipientKey.material(members, bytes)
        algorithm = try RecipientKey.algorithm(named: members.text("alg", bytes), for: material)
        keyID = try members.text("kid", bytes) ?? material.thumbprint
        guard !keyID.isEmpty, keyID.isOneLine else { throw .malformedMember("kid") }
        notBefore = try members.seconds("nbf", bytes)
        expires = try members.seconds("exp", bytes)
        try material.check()
        guard !material.isOfSmallOrder else { throw .malformedMember("x") }
    }

    /// SHA-256 over the members that make the key (RFC 7638 §3.2, RFC 8037 §2), base64url: the same under every `kid`.
    public var thumbprint: String { material.thumbprint }

    /// Whether this is a published test key, whose private half anybody has, under whatever name, or one that calls itself
    /// a test key: its `kid` starts with `test-`.
    public var isTest: Bool { keyID.hasPrefix("test-") || PublishedSandboxKeys.thumbprints.contains(thumbprint) }

    /// The public JWK as JSON, members in alphabetical order.
    public var jwk: String {
        var members = [
            ("alg", JSONEscape.quoted(algorithm.rawValue)), ("kid", JSONEscape.quoted(keyID)), ("use", #""enc""#),
        ]
        if let notBefore { members.append(("nbf", "\(notBefore)")) }
        if let expires { members.append(("exp", "\(expires)")) }
        switch material {
        case .p256(let x, let y):
            members += [("kty", #""EC""#), ("crv", #""P-256""#)]
            members += [("x", JSONEscape.quoted(Base64URL.string(x))), ("y", JSONEscape.quoted(Base64URL.string(y)))]
        case .x25519(let x):
            members += [("kty", #""OKP""#), ("crv", #""X25519""#), ("x", JSONEscape.quoted(Base64URL.string(x)))]
        case .rsa(let n, let e):
            members += [("kty", #""RSA""#)]
            members += [("n", JSONEscape.quoted(Base64URL.string(n))), ("e", JSONEscape.quoted(Base64URL.string(e)))]
        }
        return "{" + members.sorted { $0.0 < $1.0 }.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",") + "}"
    }

    /// - Parameter now: seconds since 1970.
    /// - Throws: `.notYetValid` before `nbf`, `.expired` from `exp` on.
    public func checkPeriod(at now: UInt64) throws(RecipientKeyError) {
        if let notBefore, now < notBefore { throw .notYetValid(notBefore) }
        if let expires, now >= expires { throw .expired(expires) }
    }

    static func index(_ json: [UInt8]) throws(RecipientKeyError) -> JSONIndex {
        do throws(JSONIndexError) {
            return try JSONIndex(json.span)
        } catch {
            throw .notJSON
        }
    }

    static func material(
        _ members: JWKMembers, _ bytes: borrowing Span<UInt8>
    ) throws(RecipientKeyError) -> Material {
        let type = try members.requiredText("kty", bytes)
        switch type {
        case "EC":
            let curve = try members.requiredText("crv", bytes)
            guard curve == "P-256" else { throw .unsupportedCurve(curve) }
            return .p256(
                x: try members.octets("x", count: 32, bytes), y: try members.octets("y", count: 32, bytes))
        case "OKP":
            let curve = try members.requiredText("crv", bytes)
            guard curve == "X25519" else { throw .unsupportedCurve(curve) }
            return .x25519(try members.octets("x", count: 32, bytes))
        case "RSA":
            return .rsa(n: try members.octets("n", bytes), e: try members.octets("e", bytes))
        default:
            throw .unsupportedKeyType(type)
        }
    }

    /// The recipient's JWK decides; without `alg` the key type does.
    static func algorithm(
        named name: String?, for material: Material
    ) throws(RecipientKeyError) -> KeyAlgorithm {
        let allowed: [KeyAlgorithm] =
            switch material {
            case .p256, .x25519: [.ecdhES, .ecdhESA256KW]
            case .rsa: [.rsaOAEP256]
            }
        guard let name else { return allowed[0] }
        guard let algorithm = KeyAlgorithm(rawValue: name), allowed.contains(algorithm) else {
            throw .unsupportedAlgorithm(name)
        }
        return algorithm
    }
}

extension RecipientKey.Material {
    /// The required members in the order of their names, without white space (RFC 7638 §3).
    var thumbprint: String {
        let members =
            switch self {
            case .p256(let x, let y):
                #"{"crv":"P-256","kty":"EC","x":"\#(Base64URL.string(x))","y":"\#(Base64URL.string(y))"}"#
            case .x25519(let x): #"{"crv":"X25519","kty":"OKP","x":"\#(Base64URL.string(x))"}"#
            case .rsa(let n, let e): #"{"e":"\#(Base64URL.string(e))","kty":"RSA","n":"\#(Base64URL.string(n))"}"#
            }
        return Base64URL.string(SHA256.hash(data: Array(members.utf8)))
    }

    /// - Throws: what makes the numbers no key.
    func check() throws(RecipientKeyError) {
        switch self {
        case .p256(let x, let y):
            do { _ = try P256.KeyAgreement.PublicKey(rawRepresentation: x + y) } catch { throw .notOnCurve }
        case .x25519(let x):
            do { _ = try Curve25519.KeyAgreement.PublicKey(rawRepresentation: x) } catch { throw .malformedMember("x") }
        case .rsa(let n, let e):
            // Leading zeros are not allowed (RFC 7518 §2, Base64urlUInt), so the first byte holds the highest bit.
            guard let first = n.first, first != 0, n[n.count - 1] & 1 == 1 else { throw .malformedMember("n") }
            let bits = n.count * 8 - first.leadingZeroBitCount
            guard (2048...8192).contains(bits) else { throw .unsupportedModulus(bits: bits) }
            guard let last = e.last, last & 1 == 1, e.count <= 4, e != [1] else { throw .malformedMember("e") }
            guard !hasSmallFactor(n) else { throw .malformedMember("n") }
            do { _ = try _RSA.Encryption.PublicKey(n: n, e: e) } catch { throw .malformedMember("n") }
        }
    }

    /// Whether a prime below 1,000 divides the modulus, which is no product of two large primes then: made by no generator of keys, or
    /// damaged on its way (NIST SP 800-89, 5.3.3).
    private func hasSmallFactor(_ n: [UInt8]) -> Bool {
        let primes = (2..<1_000).filter { number in (2..<number).allSatisfy { number % $0 != 0 || $0 * $0 > number } }
        return primes.contains { prime in n.reduce(0) { ($0 << 8 | Int($1)) % prime } == 0 }
    }

    /// Whether everybody agrees on zero with it, so that nothing can be sealed to it (RFC 7748 §6.1). Every scalar is a
    /// multiple of the cofactor (§5): a point of small order shows itself with any.
    var isOfSmallOrder: Bool {
        guard case .x25519(let x) = self else { return false }
        let scalar = [UInt8](repeating: 0x42, count: 32)
        guard let key = try? Curve25519.KeyAgreement.PublicKey(rawRepresentation: x),
            let agreed = try? Curve25519.KeyAgreement.PrivateKey(rawRepresentation: scalar)
                .sharedSecretFromKeyAgreement(with: key)
        else { return true }
        return JWE.isZero(agreed)
    }
}

extension String {
    /// Without control characters: a name that is shown, logged and written into headers.
    var isOneLine: Bool { unicodeScalars.allSatisfy { $0.properties.generalCategory != .control } }
}
