// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Foundation
import Testing

@testable import Envelope

struct OpeningTests {
    private func sample() throws -> JOSEVector { try JOSEVector.load("own", id: "jwe-own-p256-ecdh-es") }

    /// The sample with another header in front of its other parts.
    private func token(header: String) throws -> String {
        let parts = try sample().text("compact").split(separator: ".", omittingEmptySubsequences: false)
        return ([Base64URL.string(header.utf8)[...]] + parts.dropFirst()).joined(separator: ".")
    }

    @Test func `one changed character anywhere makes it unopenable`() throws {
        let token = Array(try sample().text("compact").utf8)
        let key = try sample().privateKey()
        for position in stride(from: 0, to: token.count, by: 7) {
            var changed = token
            changed[position] = changed[position] == 0x41 ? 0x42 : 0x41
            let text = String(decoding: changed, as: UTF8.self)
            #expect(throws: EnvelopeError.self, "position \(position)") { try JWE.open(text, with: key) }
        }
    }

    @Test func `a wrapped content key is authenticated too`() throws {
        let vector = try JOSEVector.load("own", id: "jwe-own-p256-ecdh-es-a256kw")
        var parts = try vector.text("compact").split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        parts[1] = Base64URL.string([UInt8](repeating: 7, count: 40))
        #expect(throws: EnvelopeError.notAuthentic) {
            try JWE.open(parts.joined(separator: "."), with: vector.privateKey())
        }
    }

    @Test(arguments: ["", ".", "....", "a.b.c.d", "a.b.c.d.e.f", "=...."])
    func `what is not five base64url parts is no token`(text: String) throws {
        let key = try sample().privateKey()
        #expect(throws: EnvelopeError.self) { try JWE.open(text, with: key) }
    }

    @Test func `IV and tag have one length`() throws {
        let key = try sample().privateKey()
        for (part, bytes) in [(2, 16), (2, 11), (4, 12), (4, 15)] {
            var parts = try sample().text("compact").split(separator: ".", omittingEmptySubsequences: false).map(
                String.init)
            parts[part] = Base64URL.string([UInt8](repeating: 0, count: bytes))
            #expect(throws: EnvelopeError.malformedToken) { try JWE.open(parts.joined(separator: "."), with: key) }
        }
    }

    @Test(
        arguments: [
            ("RSA1_5", EnvelopeError.unsupportedAlgorithm("RSA1_5")), ("dir", .unsupportedAlgorithm("dir")),
            ("RSA-OAEP", .unsupportedAlgorithm("RSA-OAEP")), ("none", .unsupportedAlgorithm("none")),
            ("ECDH-ES+A128KW", .unsupportedAlgorithm("ECDH-ES+A128KW")),
        ] as [(String, EnvelopeError)])
    func `other algorithms are refused by name`(name: String, error: EnvelopeError) throws {
        let token = try token(header: #"{"alg":"\#(name)","enc":"A256GCM"}"#)
        #expect(throws: error) { try JWE.open(token, with: sample().privateKey()) }
    }

    @Test(arguments: ["A128GCM", "A256CBC-HS512", "A128CBC-HS256", "a256gcm"])
    func `other content ciphers are refused by name`(name: String) throws {
        let token = try token(header: #"{"alg":"ECDH-ES","enc":"\#(name)"}"#)
        #expect(throws: EnvelopeError.unsupportedEncryption(name)) { try JWE.open(token, with: sample().privateKey()) }
    }

    @Test(arguments: [#""zip":"DEF""#, #""crit":["b64"]"#])
    func `compression and critical extensions are refused`(member: String) throws {
        let token = try token(header: #"{"alg":"ECDH-ES","enc":"A256GCM",\#(member)}"#)
        let name = String(member.dropFirst().prefix { $0 != "\"" })
        #expect(throws: EnvelopeError.unsupportedHeader(member: name)) {
            try JWE.open(token, with: sample().privateKey())
        }
    }

    @Test(
        arguments: [
            ("[]", "alg"), ("{", "(all)"), (#"{"enc":"A256GCM"}"#, "alg"), (#"{"alg":"ECDH-ES"}"#, "enc"),
            (#"{"alg":1,"enc":"A256GCM"}"#, "alg"), (#"{"alg":"ECDH-ES","alg":"dir","enc":"A256GCM"}"#, "(all)"),
            (#"{"alg":"ECDH-ES","enc":"A256GCM"}"#, "epk"), (#"{"alg":"ECDH-ES","enc":"A256GCM","epk":7}"#, "epk"),
            (#"{"alg":"ECDH-ES","enc":"A256GCM","epk":{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}}"#, "epk"),
            (#"{"alg":"ECDH-ES","enc":"A256GCM","apu":"="}"#, "apu"),
        ])
    func `a malformed header names its member`(header: String, member: String) throws {
        let token = try token(header: header)
        #expect(throws: EnvelopeError.malformedHeader(member: member)) {
            try JWE.open(token, with: sample().privateKey())
        }
    }

    @Test func `an ephemeral point off the curve is refused before it meets the key`() throws {
        let one = Base64URL.string([UInt8](repeating: 1, count: 32))
        let epk = #"{"kty":"EC","crv":"P-256","x":"\#(one)","y":"\#(one)"}"#
        let token = try token(header: #"{"alg":"ECDH-ES","enc":"A256GCM","epk":\#(epk)}"#)
        #expect(throws: EnvelopeError.malformedHeader(member: "epk")) {
            try JWE.open(token, with: sample().privateKey())
        }
    }

    @Test func `an ephemeral key of small order opens nothing`() throws {
        let okp = try JOSEVector.load("own", id: "jwe-own-x25519-ecdh-es")
        var parts = try okp.text("compact").split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        let zero = Base64URL.string([UInt8](repeating: 0, count: 32))
        let epk = #"{"kty":"OKP","crv":"X25519","x":"\#(zero)"}"#
        parts[0] = Base64URL.string(#"{"alg":"ECDH-ES","enc":"A256GCM","epk":\#(epk)}"#.utf8)
        #expect(throws: EnvelopeError.notAuthentic) {
            try JWE.open(parts.joined(separator: "."), with: okp.privateKey())
        }
    }

    @Test func `a token for another key is told apart from a broken one`() throws {
        let named = try RecipientPrivateKey(jwk: SecretBytes(sample().jwk(["kid": "other"])))
        #expect(throws: EnvelopeError.wrongKey) { try JWE.open(sample().text("compact"), with: named) }
        let okp = try JOSEVector.load("own", id: "jwe-own-x25519-ecdh-es").privateKey()
        #expect(throws: EnvelopeError.wrongKey) { try JWE.open(sample().text("compact"), with: okp) }
        let rsa = try JOSEVector.load("own", id: "jwe-own-rsa-oaep-256")
        #expect(throws: EnvelopeError.wrongKey) { try JWE.open(sample().text("compact"), with: rsa.privateKey()) }
        #expect(throws: EnvelopeError.wrongKey) { try JWE.open(rsa.text("compact"), with: sample().privateKey()) }
    }

    @Test func `published examples under other algorithms are read and refused`() throws {
        let key = try sample().privateKey()
        let tokens = try JOSEVector.load("rfc").filter { $0.members["compact"] != nil }.map { try $0.text("compact") }
        let refusals = tokens.map { token in
            do throws(EnvelopeError) {
                return try JWE.open(token, with: key).description
            } catch {
                return error.description
            }
        }
        #expect(
            refusals == [
                #"JWE alg "RSA-OAEP" is not supported"#, #"JWE alg "ECDH-ES+A128KW" is not supported"#,
                #"JWE enc "A128CBC-HS256" is not supported"#, #"JWE alg "dir" is not supported"#,
                #"JWE alg "A128KW" is not supported"#, #"JWE enc "A128GCM" is not supported"#,
            ])
    }

    @Test func `opened bytes are a secret that does not print itself`() throws {
        let opened = try JWE.open(sample().text("compact"), with: sample().privateKey())
        #expect("\(opened)" == "<630 secret bytes>")
        #expect(
            String(reflecting: try sample().privateKey()).contains("VEmDZpDXXK8p8N0Cndsxs924q6nS1RXFASRl6BfUqdw")
                == false)
    }
}
