// SPDX-License-Identifier: Apache-2.0
import CardBytes
import StrictJSON

/// The protected header of an envelope (RFC 7516 §4.1). It is readable: nothing private goes in.
struct JWEHeader: Equatable, Sendable {
    /// The sender's public key of this one envelope (RFC 7518 §4.6.1.1).
    enum EphemeralKey: Equatable, Sendable {
        case p256(x: [UInt8], y: [UInt8])
        case x25519([UInt8])
    }

    var algorithm: KeyAlgorithm
    var ephemeralKey: EphemeralKey?
    var keyID: String?
    /// `apu` and `apv` decoded; empty where absent. Never sent, accepted on opening.
    var partyU: [UInt8] = []
    var partyV: [UInt8] = []

    /// AlgorithmID of the key derivation: what the agreed key is for.
    var agreementName: String { algorithm == .ecdhES ? "A256GCM" : algorithm.rawValue }

    /// `alg`, `cty`, `enc`, `epk` and `kid`, in this order and without blanks.
    var json: String {
        var text = #"{"alg":"\#(algorithm.rawValue)","cty":"json","enc":"A256GCM""#
        switch ephemeralKey {
        case .p256(let x, let y):
            text += #","epk":{"crv":"P-256","kty":"EC","x":"\#(Base64URL.string(x))","y":"\#(Base64URL.string(y))"}"#
        case .x25519(let x):
            text += #","epk":{"crv":"X25519","kty":"OKP","x":"\#(Base64URL.string(x))"}"#
        case nil: break
        }
        if let keyID { text += #","kid":"# + JSONEscape.quoted(keyID) }
        return text + "}"
    }
}

extension JWEHeader {
    /// Reads a received header. Unknown members are ignored (RFC 7516 §4), `zip` and `crit` are not.
    init(_ bytes: [UInt8]) throws(EnvelopeError) {
        let span = bytes.span
        let index: JSONIndex
        do throws(JSONIndexError) { index = try JSONIndex(span) } catch { throw .malformedHeader(member: "(all)") }
        for name in ["zip", "crit"] where index.member(name, in: span) != nil { throw .unsupportedHeader(member: name) }
        guard let name = try JWEHeader.text("alg", index, span) else { throw .malformedHeader(member: "alg") }
        guard let algorithm = KeyAlgorithm(rawValue: name) else { throw .unsupportedAlgorithm(name) }
        guard let encryption = try JWEHeader.text("enc", index, span) else { throw .malformedHeader(member: "enc") }
        guard encryption == "A256GCM" else { throw .unsupportedEncryption(encryption) }
        self.algorithm = algorithm
        keyID = try JWEHeader.text("kid", index, span)
        partyU = try JWEHeader.octets("apu", index, span)
        partyV = try JWEHeader.octets("apv", index, span)
        ephemeralKey = algorithm == .rsaOAEP256 ? nil : try JWEHeader.ephemeralKey(index, span)
    }

    private static func text(
        _ name: String, _ index: JSONIndex, _ bytes: borrowing Span<UInt8>
    ) throws(EnvelopeError) -> String? {
        guard let node = index.member(name, in: bytes) else { return nil }
        guard let text = index.string(node, in: bytes) else { throw .malformedHeader(member: name) }
        return text
    }

    private static func octets(
        _ name: String, _ index: JSONIndex, _ bytes: borrowing Span<UInt8>
    ) throws(EnvelopeError) -> [UInt8] {
        guard let text = try text(name, index, bytes) else { return [] }
        guard let octets = Base64URL.decode(text.utf8) else { throw .malformedHeader(member: name) }
        return octets
    }

    private static func ephemeralKey(
        _ index: JSONIndex, _ bytes: borrowing Span<UInt8>
    ) throws(EnvelopeError) -> EphemeralKey {
        guard let object = index.index(of: "epk", in: 0, bytes) else { throw .malformedHeader(member: "epk") }
        do throws(RecipientKeyError) {
            let material = try RecipientKey.material(JWKMembers(index, object: object), bytes)
            try material.check()
            switch material {
            case .p256(let x, let y): return .p256(x: x, y: y)
            case .x25519(let x): return .x25519(x)
            case .rsa: throw .unsupportedKeyType("RSA")
            }
        } catch {
            throw .malformedHeader(member: "epk")
        }
    }
}
