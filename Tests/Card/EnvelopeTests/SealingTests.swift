// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Crypto
import StrictJSON
import Testing

@testable import Envelope

/// The two worked examples that were made for this project, and tokens that other programs opened.
struct SealingTests {
    private let kdf = Result { try JOSEVector.load("rfc", id: "concat-kdf-rfc7518-c") }

    /// Ephemeral key Alice, IV 00…0B, content key 20…3F.
    private func inputs() throws -> SealingInputs {
        var inputs = SealingInputs()
        inputs.p256 = try P256.KeyAgreement.PrivateKey(rawRepresentation: kdf.get().octets("alice_d"))
        inputs.nonce = try AES.GCM.Nonce(data: (0..<12).map { UInt8($0) })
        inputs.contentKey = SymmetricKey(data: (0x20..<0x40).map { UInt8($0) })
        return inputs
    }

    private func bob(algorithm: KeyAlgorithm) throws -> RecipientKey {
        RecipientKey(
            algorithm: algorithm, keyID: "test-1",
            material: .p256(x: try kdf.get().octets("bob_x"), y: try kdf.get().octets("bob_y")))
    }

    @Test func `ECDH-ES gives the example byte for byte`() throws {
        let token = try OneTimeSeal(to: bob(algorithm: .ecdhES), inputs: inputs()).seal(SecretBytes(text: #"{"v":1}"#))
        #expect(
            token == """
                eyJhbGciOiJFQ0RILUVTIiwiY3R5IjoianNvbiIsImVuYyI6IkEyNTZHQ00iLCJlcGsiOnsiY3J2IjoiUC0yNTYiLCJrdHkiOiJF\
                QyIsIngiOiJnSTBHQUlMQmR1N1Q1M2FrckZtTXlHY3NGM241ZE83TW13TkJIS1c1U1YwIiwieSI6IlNMV194U2ZmemxQV3JIRVZJ\
                MzBESE1fNGVnVnd0M05RcWVVRDduTUZwcHMifSwia2lkIjoidGVzdC0xIn0..AAECAwQFBgcICQoL.LWNuXPrddQ.\
                LAA4MYyjpAHKVxehHO3p0g
                """)
    }

    /// Decision 153. FIPS 186-5 A.2.2: any number of 1 to n - 1, each with the same chance.
    @Test func `each seal has a key of its own, a point of the curve that the recipient agrees with`() throws {
        let bob = try bob(algorithm: .ecdhES)
        var keys: Set<String> = []
        for _ in 0..<100 {
            let token = try OneTimeSeal(to: bob).seal(SecretBytes(text: "{}"))
            let header = try #require(token.split(separator: ".").first)
            keys.insert(String(header))
            let own = try JWEHeader(try #require(Base64URL.decode(header.utf8))).ephemeralKey
            guard case .p256(let x, let y) = own else { throw EnvelopeError.malformedToken }
            _ = try P256.KeyAgreement.PublicKey(rawRepresentation: x + y)
        }
        #expect(keys.count == 100)
    }

    @Test func `ECDH-ES+A256KW wraps the example's content key byte for byte`() throws {
        let token = try OneTimeSeal(to: bob(algorithm: .ecdhESA256KW), inputs: inputs()).seal(SecretBytes(text: "{}"))
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        #expect(
            Base64URL.decode(parts[1].utf8)
                == (try Hex.bytes(
                    "884a8935da1b04103b9cd077ab2ec681d2090eba7cc8c8698d6c2d7e9b1dee844e8f9ea28f1c20c0")))
    }

    @Test(arguments: [
        "jwe-own-p256-ecdh-es", "jwe-own-p256-ecdh-es-a256kw", "jwe-own-x25519-ecdh-es", "jwe-own-rsa-oaep-256",
    ])
    func `tokens that four other programs opened are opened`(id: String) throws {
        let vector = try JOSEVector.load("own", id: id)
        let opened = try JWE.open(vector.text("compact"), with: vector.privateKey())
        #expect(try opened.copied == Array(vector.text("plaintext").utf8))
        #expect(opened.count == 630)
    }

    @Test(arguments: ["jwe-own-p256-ecdh-es", "jwe-own-p256-ecdh-es-a256kw"])
    func `agreed secret, wrapping key and content key are those recorded`(id: String) throws {
        let vector = try JOSEVector.load("own", id: id)
        let header = try JWEHeader(vector.header())
        guard case .p256(let x, let y) = header.ephemeralKey, case .p256(let own) = try vector.privateKey().material
        else { throw EnvelopeError.wrongKey }
        let secret = try own.sharedSecretFromKeyAgreement(with: P256.KeyAgreement.PublicKey(rawRepresentation: x + y))
        #expect(try unsafe secret.withUnsafeBytes { unsafe Array($0) } == vector.hex("z"))
        let agreed = try JWE.agreedKey(secret, header)
        let kek = try header.algorithm == .ecdhES ? vector.hex("cek") : vector.hex("kek")
        #expect(unsafe agreed.withUnsafeBytes { unsafe Array($0) } == kek)
        if header.algorithm == .ecdhESA256KW {
            let contentKey = try AES.KeyWrap.unwrap(vector.part(1), using: agreed)
            #expect(try unsafe contentKey.withUnsafeBytes { unsafe Array($0) } == vector.hex("cek"))
        }
    }

    @Test(arguments: [
        "jwe-own-p256-ecdh-es", "jwe-own-p256-ecdh-es-a256kw", "jwe-own-x25519-ecdh-es", "jwe-own-rsa-oaep-256",
    ])
    func `what is sealed opens again, whatever its length`(id: String) throws {
        let vector = try JOSEVector.load("own", id: id)
        let recipient = try vector.recipient(["alg": id.hasSuffix("a256kw") ? "ECDH-ES+A256KW" : nil])
        for length in [0, 1, 15, 16, 17, 4_096, 10_000] {
            let secret = SecretBytes((0..<length).map { UInt8(truncatingIfNeeded: $0) })
            let token = try JWE.seal(secret, to: recipient)
            #expect(SecretBytes.constantTimeEqual(try JWE.open(token, with: vector.privateKey()), secret))
        }
    }

    @Test func `two envelopes of the same bytes share nothing but the header's fixed part`() throws {
        let vector = try JOSEVector.load("own", id: "jwe-own-p256-ecdh-es")
        let secret = SecretBytes(text: #"{"v":1}"#)
        let first = try JWE.seal(secret, to: vector.recipient()).split(separator: ".", omittingEmptySubsequences: false)
        let second = try JWE.seal(secret, to: vector.recipient()).split(
            separator: ".", omittingEmptySubsequences: false)
        for part in [0, 2, 3, 4] { #expect(first[part] != second[part]) }
    }

    @Test(arguments: ["jwe-own-p256-ecdh-es", "jwe-own-x25519-ecdh-es", "jwe-own-rsa-oaep-256"])
    func `an envelope made before there was anything to put in opens like any other`(id: String) throws {
        let vector = try JOSEVector.load("own", id: id)
        let first = try OneTimeSeal(to: vector.recipient())
        let second = try OneTimeSeal(to: vector.recipient())
        let secret = SecretBytes(text: #"{"v":1}"#)
        let tokens = [try first.seal(secret), try second.seal(secret)]
        for token in tokens {
            #expect(SecretBytes.constantTimeEqual(try JWE.open(token, with: vector.privateKey()), secret))
        }
        let parts = tokens.map { $0.split(separator: ".", omittingEmptySubsequences: false) }
        // Key, nonce and ciphertext are of this one envelope.
        for part in [2, 3, 4] { #expect(parts[0][part] != parts[1][part]) }
    }

    @Test func `the header says alg, cty, enc, epk and kid and nothing else`() throws {
        let vector = try JOSEVector.load("own", id: "jwe-own-x25519-ecdh-es")
        let token = try JWE.seal(SecretBytes(text: "{}"), to: vector.recipient(["kid": #"a"\é"#]))
        let encoded = try #require(token.split(separator: ".").first)
        let header = try #require(Base64URL.decode(encoded.utf8))
        let index = try JSONText(header).index
        let names = index.children(of: 0).map { String(decoding: header[index.nodes[$0].name], as: UTF8.self) }
        #expect(names == ["alg", "cty", "enc", "epk", "kid"])
        #expect(try JWEHeader(header).keyID == #"a"\é"#)
    }

    @Test func `a recipient key of small order is refused instead of sealed to`() throws {
        let zero = RecipientKey(
            algorithm: .ecdhES, keyID: "k", material: .x25519([UInt8](repeating: 0, count: 32)))
        #expect(throws: EnvelopeError.unusableKey) { try JWE.seal(SecretBytes(text: "{}"), to: zero) }
        #expect(throws: EnvelopeError.unusableKey) { _ = try OneTimeSeal(to: zero) }
    }
}
