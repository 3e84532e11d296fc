// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Testing

@testable import Envelope

struct SigningKeyTests {
    @Test func `a key written as JWK is the same key when it is read again`() throws {
        let key = SigningKey()
        let again = try SigningKey(jwk: key.jwk)
        #expect(again.verificationKey == key.verificationKey)
        let token = try JWS.sign("a".utf8, key: again, type: "t")
        #expect(try JWS.verify(token, with: key.verificationKey, type: "t") == Array("a".utf8))
    }

    @Test func `a new key is named by its thumbprint`() throws {
        let key = SigningKey()
        #expect(key.keyID == key.verificationKey.thumbprint)
        #expect(try VerificationKey(jwk: Array(key.verificationKey.jwk.utf8)) == key.verificationKey)
        #expect(!key.verificationKey.isTest)
    }

    /// RFC 7638 has an RSA example only; this one was computed with joserfc 1.6.5.
    @Test func `a key without kid is named by its thumbprint too`() throws {
        let jwk =
            #"{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}"#
        #expect(try VerificationKey(jwk: Array(jwk.utf8)).keyID == "oKIywvGUpTVTyxMQ3bwIIeQUudfr_CkLMjCE19ECD-U")
    }

    @Test func `a private key is not taken for a public one`() throws {
        let text = SigningKey().jwk.withSpan { bytes in
            var copy: [UInt8] = []
            for index in bytes.indices { copy.append(bytes[index]) }
            return copy
        }
        #expect(throws: RecipientKeyError.privateKey) { try VerificationKey(jwk: text) }
    }

    @Test func `the private half must belong to the public one`() throws {
        let one = SigningKey().verificationKey.jwk.dropLast()
        let d = Base64URL.string([UInt8](repeating: 7, count: 32))
        let mixed = SecretBytes(Array("\(one),\"d\":\"\(d)\"}".utf8))
        #expect(throws: RecipientKeyError.malformedMember("d")) { try SigningKey(jwk: mixed) }
    }

    @Test func `a key for something else is refused by the member that says so`() throws {
        let (x, y) = (SigningKey().verificationKey.x, SigningKey().verificationKey.y)
        let (good, bad) = (Base64URL.string(x), Base64URL.string(y))
        let cases: [(String, RecipientKeyError)] = [
            ("[]", .notJSON), ("{}", .missingMember("kty")), (#"{"kty":"RSA"}"#, .unsupportedKeyType("RSA")),
            (#"{"kty":"EC","crv":"P-384"}"#, .unsupportedCurve("P-384")),
            (#"{"kty":"EC","crv":"P-256","use":"enc"}"#, .notForSignatures),
            (#"{"kty":"EC","crv":"P-256","alg":"ECDH-ES"}"#, .notForSignatures),
            (#"{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}"#, .wrongLength("x", bytes: 1, expected: 32)),
            (#"{"kty":"EC","crv":"P-256","x":"\#(good)","y":"\#(bad)"}"#, .notOnCurve),
        ]
        for (jwk, error) in cases { #expect(throws: error) { try VerificationKey(jwk: Array(jwk.utf8)) } }
    }
}
