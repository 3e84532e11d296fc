// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Foundation
import Testing

@testable import Envelope

struct JWSTests {
    private let key = SigningKey()

    @Test func `what was signed is given back as it was`() throws {
        let payload = Array(#"{"sum":1250,"note":"ünïcode"}"#.utf8)
        let token = try JWS.sign(payload, key: key, type: "nfc-tap-batch+jws")
        #expect(try JWS.verify(token, with: key.verificationKey, type: "nfc-tap-batch+jws") == payload)
        #expect(try JWS.verify(JWS.sign([], key: key, type: "t"), with: key.verificationKey, type: "t") == [])
    }

    @Test func `a changed byte anywhere is noticed`() throws {
        let token = Array(try JWS.sign("sale".utf8, key: key, type: "t").utf8)
        for position in token.indices {
            var changed = token
            changed[position] = changed[position] == 0x41 ? 0x42 : 0x41
            #expect(throws: JWSError.self) {
                try JWS.verify(String(decoding: changed, as: UTF8.self), with: key.verificationKey, type: "t")
            }
        }
    }

    @Test func `another key does not verify it, whatever its name`() throws {
        let token = try JWS.sign("sale".utf8, key: key, type: "t")
        let stranger = SigningKey().verificationKey
        #expect(throws: JWSError.wrongKey) { try JWS.verify(token, with: stranger, type: "t") }
        let impostor = VerificationKey(keyID: key.keyID, x: stranger.x, y: stranger.y)
        #expect(throws: JWSError.notAuthentic) { try JWS.verify(token, with: impostor, type: "t") }
    }

    @Test func `a statement of one kind does not pass for one of another`() throws {
        let token = try JWS.sign("sale".utf8, key: key, type: "nfc-tap-record+jws")
        #expect(throws: JWSError.wrongType("nfc-tap-record+jws")) {
            try JWS.verify(token, with: key.verificationKey, type: "nfc-tap-batch+jws")
        }
    }

    @Test(
        arguments: [
            (#"{"alg":"none","typ":"t"}"#, JWSError.unsupportedAlgorithm("none")),
            (#"{"alg":"HS256","typ":"t"}"#, .unsupportedAlgorithm("HS256")),
            (#"{"typ":"t"}"#, .malformedHeader(member: "alg")), (#"{"alg":"ES256"}"#, .malformedHeader(member: "typ")),
            (#"{"alg":1,"typ":"t"}"#, .malformedHeader(member: "alg")),
            (#"{"alg":"ES256","typ":"t","kid":"other"}"#, .wrongKey),
            (#"{"alg":"ES256","typ":"t","crit":["b64"]}"#, .unsupportedHeader(member: "crit")),
            (#"{"alg":"ES256","typ":"t","b64":false}"#, .unsupportedHeader(member: "b64")),
            (#"{"alg":"ES256","alg":"none","typ":"t"}"#, .malformedHeader(member: "(all)")),
            ("[]", .malformedHeader(member: "alg")), ("", .malformedHeader(member: "(all)")),
        ])
    func `a header that asks for something else is refused`(header: String, error: JWSError) throws {
        let token = "\(Base64URL.string(header.utf8)).\(Base64URL.string("sale".utf8))."
        let signature = Base64URL.string([UInt8](repeating: 1, count: 64))
        #expect(throws: error) { try JWS.verify(token + signature, with: key.verificationKey, type: "t") }
    }

    @Test(arguments: ["", ".", "..", "a.b", "e30.e30.e30", "e30.e30.e30.e30", "!.!.!"])
    func `what is no compact JWS is refused`(token: String) {
        #expect(throws: JWSError.malformedToken) { try JWS.verify(token, with: key.verificationKey, type: "t") }
    }

    /// RFC 7515 appendix A.3: key, signing input and signature.
    @Test func `the example of RFC 7515 verifies`() throws {
        let jwk = #"""
            {"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
            "y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}
            """#
        let input =
            "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
        let signature = "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
        let key = try VerificationKey(jwk: Array(jwk.utf8))
        let octets = try #require(Base64URL.decode(signature.utf8))
        #expect(key.isSignature(octets, of: Array(input.utf8)))
        #expect(!key.isSignature(octets, of: Array(input.utf8.dropLast())))
    }
}
