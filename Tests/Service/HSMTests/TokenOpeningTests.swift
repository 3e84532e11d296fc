// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Envelope
import Foundation
import HSM
import TestSupport
import Testing

/// Against SoftHSM 2.6.1, with envelopes of joserfc and keys that pkcs11-tool made or shows.
@Suite(.serialized)
struct TokenOpeningTests {
    private static let sealing = """
        import sys, json
        from joserfc import jwe
        from joserfc.jwk import import_key
        request = json.load(sys.stdin)
        key = import_key(request["key"])
        header = {"alg": request["alg"], "enc": "A256GCM", "kid": request["key"]["kid"], **request.get("more", {})}
        token = jwe.encrypt_compact(header, request["text"].encode(), key, algorithms=[request["alg"], "A256GCM"])
        json.dump({"token": token}, sys.stdout)
        """

    private func members(_ key: RecipientKey) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(key.jwk.utf8)) as? [String: Any])
    }

    private func foreign(_ key: RecipientKey, _ algorithm: String, _ text: String) throws -> String {
        var jwk = try members(key)
        jwk["alg"] = algorithm
        let answer = try SoftToken.python(Self.sealing, ["key": jwk, "alg": algorithm, "text": text])
        return try #require(answer["token"] as? String)
    }

    @Test(arguments: ["ECDH-ES", "ECDH-ES+A256KW"])
    func `an envelope sealed here or by joserfc opens with a key that stays in the token`(algorithm: String)
        async throws
    {
        let soft = try SoftToken()
        try soft.makeKey("shop-2026-11")
        let token = try Token(soft.settings { $0.recipients = [TokenKey(label: "shop-2026-11")] })
        let key = try #require(await token.recipients().keys.first)
        #expect(key.keyID == "shop-2026-11" && key.algorithm == .ecdhES)
        #expect(try await token.open(foreign(key, algorithm, "sealed in Python")).text == "sealed in Python")
        var jwk = try members(key)
        jwk["alg"] = algorithm
        let own = try RecipientKey(jwk: Array(JSONSerialization.data(withJSONObject: jwk)))
        #expect(try await token.open(JWE.seal(SecretBytes(text: "sealed here"), to: own)).text == "sealed here")
        try await token.prove()
    }

    @Test func `the published key is the one that pkcs11-tool reads`() async throws {
        let soft = try SoftToken()
        try soft.makeKey("shop")
        let token = try Token(soft.settings { $0.recipients = [TokenKey(label: "shop", notBefore: 7, expires: 9)] })
        let key = try #require(await token.recipients().keys.first)
        let info = try soft.tool(["--read-object", "--type", "pubkey", "--label", "shop"])
        // SubjectPublicKeyInfo ends with the point (RFC 5480 §2.2).
        let point = Array(info.suffix(64))
        let jwk = try members(key)
        #expect(jwk["x"] as? String == Base64URL.string(point.prefix(32)))
        #expect(jwk["y"] as? String == Base64URL.string(point.suffix(32)))
        #expect(key.notBefore == 7 && key.expires == 9)
    }

    @Test func `RSA opens without padding in the token only where that is allowed`() async throws {
        let soft = try SoftToken()
        try soft.makeKey("shop-rsa", type: "rsa:2048", usage: "--usage-decrypt")
        let key = TokenKey(label: "shop-rsa", kind: .rsa)
        let strict = try Token(soft.settings { $0.recipients = [key] })
        let recipient = try #require(await strict.recipients().keys.first)
        let envelope = try foreign(recipient, "RSA-OAEP-256", "by RSA")
        // SoftHSM 2.6.1 has no OAEP with SHA-256 and says CKR_ARGUMENTS_BAD.
        await #expect(throws: TokenError.refused(code: 7)) { try await strict.open(envelope) }

        let loose = try Token(
            soft.settings {
                $0.recipients = [key]
                $0.allowsRawRSA = true
            })
        #expect(try await loose.open(envelope).text == "by RSA")
        #expect(try await loose.open(JWE.seal(SecretBytes(text: "own"), to: recipient)).text == "own")

        // One error, whatever is wrong under the padding: the first byte, the label's hash, the separator, the length, the tag.
        let parts = envelope.split(separator: ".").map(String.init)
        let number = try #require(members(recipient)["n"] as? String)
        let modulus = try #require(Base64URL.decode(number.utf8))
        let wrong = """
            import sys, json, os, hashlib
            request = json.load(sys.stdin)
            n, size = int(request["n"], 16), len(request["n"]) // 2
            def mgf(seed, count):
                out = b""
                for c in range(count // 32 + 1):
                    out += hashlib.sha256(seed + c.to_bytes(4, "big")).digest()
                return out[:count]
            def block(first=0, label=b"", sep=1, message=bytes(32), fill=0):
                db = hashlib.sha256(label).digest() + bytes([fill]) * (size - 66 - len(message)) + bytes([sep]) + message
                seed = os.urandom(32)
                db = bytes(a ^ b for a, b in zip(db, mgf(seed, len(db))))
                seed = bytes(a ^ b for a, b in zip(seed, mgf(db, 32)))
                return bytes([first]) + seed + db
            cases = {"right": block(), "first byte": block(first=1), "label": block(label=b"x"), "separator": block(sep=2),
                     "short": block(message=bytes(31)), "long": block(message=bytes(33)), "fill": block(fill=1)}
            json.dump({k: pow(int.from_bytes(v, "big"), 65537, n).to_bytes(size, "big").hex() for k, v in cases.items()}, sys.stdout)
            """
        let blocks = try SoftToken.python(wrong, ["n": Hex.string(modulus)])
        #expect(blocks.count == 7)
        for (name, value) in blocks {
            let text = try #require(value as? String)
            let ciphertext = try Hex.bytes(text)
            let forged = [parts[0], Base64URL.string(ciphertext)] + parts[2...]
            await #expect(throws: TokenError.envelope(.notAuthentic), "\(name)") {
                try await loose.open(forged.joined(separator: "."))
            }
        }
        // The number of the modulus itself is no ciphertext.
        let tooLarge = [parts[0], Base64URL.string(modulus)] + parts[2...]
        await #expect(throws: TokenError.envelope(.notAuthentic)) {
            try await loose.open(tooLarge.joined(separator: "."))
        }
        #expect(try await loose.open(envelope).text == "by RSA")
    }

    @Test func `an old key opens beside the new one until it is taken out`() async throws {
        let soft = try SoftToken()
        try soft.makeKey("shop-2026-08", id: "01")
        try soft.makeKey("shop-2026-11", id: "02")
        let (old, new) = (TokenKey(label: "shop-2026-08"), TokenKey(label: "shop-2026-11"))
        let both = try Token(soft.settings { $0.recipients = [new, old] })
        let keys = try await both.recipients().keys
        #expect(keys.map(\.keyID) == ["shop-2026-11", "shop-2026-08"])
        let envelopes = try keys.map { try JWE.seal(SecretBytes(text: $0.keyID), to: $0) }
        for (key, envelope) in zip(keys, envelopes) { #expect(try await both.open(envelope).text == key.keyID) }
        let later = try Token(soft.settings { $0.recipients = [new] })
        #expect(try await later.open(envelopes[0]).text == "shop-2026-11")
        await #expect(throws: TokenError.unknownKey("shop-2026-08")) { try await later.open(envelopes[1]) }
        // In the settings, and no more in the token.
        try soft.tool(["--delete-object", "--type", "privkey", "--label", "shop-2026-08"])
        let gone = try Token(soft.settings { $0.recipients = [old] })
        await #expect(throws: TokenError.unknownKey("shop-2026-08")) { try await gone.open(envelopes[1]) }
    }

    @Test func `two keys of one label are told apart by their ids, and not used without`() async throws {
        let soft = try SoftToken()
        try soft.makeKey("shop", id: "01")
        try soft.makeKey("shop", id: "02")
        let vague = try Token(soft.settings { $0.recipients = [TokenKey(label: "shop")] })
        await #expect(throws: TokenError.unfitKey("shop", .ambiguous)) { try await vague.recipients() }
        let exact = try Token(
            soft.settings {
                $0.recipients = [
                    TokenKey(label: "shop", keyID: "one", id: [1]), TokenKey(label: "shop", keyID: "two", id: [2]),
                ]
            })
        try await exact.prove()
        let keys = try await exact.recipients().keys
        #expect(Set(keys.map(\.thumbprint)).count == 2)
    }

    @Test func `a key that may leave the token is not used`() async throws {
        let soft = try SoftToken()
        try soft.tool([
            "--keypairgen", "--key-type", "EC:prime256v1", "--label", "shop", "--id", "01", "--usage-derive",
            "--extractable",
        ])
        let token = try Token(soft.settings { $0.recipients = [TokenKey(label: "shop")] })
        await #expect(throws: TokenError.unfitKey("shop", .extractable)) { try await token.recipients() }
    }

    @Test("K3: a key that may not do what it is there for is named, with the attribute that it lacks")
    func withoutRight() async throws {
        let soft = try SoftToken()
        // A pair of pkcs11-tool that only signs. SoftHSM lets a pair sign that says nothing of it, so one that only agrees is our own.
        try soft.makeKey("signs", usage: "--usage-sign")
        try soft.tool(["--keygen", "--key-type", "AES:32", "--label", "cards", "--id", "03", "--sensitive"])
        let token = try Token(
            soft.settings {
                $0.mayMakeKeys = true
                $0.recipients = [TokenKey(label: "signs")]
                $0.signer = TokenKey(label: "agrees")
                $0.cardTokens = TokenKey(label: "cards", kind: .secret)
            })
        try await token.make(TokenKey(label: "agrees"), signs: false)
        let cannotDerive = TokenError.unfitKey("signs", .forbidden(.derive))
        await #expect(throws: cannotDerive) { try await token.prove() }
        let recipient = try #require(try await token.recipients().keys.first)
        let envelope = try JWE.seal(SecretBytes(text: "sale"), to: recipient)
        await #expect(throws: cannotDerive) { try await token.open(envelope) { _ in nil } }
        await #expect(throws: TokenError.unfitKey("agrees", .forbidden(.sign))) { try await token.sign([1], type: "x") }
        // An AES key makes no HMAC; the answer was 0x63.
        await #expect(throws: TokenError.unfitKey("cards", .otherKind)) {
            try await token.code(of: SecretBytes(text: "card"))
        }
        let words = "\(cannotDerive)"
        #expect(words.contains("\"signs\"") && words.contains("CKA_DERIVE") && !words.contains("0x"))
    }

    @Test func `what is malformed is refused before the token is asked`() async throws {
        let soft = try SoftToken()
        try soft.makeKey("shop")
        let token = try Token(
            soft.settings {
                $0.module = SoftToken.spy
                $0.recipients = [TokenKey(label: "shop")]
            })
        let key = try #require(await token.recipients().keys.first)
        let good = try JWE.seal(SecretBytes(text: "x"), to: key)
        let before = try SoftToken.calls().count
        #expect(try await token.open(good).text == "x")
        let calls = try SoftToken.calls()
        let asked = calls.dropFirst(before)
        let work = ["C_DeriveKey", "C_GetAttributeValue", "C_DestroyObject"]
        // First a look at the key itself, where the last one is a second ago.
        #expect(Array(asked) == work || Array(asked) == ["C_GetAttributeValue"] + work, "\(asked)")

        let parts = good.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        let headerText = try #require(Base64URL.decode(parts[0].utf8))
        let header = try #require(try JSONSerialization.jsonObject(with: Data(headerText)) as? [String: Any])
        func altered(_ change: (inout [String: Any]) -> Void, key: String? = nil) throws -> String {
            var changed = header
            change(&changed)
            let text = try JSONSerialization.data(withJSONObject: changed, options: [.sortedKeys])
            return ([Base64URL.string(text), key ?? parts[1]] + parts[2...]).joined(separator: ".")
        }
        func point(_ change: (inout [String: Any]) -> Void) throws -> String {
            try altered { header in
                var point = header["epk"] as? [String: Any] ?? [:]
                change(&point)
                header["epk"] = point
            }
        }
        let x = try #require((header["epk"] as? [String: Any])?["x"] as? String)
        let cases: [(String, String, TokenError)] = [
            ("empty", "", .envelope(.malformedToken)),
            ("four parts", parts.dropLast().joined(separator: "."), .envelope(.malformedToken)),
            ("padding", good + "=", .envelope(.malformedToken)),
            ("no JSON", (["AAAA"] + parts[1...]).joined(separator: "."), .envelope(.malformedHeader(member: "(all)"))),
            ("alg", try altered { $0["alg"] = "dir" }, .envelope(.unsupportedAlgorithm("dir"))),
            ("RSA1_5", try altered { $0["alg"] = "RSA1_5" }, .envelope(.unsupportedAlgorithm("RSA1_5"))),
            ("alg of RSA", try altered { $0["alg"] = "RSA-OAEP-256" }, .envelope(.wrongKey)),
            ("enc", try altered { $0["enc"] = "A128CBC-HS256" }, .envelope(.unsupportedEncryption("A128CBC-HS256"))),
            ("zip", try altered { $0["zip"] = "DEF" }, .envelope(.unsupportedHeader(member: "zip"))),
            ("crit", try altered { $0["crit"] = ["exp"] }, .envelope(.unsupportedHeader(member: "crit"))),
            ("no kid", try altered { $0["kid"] = nil }, .envelope(.malformedHeader(member: "kid"))),
            ("kid", try altered { $0["kid"] = "other" }, .unknownKey("other")),
            ("no epk", try altered { $0["epk"] = nil }, .envelope(.malformedHeader(member: "epk"))),
            ("curve", try point { $0["crv"] = "P-384" }, .envelope(.malformedHeader(member: "epk"))),
            ("short x", try point { $0["x"] = String(x.dropLast(2)) }, .envelope(.malformedHeader(member: "epk"))),
            ("off the curve", try point { $0["y"] = x }, .envelope(.malformedHeader(member: "epk"))),
            ("wrapped key where none belongs", try altered({ _ in }, key: "AAAA"), .envelope(.malformedToken)),
            (
                "no wrapped key", try altered { $0["alg"] = "ECDH-ES+A256KW" }, .envelope(.malformedToken)
            ),
            (
                "too long",
                parts[0] + "." + parts[1] + "." + parts[2] + "."
                    + String(repeating: "A", count: 32 * 1_024) + "." + parts[4], .envelope(.malformedToken)
            ),
            (
                "X25519",
                try point {
                    $0 = ["kty": "OKP", "crv": "X25519", "x": Base64URL.string([9] + [UInt8](repeating: 0, count: 31))]
                }, .envelope(.wrongKey)
            ),
        ]
        for (name, envelope, error) in cases {
            await #expect(throws: error, "\(name)") { try await token.open(envelope) }
        }
        #expect(try SoftToken.calls().count == calls.count)
        // What only the token can find out is asked of it, and is one error.
        let last = try #require(parts[3].last)
        let changed = [parts[0], parts[1], parts[2], parts[3].dropLast() + (last == "A" ? "Q" : "A"), parts[4]]
            .map { String($0) }.joined(separator: ".")
        await #expect(throws: TokenError.self) { try await token.open(changed) }
        #expect(try await token.open(good).text == "x")
    }
}
