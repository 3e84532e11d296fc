// SPDX-License-Identifier: Apache-2.0
import CPKCS11
import CardBytes
import Envelope
import Foundation
import Testing

@testable import HSM

/// Codes of messages by keys of SoftHSM 2.6.1: vectors of the standards, and what pyemv and cryptography make.
@Suite(.serialized)
struct MessageKeyTests {
    /// NIST SP 800-38B, D.1; RFC 4493, 4.
    private static let aes = "2b7e151628aed2a6abf7158809cf4f3c"
    private static let message =
        "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e5130c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710"

    private static let foreign = """
        import sys, json
        from cryptography.hazmat.primitives.ciphers import algorithms
        from cryptography.hazmat.primitives.cmac import CMAC
        from cryptography.hazmat.primitives.keywrap import aes_key_wrap
        from pyemv.mac import mac_iso9797_3
        request = {name: bytes.fromhex(text) for name, text in json.load(sys.stdin).items()}
        answer = {"retail": mac_iso9797_3(request["left"], request["right"], request["message"], 1).hex()}
        if "zone" in request:
            answer["wrapped"] = aes_key_wrap(request["zone"], request["key"]).hex()
            cmac = CMAC(algorithms.AES(request["key"]))
            cmac.update(request["message"])
            answer["cmac"] = cmac.finalize().hex()
            left, right = request["left"], request["right"]
            answer["both2"] = aes_key_wrap(request["zone"], left + right).hex() + aes_key_wrap(request["zone"], left + left).hex()
            answer["both3"] = aes_key_wrap(request["zone"], left + right + left).hex() + aes_key_wrap(request["zone"], left * 3).hex()
        json.dump(answer, sys.stdout)
        """

    private func write(_ soft: SoftToken, _ key: String, _ type: String, _ label: String, _ usage: String) throws {
        let file = try SoftToken.file("\(label).bin")
        try Data(Hex.bytes(key)).write(to: file)
        try soft.tool([
            "--write-object", file.path, "--type", "secrkey", "--key-type", type, "--label", label, usage,
            "--sensitive",
        ])
        try FileManager.default.removeItem(at: file)
    }

    @Test("S20: CMAC by a key of the token is that of SP 800-38B")
    func cmac() async throws {
        let soft = try SoftToken()
        try write(soft, Self.aes, "AES:16", "mac", "--usage-sign")
        let token = try Token(soft.settings())
        let message = try Hex.bytes(Self.message)
        for (count, code) in [
            (16, "070a16b46b4d4144f79bdd9dd04a287c"), (40, "dfa66747de9ae63030ca32611497c827"),
            (64, "51f0bebf7e3b9d92fc49741779363cfe"),
        ] {
            #expect(
                try await token.code(of: Array(message.prefix(count)), with: .cmac(label: "mac")) == Hex.bytes(code))
        }
        await #expect(throws: TokenError.unknownKey("other")) {
            try await token.code(of: message, with: .cmac(label: "other"))
        }
    }

    /// ISO 9797-1 algorithm 3, padding method 1: one block, whole blocks, a piece of one.
    @Test("S20: the retail MAC by two keys of the token is the one of pyemv")
    func retail() async throws {
        let soft = try SoftToken()
        let (left, right) = ("0123456789abcdef", "fedcba9876543210")
        try write(soft, left + right + left, "DES3:24", "retail", "--usage-decrypt")
        try write(soft, left + left + left, "DES3:24", "retail-left", "--usage-decrypt")
        let token = try Token(soft.settings())
        for count in [8, 61, 64] {
            let message = String(Self.message.prefix(2 * count))
            let answer = try SoftToken.python(Self.foreign, ["left": left, "right": right, "message": message])
            let code = try await token.code(of: Hex.bytes(message), with: .retail(label: "retail"))
            #expect(Hex.string(code).lowercased() == answer["retail"] as? String)
        }
        // The check value of the double-length key 0123456789ABCDEF FEDCBA9876543210.
        let check = try await token.code(of: MessageKey.retail(label: "").checked, with: .retail(label: "retail"))
        #expect(Hex.string(check.prefix(3)) == "08D7B4")
    }

    @Test("S20, S27: a key that was wrapped by another hand is unwrapped in the token, and a damaged one is none")
    func wrapped() async throws {
        let soft = try SoftToken()
        let zone = String(repeating: "5a", count: 32)
        try write(soft, zone, "AES:32", "zone", "--usage-wrap")
        let token = try Token(soft.settings { $0.sessions = 2 })
        let answer = try SoftToken.python(
            Self.foreign,
            [
                "zone": zone, "key": Self.aes, "message": Self.message, "left": "0123456789abcdef",
                "right": "fedcba9876543210",
            ])
        let wrapped = try Hex.bytes(#require(answer["wrapped"] as? String))
        let message = try Hex.bytes(Self.message)
        let key = MessageKey.wrapped(wrapped, under: "zone")
        for _ in 0..<4 {
            #expect(
                try await Hex.string(token.code(of: message, with: key)).lowercased() == answer["cmac"] as? String)
        }
        #expect(try await unwrapped(token, wrapped, CKK_AES) == ["sign"])
        // Sessions that are made anew unwrap it anew.
        await token.close()
        #expect(try await Hex.string(token.code(of: message, with: key)).lowercased() == answer["cmac"] as? String)
        var damaged = wrapped
        damaged[9] ^= 1
        await #expect(throws: TokenError.envelope(.notAuthentic)) {
            try await token.code(of: message, with: .wrapped(damaged, under: "zone"))
        }
        // The session goes on.
        #expect(try await token.code(of: message, with: key).count == 16)
        try await retail(token, answer, message)
        await #expect(throws: TokenError.envelope(.malformedToken)) {
            try await token.code(of: message, with: .wrapped([1, 2, 3], under: "zone"))
        }
    }

    /// What the objects that `find` gives may do.
    private func uses(
        _ token: Token, _ names: [(Int, String)],
        _ find: @escaping @Sendable (inout LiveSession) throws(TokenFailure) -> UInt
    ) async throws -> [String] {
        try await token.run { (session) throws(TokenFailure) in
            let object = try find(&session)
            var uses: [String] = []
            for (attribute, name) in names {
                let may = try session.call { (calls) throws(TokenCode) in try calls.number(attribute, of: object) }
                if may != 0 { uses.append(name) }
            }
            return uses
        }
    }

    private static let secret = [
        (CKA_ENCRYPT, "encrypt"), (CKA_DECRYPT, "decrypt"), (CKA_SIGN, "sign"), (CKA_VERIFY, "verify"),
        (CKA_WRAP, "wrap"), (CKA_UNWRAP, "unwrap"), (CKA_DERIVE, "derive"),
    ]
    private static let pair = [
        (CKA_DECRYPT, "decrypt"), (CKA_SIGN, "sign"), (CKA_UNWRAP, "unwrap"), (CKA_DERIVE, "derive"),
    ]

    /// PKCS#11 v3.1, 4.1.1: what a template leaves out is the token's choice. SoftHSM's is that a secret key may do everything.
    @Test("S34: a key that is made here may do what it is for and nothing else")
    func made() async throws {
        let soft = try SoftToken()
        let token = try Token(soft.settings { $0.mayMakeKeys = true })
        for (label, kind, signs, wanted) in [
            ("agrees", TokenKey.Kind.p256, false, ["derive"]), ("signs", .p256, true, ["sign"]),
            ("names", .secret, true, ["sign", "verify"]), ("books-2026-11", .secret, false, ["encrypt", "decrypt"]),
        ] {
            let key = TokenKey(label: label, kind: kind)
            try await token.make(key, signs: signs)
            let found = try await uses(token, kind == .p256 ? Self.pair : Self.secret) {
                (session) throws(TokenFailure) in try session.key(key).original
            }
            #expect(found == wanted, "\(label)")
        }
    }

    /// Of a key that another house has wrapped: its code is made by it, and that is all.
    private func unwrapped(_ token: Token, _ wrapped: [UInt8], _ type: Int) async throws -> [String] {
        try await uses(token, Self.secret) { (session) throws(TokenFailure) in
            let zone = try session.key(TokenKey(label: "zone", kind: .secret)).object
            return try session.call { (calls) throws(TokenCode) in try calls.unwrap(wrapped, type, by: zone) }
        }
    }

    /// Two keys and the left one, as DES2 and as DES3; one behind the other they are one text.
    private func retail(_ token: Token, _ answer: [String: Any], _ message: [UInt8]) async throws {
        for name in ["both2", "both3"] {
            let wrapped = try Hex.bytes(#require(answer[name] as? String))
            let key = MessageKey.wrappedRetail(wrapped, under: "zone")
            #expect(
                try await Hex.string(token.code(of: message, with: key)).lowercased() == answer["retail"] as? String)
            let type = name == "both2" ? CKK_DES2 : CKK_DES3
            #expect(try await unwrapped(token, Array(wrapped.prefix(wrapped.count / 2)), type) == ["encrypt"])
            // The check values of the double-length key, and of its left half three times.
            let left = Array(wrapped.suffix(wrapped.count / 2))
            for (key, check) in [(wrapped, "08D7B4"), (left + left, "D5D44F")] {
                let code = try await token.code(
                    of: MessageKey.retail(label: "").checked, with: .wrappedRetail(key, under: "zone"))
                #expect(Hex.string(code.prefix(3)) == check)
            }
            var damaged = wrapped
            damaged[wrapped.count - 1] ^= 1
            await #expect(throws: TokenError.envelope(.notAuthentic)) {
                try await token.code(of: message, with: .wrappedRetail(damaged, under: "zone"))
            }
        }
        await #expect(throws: TokenError.envelope(.malformedToken)) {
            try await token.code(of: message, with: .wrappedRetail([UInt8](repeating: 0, count: 56), under: "zone"))
        }
    }
}
