// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Crypto
import Testing

@testable import Envelope

struct ConcatKDFTests {
    private func bytes(_ key: SymmetricKey) -> [UInt8] { unsafe key.withUnsafeBytes { unsafe Array($0) } }

    @Test func `RFC 7518 appendix C`() throws {
        let vector = try JOSEVector.load("rfc", id: "concat-kdf-rfc7518-c")
        let alice = try P256.KeyAgreement.PrivateKey(rawRepresentation: vector.octets("alice_d"))
        let bob = try P256.KeyAgreement.PublicKey(
            rawRepresentation: vector.octets("bob_x") + vector.octets("bob_y"))
        let secret = try alice.sharedSecretFromKeyAgreement(with: bob)
        #expect(
            Hex.string(unsafe secret.withUnsafeBytes { unsafe Array($0) })
                == "9E56D91D817135D372834283BF84269CFB316EA3DA806A48F6DAA7798CFE90C4")
        let key = ConcatKDF.derive(
            secret, algorithm: "A128GCM", keyBits: 128, partyU: Array("Alice".utf8), partyV: Array("Bob".utf8))
        #expect(try bytes(key) == vector.octets("derived_key"))
    }

    @Test func `OtherInfo puts each length before its field and the key bits last`() {
        let info = ConcatKDF.otherInfo(
            algorithm: "A128GCM", keyBits: 128, partyU: Array("Alice".utf8), partyV: Array("Bob".utf8))
        #expect(Hex.string(info) == "000000074131323847434D00000005416C69636500000003426F6200000080")
        let plain = ConcatKDF.otherInfo(algorithm: "ECDH-ES+A256KW", keyBits: 256, partyU: [], partyV: [])
        #expect(Hex.string(plain) == "0000000E454344482D45532B413235364B57000000000000000000000100")
    }

    @Test func `RFC 7520 §5.4: a P-384 agreement unwraps the content key`() throws {
        let vector = try JOSEVector.load("rfc", id: "jwe-rfc7520-5.4")
        let own = try P384.KeyAgreement.PrivateKey(rawRepresentation: member("d", of: vector, "key"))
        let peer = try P384.KeyAgreement.PublicKey(
            rawRepresentation: JSONText(vector.header()).point("epk"))
        let wrapping = ConcatKDF.derive(
            try own.sharedSecretFromKeyAgreement(with: peer), algorithm: "ECDH-ES+A128KW", keyBits: 128)
        let contentKey = try AES.KeyWrap.unwrap(vector.part(1), using: wrapping)
        #expect(try bytes(contentKey) == vector.octets("cek"))
    }

    @Test func `RFC 7520 §5.5: the content key of direct agreement, AlgorithmID being enc`() throws {
        let vector = try JOSEVector.load("rfc", id: "jwe-rfc7520-5.5")
        let own = try P256.KeyAgreement.PrivateKey(rawRepresentation: member("d", of: vector, "key"))
        let peer = try P256.KeyAgreement.PublicKey(
            rawRepresentation: JSONText(vector.header()).point("epk"))
        let key = ConcatKDF.derive(
            try own.sharedSecretFromKeyAgreement(with: peer), algorithm: "A128CBC-HS256", keyBits: 256)
        #expect(try bytes(key) == vector.octets("cek"))
    }

    @Test func `RFC 8037: X25519 agreement opens the example`() throws {
        let vector = try JOSEVector.load("rfc", id: "jwe-rfc8037-x25519")
        let own = try Curve25519.KeyAgreement.PrivateKey(rawRepresentation: member("d", of: vector, "key"))
        let peer = try Curve25519.KeyAgreement.PublicKey(
            rawRepresentation: JSONText(vector.header()).point("epk", hasY: false))
        let key = ConcatKDF.derive(
            try own.sharedSecretFromKeyAgreement(with: peer), algorithm: "A128GCM", keyBits: 128)
        let box = try AES.GCM.SealedBox(
            nonce: AES.GCM.Nonce(data: vector.part(2)), ciphertext: vector.part(3), tag: vector.part(4))
        let text = try #require(try vector.text("compact").split(separator: ".").first)
        #expect(
            try Array(AES.GCM.open(box, using: key, authenticating: Array(text.utf8)))
                == Array(vector.text("plaintext").utf8))
    }

    @Test func `RFC 3394 §4.6: the key wrap that ECDH-ES+A256KW uses`() throws {
        let vector = try JOSEVector.load("rfc", id: "aes-kw-rfc3394-4.6")
        let kek = SymmetricKey(data: try vector.hex("kek"))
        let key = SymmetricKey(data: try vector.hex("key"))
        #expect(try Array(AES.KeyWrap.wrap(key, using: kek)) == vector.hex("wrapped"))
    }

    private func member(_ name: String, of vector: JOSEVector, _ object: String) throws -> [UInt8] {
        let key = try #require(vector.members[object] as? [String: String])
        let text = try #require(key[name])
        return try #require(Base64URL.decode(text.utf8))
    }
}
