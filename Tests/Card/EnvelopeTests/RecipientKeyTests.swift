// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Foundation
import Testing

@testable import Envelope

struct RecipientKeyTests {
    private func ec() throws -> JOSEVector { try JOSEVector.load("own", id: "jwe-own-p256-ecdh-es") }
    private func okp() throws -> JOSEVector { try JOSEVector.load("own", id: "jwe-own-x25519-ecdh-es") }
    private func rsa() throws -> JOSEVector { try JOSEVector.load("own", id: "jwe-own-rsa-oaep-256") }

    @Test func `the recipient's JWK decides the algorithm`() throws {
        #expect(try ec().recipient().algorithm == .ecdhES)
        #expect(try ec().recipient(["alg": "ECDH-ES"]).algorithm == .ecdhES)
        #expect(try ec().recipient(["alg": "ECDH-ES+A256KW"]).algorithm == .ecdhESA256KW)
        #expect(try okp().recipient().algorithm == .ecdhES)
        #expect(try okp().recipient(["alg": "ECDH-ES+A256KW"]).algorithm == .ecdhESA256KW)
        #expect(try rsa().recipient().algorithm == .rsaOAEP256)
        #expect(try rsa().recipient(["alg": "RSA-OAEP-256", "use": "enc"]).algorithm == .rsaOAEP256)
    }

    @Test(arguments: ["ECDH-ES+A128KW", "RSA-OAEP-256", "RSA1_5", "HPKE-7", "", "ecdh-es"])
    func `an EC key with a foreign alg is refused`(name: String) throws {
        #expect(throws: RecipientKeyError.unsupportedAlgorithm(name)) { try ec().recipient(["alg": name]) }
    }

    @Test(arguments: ["RSA-OAEP", "RSA1_5", "ECDH-ES", "RSA-OAEP-512"])
    func `an RSA key with a foreign alg is refused`(name: String) throws {
        #expect(throws: RecipientKeyError.unsupportedAlgorithm(name)) { try rsa().recipient(["alg": name]) }
    }

    @Test func `every other departure names its member`() throws {
        let zeros = Base64URL.string([UInt8](repeating: 0, count: 32))
        let cases: [([String: String?], RecipientKeyError)] = [
            (["kty": nil], .missingMember("kty")), (["kty": "oct"], .unsupportedKeyType("oct")),
            (["crv": nil], .missingMember("crv")), (["crv": "P-384"], .unsupportedCurve("P-384")),
            (["crv": "secp256k1"], .unsupportedCurve("secp256k1")), (["x": nil], .missingMember("x")),
            (["x": "AAAA"], .wrongLength("x", bytes: 3, expected: 32)), (["x": "!"], .notBase64URL("x")),
            (["y": zeros], .notOnCurve),
            (["kid": ""], .malformedMember("kid")), (["use": "sig"], .notForEncryption),
            (["d": zeros], .privateKey), (["k": zeros], .privateKey), (["exp": "soon"], .malformedMember("exp")),
        ]
        for (change, error) in cases {
            #expect(throws: error, "\(change)") { try ec().recipient(change) }
        }
    }

    @Test func `an OKP key is X25519 or refused`() throws {
        #expect(throws: RecipientKeyError.unsupportedCurve("Ed25519")) { try okp().recipient(["crv": "Ed25519"]) }
        #expect(throws: RecipientKeyError.wrongLength("x", bytes: 3, expected: 32)) {
            try okp().recipient(["x": "AQID"])
        }
    }

    @Test func `RSA numbers are held to sizes that are safe`() throws {
        func modulus(_ bytes: Int, first: UInt8 = 0x80, last: UInt8 = 1) -> String {
            Base64URL.string([first] + [UInt8](repeating: 0x5A, count: bytes - 2) + [last])
        }
        #expect(throws: RecipientKeyError.unsupportedModulus(bits: 1024)) { try rsa().recipient(["n": modulus(128)]) }
        #expect(throws: RecipientKeyError.unsupportedModulus(bits: 2047)) {
            try rsa().recipient(["n": modulus(256, first: 0x40)])
        }
        #expect(throws: RecipientKeyError.unsupportedModulus(bits: 8200)) { try rsa().recipient(["n": modulus(1025)]) }
        #expect(throws: RecipientKeyError.malformedMember("n")) { try rsa().recipient(["n": modulus(256, last: 2)]) }
        #expect(throws: RecipientKeyError.malformedMember("n")) { try rsa().recipient(["n": modulus(257, first: 0)]) }
        for e in ["AQ", "Ag", "", "AQAAAAE"] {
            #expect(throws: RecipientKeyError.malformedMember("e"), "\(e)") { try rsa().recipient(["e": e]) }
        }
    }

    /// RFC 7517 4.5 leaves the form of a kid open; it is shown, logged and repeated in the header of each envelope.
    @Test(
        "A10: a kid with a control character is refused", arguments: ["a\nb", "\u{1B}[2J", "\r", "x\u{7F}", "\u{85}"])
    func controls(kid: String) throws {
        #expect(throws: RecipientKeyError.malformedMember("kid")) { try ec().recipient(["kid": kid]) }
        let key = SigningKey().verificationKey
        let escaped = String(decoding: try JSONEncoder().encode(kid), as: UTF8.self)
        let jwk = key.jwk.replacingOccurrences(of: "\"\(key.keyID)\"", with: escaped)
        #expect(jwk != key.jwk)
        #expect(throws: RecipientKeyError.malformedMember("kid")) { try VerificationKey(jwk: Array(jwk.utf8)) }
    }

    /// NIST SP 800-89, 5.3.3: the modulus has no small factors.
    @Test("A10: an RSA modulus that a small prime divides is refused", arguments: [3, 5, 7, 251, 257, 997])
    func smallFactor(prime: Int) throws {
        // Odd, of 2048 bits, and moved up by twos until the prime divides it.
        var n = [UInt8](repeating: 0xC3, count: 256)
        func remainder() -> Int { n.reduce(0) { ($0 << 8 | Int($1)) % prime } }
        var steps = 0
        while remainder() != 0, steps < 2 * prime {
            let low = Int(n[254]) << 8 | Int(n[255]) + 2
            (n[254], n[255]) = (UInt8(low >> 8 & 0xFF), UInt8(low & 0xFF))
            steps += 1
        }
        try #require(remainder() == 0)
        #expect(throws: RecipientKeyError.malformedMember("n")) { try rsa().recipient(["n": Base64URL.string(n)]) }
        #expect(try rsa().recipient().algorithm == .rsaOAEP256)
    }

    @Test func `text that is no strict JSON object is refused`() throws {
        for text in ["", "[]", "7", "{", #"{"kty":"EC","kty":"RSA"}"#] {
            #expect(throws: RecipientKeyError.notJSON, "\(text)") { try RecipientKey(jwk: Array(text.utf8)) }
        }
    }

    @Test func `a key counts from nbf until exp`() throws {
        let key = RecipientKey(
            algorithm: .ecdhES, keyID: "k", notBefore: 100, expires: 200,
            material: .x25519([UInt8](repeating: 9, count: 32)))
        #expect(throws: RecipientKeyError.notYetValid(100)) { try key.checkPeriod(at: 99) }
        try key.checkPeriod(at: 100)
        try key.checkPeriod(at: 199)
        #expect(throws: RecipientKeyError.expired(200)) { try key.checkPeriod(at: 200) }
    }

    @Test func `nbf and exp are read as seconds`() throws {
        let json =
            #"{"kty":"OKP","crv":"X25519","kid":"a","x":"B6N8vBQgk8i3VdwbEOhstCY3StFqqFPtC9_AsrhtHHw","nbf":1,"exp":2}"#
        let key = try RecipientKey(jwk: Array(json.utf8))
        #expect(key.notBefore == 1)
        #expect(key.expires == 2)
        let fraction = json.replacing("\"exp\":2", with: "\"exp\":2.5")
        #expect(throws: RecipientKeyError.malformedMember("exp")) { try RecipientKey(jwk: Array(fraction.utf8)) }
    }

    @Test func `a key set keeps what it can use and says what it cannot`() throws {
        func json(_ vector: JOSEVector, _ changes: [String: String?]) throws -> String {
            String(decoding: try vector.jwk(["d": nil, "p": nil, "q": nil].merging(changes) { $1 }), as: UTF8.self)
        }
        let keys = try [
            json(ec(), ["kid": "a"]), json(ec(), ["kid": "b", "crv": "P-521"]), json(rsa(), ["kid": "c"]),
            json(okp(), ["kid": "d", "use": "sig"]),
        ]
        let set = try RecipientKeySet(json: Array(#"{"keys":[\#(keys.joined(separator: ","))]}"#.utf8))
        #expect(set.keys.map(\.keyID) == ["a", "c"])
        #expect(set.refusals.map(\.position) == [1, 3])
        #expect(set.refusals.map(\.reason) == [.unsupportedCurve("P-521"), .notForEncryption])
        #expect(try set.key(at: 0).keyID == "a")
        #expect(try RecipientKeySet(json: Array(keys[0].utf8)).keys.map(\.keyID) == ["a"])
        let refusal = RecipientKeySet.Refusal(position: 0, keyID: "b", reason: .unsupportedCurve("P-521"))
        #expect(throws: RecipientKeyError.allRefused([refusal])) {
            try RecipientKeySet(json: Array(#"{"keys":[\#(keys[1])]}"#.utf8))
        }
        #expect(throws: RecipientKeyError.noUsableKey) { try RecipientKeySet(json: Array(#"{"keys":[]}"#.utf8)) }
        #expect(throws: RecipientKeyError.malformedMember("keys")) {
            try RecipientKeySet(json: Array(#"{"keys":1}"#.utf8))
        }
    }

    @Test func `the first key of the set that is valid now is taken`() throws {
        func key(_ id: String, _ from: UInt64?, _ to: UInt64?) -> RecipientKey {
            RecipientKey(algorithm: .ecdhES, keyID: id, notBefore: from, expires: to, material: .x25519([]))
        }
        let set = RecipientKeySet(keys: [key("old", nil, 100), key("new", 90, 200)])
        #expect(try set.key(at: 50).keyID == "old")
        #expect(try set.key(at: 95).keyID == "old")
        #expect(try set.key(at: 100).keyID == "new")
        #expect(throws: RecipientKeyError.expired(200)) { try set.key(at: 200) }
        #expect(throws: RecipientKeyError.noUsableKey) { try RecipientKeySet(keys: []).key(at: 0) }
    }

    @Test func `a key and a set are written as they are read`() throws {
        let json = try ec().recipient(["kid": #"a"b"#]).jwk.replacing("{", with: #"{"nbf":5,"exp":9,"#)
        let keys = try [
            RecipientKey(jwk: Array(json.utf8)), okp().recipient(["alg": "ECDH-ES+A256KW"]), rsa().recipient(),
            .sandboxTest,
        ]
        for key in keys { #expect(try RecipientKey(jwk: Array(key.jwk.utf8)) == key) }
        #expect(keys[0].notBefore == 5 && keys[0].expires == 9)
        let set = RecipientKeySet(keys: keys)
        #expect(try RecipientKeySet(json: Array(set.jwks.utf8)) == set)
        #expect(try okp().privateKey().publicKey == nil)
        #expect(try RecipientPrivateKey(jwk: SecretBytes(okp().jwk(["kid": "k"]))).publicKey?.keyID == "k")
    }

    @Test func `F5 a key without kid is named by its thumbprint`() throws {
        // RFC 7638 §3.1.
        let modulus = """
            0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiF\
            V4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9\
            c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1\
            jF44-csFCur-kEgU8awapJzKnqDKgw
            """
        let rsa = try RecipientKey(jwk: Array(#"{"kty":"RSA","n":"\#(modulus)","e":"AQAB"}"#.utf8))
        #expect(rsa.keyID == "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs")
        // Computed with jwcrypto 1.1.0.
        let okp = #"{"kty":"OKP","crv":"X25519","x":"3p7bfXt9wbTTW2HC7OQ1Nz-DQ8hbeGdNrfx-FG-IK08"}"#
        #expect(try RecipientKey(jwk: Array(okp.utf8)).keyID == "giQqigT_IKcuzHl0FVJ3k5ts3_TWNAxvsC08UZsfcM8")
        #expect(try ec().recipient(["kid": nil]).keyID == ec().recipient(["kid": "psp-1"]).thumbprint)
        let sealed = try JWE.seal(SecretBytes(text: "{}"), to: try ec().recipient(["kid": nil]))
        #expect(sealed.split(separator: ".").count >= 4)
    }

    /// Points of small order, as D. J. Bernstein lists them ("Curve25519: new Diffie-Hellman speed records", and
    /// https://cr.yp.to/ecdh.html#validate), little-endian.
    static let smallOrder = [
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
        "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    ]

    @Test("B3 an X25519 key that agrees on zero with everybody is refused when it is read", arguments: smallOrder)
    func refusesSmallOrder(point: String) throws {
        let x = Base64URL.string(try Hex.bytes(point))
        #expect(throws: RecipientKeyError.malformedMember("x")) { try okp().recipient(["x": x]) }
    }

    @Test func `B2 a published test key is one under any kid, and for any use`() throws {
        for published in [RecipientKey.sandboxTest.jwk, VerificationKey.sandboxTest.jwk] {
            let members = published.replacing(/"(kid|use|alg)":"[^"]*",/, with: "")
            for kid in ["", #""kid":"live-2026","#] {
                let jwk = Array(members.replacing("{", with: "{" + kid).utf8)
                #expect(try RecipientKey(jwk: jwk).isTest)
                #expect(try VerificationKey(jwk: jwk).isTest)
            }
        }
        #expect(!SigningKey().verificationKey.isTest)
    }

    @Test func `a test key shows itself by its kid`() throws {
        #expect(try ec().recipient(["kid": "test-1"]).isTest)
        #expect(try ec().recipient(["kid": "psp-1"]).isTest == false)
        #expect(RecipientKey.sandboxTest.isTest)
        try RecipientKey.sandboxTest.material.check()
    }

    @Test func `a private JWK that is none is refused by member`() throws {
        let cases: [([String: String?], RecipientKeyError)] = [
            (["d": nil], .missingMember("d")), (["d": "AA"], .malformedMember("d")),
            (["d": "=="], .malformedMember("d")),
            (["kty": "oct"], .unsupportedKeyType("oct")),
        ]
        for (change, error) in cases {
            #expect(throws: error, "\(change)") { try RecipientPrivateKey(jwk: SecretBytes(ec().jwk(change))) }
        }
        #expect(throws: RecipientKeyError.missingMember("p")) {
            try RecipientPrivateKey(jwk: SecretBytes(rsa().jwk(["p": nil])))
        }
        #expect(throws: RecipientKeyError.self) {
            try RecipientPrivateKey(jwk: SecretBytes(rsa().jwk(["p": "AQAB"])))
        }
        #expect(throws: RecipientKeyError.notJSON) { try RecipientPrivateKey(jwk: SecretBytes(text: "no")) }
    }
}
