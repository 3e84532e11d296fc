// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Crypto
import Envelope
import Foundation
import HSM
import Synchronization
import TestSupport
import Testing

@Suite(.serialized)
struct TokenStatementTests {
    private static let verifying = """
        import sys, json
        from joserfc import jws
        from joserfc.jwk import import_key
        request = json.load(sys.stdin)
        statement = jws.deserialize_compact(request["token"], import_key(request["key"]), algorithms=["ES256"])
        json.dump({"payload": statement.payload.decode(), "header": statement.headers()}, sys.stdout)
        """

    @Test func `joserfc believes what the token signs`() async throws {
        let soft = try SoftToken()
        let token = try Token(
            soft.settings {
                $0.mayMakeKeys = true
                $0.signer = TokenKey(label: "profiles-2026")
            })
        try await token.make(TokenKey(label: "profiles-2026"), signs: true)
        await #expect(throws: TokenError.unfitKey("profiles-2026", .ambiguous)) {
            try await token.make(TokenKey(label: "profiles-2026"), signs: true)
        }
        let statement = try await token.sign(Array(#"{"serial":7}"#.utf8), type: "nfc-tap-profile+jws")
        let key = try await token.verificationKey()
        let jwk = try #require(try JSONSerialization.jsonObject(with: Data(key.jwk.utf8)) as? [String: Any])
        let answer = try SoftToken.python(Self.verifying, ["token": statement, "key": jwk])
        #expect(answer["payload"] as? String == #"{"serial":7}"#)
        #expect((answer["header"] as? [String: String])?["typ"] == "nfc-tap-profile+jws")
        let payload = try JWS.verify(statement, with: key, type: "nfc-tap-profile+jws")
        #expect(payload == Array(#"{"serial":7}"#.utf8))
        // pkcs11-tool says what was made.
        let list = String(decoding: try soft.tool(["--list-objects", "--type", "privkey"]), as: UTF8.self)
        #expect(list.contains("never extractable") && list.contains("always sensitive"))
        #expect(list.contains("sign") && !list.contains("derive"))
    }

    @Test func `a pair that was made to agree opens envelopes and does not sign`() async throws {
        let soft = try SoftToken()
        let key = TokenKey(label: "shop-2026-11")
        let token = try Token(
            soft.settings {
                $0.mayMakeKeys = true
                $0.recipients = [key]
                $0.signer = key
            })
        try await token.make(key, signs: false)
        try await token.prove()
        await #expect(throws: TokenError.self) { try await token.sign([1], type: "x") }
    }

    @Test func `codes are those that pkcs11-tool gets from the same key`() async throws {
        let soft = try SoftToken()
        let key = TokenKey(label: "cards", id: [5], kind: .secret)
        let token = try Token(
            soft.settings {
                $0.mayMakeKeys = true
                $0.cardTokens = key
            })
        try await token.make(key, signs: true)
        let message = Array("M-4711\u{0}4761739001010119\u{0}".utf8)
        let (given, written) = try (SoftToken.file("message"), SoftToken.file("code"))
        try Data(message).write(to: given)
        try soft.tool([
            "--sign", "--mechanism", "SHA256-HMAC", "--id", "05", "--input-file", given.path, "--output-file",
            written.path,
        ])
        #expect(try await token.code(of: SecretBytes(message)) == Array(Data(contentsOf: written)))
        #expect(try await token.code(of: SecretBytes(message + [1])) != Array(Data(contentsOf: written)))
        let without = try Token(soft.settings())
        await #expect(throws: TokenError.unknownKey("card tokens")) { try await without.code(of: SecretBytes(message)) }
    }

    @Test func `the books are sealed with the month's key, and what older ones sealed opens`() async throws {
        let soft = try SoftToken()
        let month = Mutex("2026-10")
        let token = try Token(
            soft.settings { settings in
                settings.mayMakeKeys = true
                settings.books = "books-"
                settings.sessions = 1
            }.with { month.withLock { $0 } })
        let number = SecretBytes(text: "4761739001010119")
        await #expect(throws: TokenError.unfitKey("books-2026-10", .missing)) { try await token.seal(number, for: "a") }
        try await token.make(TokenKey(label: "books-2026-10", kind: .secret), signs: false)
        try await token.make(TokenKey(label: "books-2026-11", kind: .secret), signs: false)
        let october = try await token.seal(number, for: "a")
        month.withLock { $0 = "2026-11" }
        let november = try await token.seal(number, for: "a")
        #expect(String(decoding: october, as: UTF8.self).contains("books-2026-10"))
        #expect(String(decoding: november, as: UTF8.self).contains("books-2026-11"))
        // A month without a key of its own goes on with the last one.
        month.withLock { $0 = "2026-12" }
        #expect(String(decoding: try await token.seal(number, for: "a"), as: UTF8.self).contains("books-2026-11"))
        for sealed in [october, november] {
            #expect(try await token.unseal(sealed, for: "a").text == "4761739001010119")
            await #expect(throws: TokenError.envelope(.notAuthentic)) { try await token.unseal(sealed, for: "b") }
            var changed = sealed
            changed[changed.count - 1] ^= 1
            await #expect(throws: TokenError.envelope(.notAuthentic)) { try await token.unseal(changed, for: "a") }
        }
        #expect(try await token.seal(number, for: "a") != november)
        try soft.tool(["--delete-object", "--type", "secrkey", "--label", "books-2026-10"])
        let later = try Token(soft.settings { $0.books = "books-" })
        await #expect(throws: TokenError.unknownKey("books-2026-10")) { try await later.unseal(october, for: "a") }
        #expect(try await later.unseal(november, for: "a").text == "4761739001010119")
        for length in 0..<40 {
            await #expect(throws: TokenError.self) { try await later.unseal(Array(november.prefix(length)), for: "a") }
        }
    }

    @Test func `keys from a file do the same as keys in a token`() async throws {
        let secret = P256.KeyAgreement.PrivateKey()
        let point = Array(secret.publicKey.rawRepresentation)
        let jwk =
            #"{"kty":"EC","crv":"P-256","kid":"test-1","x":"\#(Base64URL.string(point.prefix(32)))","#
            + #""y":"\#(Base64URL.string(point.suffix(32)))","d":"\#(Base64URL.string(secret.rawRepresentation))"}"#
        let keys = try SoftwareKeys(recipients: [SecretBytes(text: jwk)], signer: SecretBytes(text: jwk))
        let key = try #require(await keys.recipients().keys.first)
        #expect(try await keys.open(JWE.seal(SecretBytes(text: "x"), to: key)).text == "x")
        #expect(try await keys.code(of: SecretBytes(text: "y")).count == 32)
        let sealed = try await keys.seal(SecretBytes(text: "z"), for: "n")
        #expect(try await keys.unseal(sealed, for: "n").text == "z")
        await #expect(throws: TokenError.envelope(.notAuthentic)) { try await keys.unseal(sealed, for: "m") }
        let statement = try await keys.sign([1, 2], type: "t")
        #expect(try JWS.verify(statement, with: try await keys.verificationKey(), type: "t") == [1, 2])
        let other = try RecipientKey(
            jwk: Array(key.jwk.replacing("test-1", with: "test-2").utf8))
        await #expect(throws: TokenError.unknownKey("test-2")) {
            try await keys.open(JWE.seal(SecretBytes(text: "x"), to: other))
        }
    }

    @Test func `a PIN is read from a file that is its owner's alone`() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "pin-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: file) }
        func write(_ text: String, _ mode: Int) throws {
            try? FileManager.default.removeItem(atPath: file)
            #expect(
                FileManager.default.createFile(
                    atPath: file, contents: Data(text.utf8), attributes: [.posixPermissions: mode]))
        }
        try write("1234\n", 0o600)
        #expect(try PINFile.read(file).text == "1234")
        try write("1234", 0o440)
        #expect(try PINFile.read(file).text == "1234")
        try write("1234\n", 0o644)
        #expect(throws: PINFile.Fault.open) { try PINFile.read(file) }
        try write("\n1234", 0o600)
        #expect(throws: PINFile.Fault.length) { try PINFile.read(file) }
        try write(String(repeating: "1", count: 300), 0o600)
        #expect(throws: PINFile.Fault.length) { try PINFile.read(file) }
        #expect(throws: PINFile.Fault.unreadable(errno: ENOENT)) { try PINFile.read(file + "-") }
    }
}

extension TokenSettings {
    func with(month: @escaping @Sendable () -> String) -> TokenSettings {
        var settings = self
        settings.month = month
        return settings
    }
}
