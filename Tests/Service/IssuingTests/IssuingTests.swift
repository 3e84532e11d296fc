// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Crypto
import Envelope
import Foundation
import PaymentValues
import Profile
import StoreAndForward
import TestSupport
import Testing

@testable import Issuing

@Suite("Issuing profiles")
struct IssuingTests {
    private let now = Timestamp("2026-11-23T10:00:00.250Z") ?? Timestamp(milliseconds: 0)
    private let key = SigningKey()

    private func example(_ change: (inout [String: Any]) -> Void = { _ in }) throws -> [UInt8] {
        let text = try Checkout.text("docs/examples/profile-marketplace.json")
        var object = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        change(&object)
        return Array(try JSONSerialization.data(withJSONObject: object))
    }

    private func draft(_ change: (inout [String: Any]) -> Void = { _ in }) throws -> ProfileDraft {
        try ProfileDraft(json: example(change), name: "example")
    }

    private func folder() -> String { FileManager.default.temporaryDirectory.appending(path: "issued-\(UUID())").path }

    private func member(_ object: inout [String: Any], _ name: String, _ change: (inout [String: Any]) -> Void) {
        var inner = object[name] as? [String: Any] ?? [:]
        change(&inner)
        object[name] = inner
    }

    /// What becomes of the example with more keys in its set.
    private func example(adding jwk: String) throws -> [UInt8] {
        let key = try JSONSerialization.jsonObject(with: Data(jwk.utf8))
        return try example {
            self.member(&$0, "recipientKeys") { $0["keys"] = ($0["keys"] as? [Any] ?? []) + [key] }
        }
    }

    /// As Authlib 1.9.10 writes it: a coordinate of 31 bytes (RFC 7518 §6.2.1.2 has 32).
    private static let short = """
        {"crv":"P-256","x":"NB5Ssc7mJJ98muDXXnC0ryvUSBPiR_SgmGW1quqJFA","y":"NwAccVDlB75MbGs8yrKGqEN2dZK7bhZV4UAtvTslc5U",\
        "kty":"EC","use":"enc","kid":"shop-2026-12"}
        """

    @Test("M6: a key that tills pass over keeps a profile from being signed, unless somebody says that it is meant")
    func refusedKeys() async throws {
        let store = folder()
        defer { try? FileManager.default.removeItem(atPath: store) }
        let json = try example(adding: Self.short)
        let error = #expect(throws: IssuingError.self) { try ProfileDraft.check(json) }
        let words = "\(try #require(error))"
        #expect(words.contains(#"keys[1] "shop-2026-12": member x has 31 bytes"#), "\(words)")
        #expect(words.contains("--allow-refused-keys"))
        #expect(try ProfileDraft.check(json, .areMeant).recipientKeys.refusals.count == 1)
        let (profiles, draft) = (try IssuedProfiles(store), try ProfileDraft(json: json, name: "example"))
        await #expect(throws: IssuingError.self) {
            try await profiles.issue(draft, at: now, days: 30, key: .file(key), proof: .elsewhere)
        }
        let meant = try await profiles.issue(
            draft, at: now, days: 3, key: .file(key), proof: .elsewhere, refusedKeys: .areMeant)
        #expect(meant.profile.serial == 1)
        let later = now.advanced(bySeconds: 3_600)
        await #expect(throws: IssuingError.self) {
            try await profiles.renew(
                before: later.advanced(bySeconds: 30 * 86_400), at: later, days: 30, key: .file(key), proof: .elsewhere)
        }
        // A contract can be ended all the same.
        let ended = try await profiles.revoke(
            "sandbox-merchant", at: later, days: 30, key: .file(key), proof: .elsewhere)
        #expect(ended.profile.terms.isRevoked)
    }

    @Test("M5: a profile with a private recipient key is wrong, by its name, whatever is allowed")
    func privateKey() throws {
        // As jwcrypto 1.6.1 exports a key unless it is told otherwise.
        let json = try example(
            adding: """
                {"crv":"P-256","d":"GHMS6gEihJitpMtaiZkPkfvl8rQJn1dSRif8txcDOrw","kid":"shop-2026-12","kty":"EC","use":"enc",\
                "x":"EFce7Buczzih9ouRhOoLp7xaIq8bch9zg9zKVsTI5uw","y":"EwBXu3U2MdoNGRf2fItnjCOFV02rvgQ0MjsgwLKT77M"}
                """)
        for rule in [ProfileDraft.RefusedKeys.areWrong, .areMeant] {
            #expect(
                throws: IssuingError.profile(
                    .recipientKey("recipientKeys", .privateKeyInSet(#"keys[1] "shop-2026-12""#)))
            ) { try ProfileDraft.check(json, rule) }
        }
    }

    @Test func `serials grow, tokens are kept, and a daemon takes one after the other`() async throws {
        let store = folder()
        defer { try? FileManager.default.removeItem(atPath: store) }
        let profiles = try IssuedProfiles(store)
        let first = try await profiles.issue(
            draft(), at: now, days: 30, key: .file(key), proof: .elsewhere)
        #expect(first.profile.serial == 1 && first.profile.issuedAt.description.hasPrefix("2026-11-23T10:00:00"))
        #expect(first.profile.expiresAt == first.profile.issuedAt.advanced(bySeconds: 30 * 86_400))
        let second = try await profiles.issue(
            draft {
                $0["currencies"] = ["EUR"]; self.member(&$0, "offline") { _ in }; $0["offline"] = nil
            },
            at: now.advanced(bySeconds: 1), days: 30, key: .file(key), proof: .elsewhere)
        let (one, two) = try (
            SignedProfile(token: first.token, key: key.verificationKey),
            SignedProfile(token: second.token, key: key.verificationKey)
        )
        #expect(try two.replaces(one) && second.profile.serial == 2)
        #expect(throws: ProfileError.older(1, than: 2)) { try one.replaces(two) }
        #expect(try profiles.latest("sandbox-merchant")?.token == second.token)
        #expect(try String(contentsOfFile: store + "/sandbox-merchant/1.jws", encoding: .utf8) == first.token + "\n")

        for serial: UInt64 in [1, 2] {
            await #expect(throws: IssuingError.serialUsed(serial)) {
                try await profiles.issue(
                    draft(), serial: serial, at: now.advanced(bySeconds: 2), days: 30, key: .file(key),
                    proof: .elsewhere)
            }
        }
        await #expect(throws: IssuingError.clock(last: second.profile.issuedAt)) {
            try await profiles.issue(
                draft(), at: now.advanced(bySeconds: -60), days: 30, key: .file(key), proof: .elsewhere)
        }
        #expect(throws: IssuingError.storeInUse) { try IssuedProfiles(store) }
        // A serial that was taken and not signed is never signed any more.
        try Data("{}".utf8).write(to: URL(filePath: store + "/sandbox-merchant/9.json"))
        let next = try await profiles.issue(
            draft(), at: now.advanced(bySeconds: 3), days: 30, key: .file(key), proof: .elsewhere)
        #expect(next.profile.serial == 10)
    }

    @Test func `what a daemon or a shop would be hurt by is not signed`() async throws {
        let store = folder()
        defer { try? FileManager.default.removeItem(atPath: store) }
        let profiles = try IssuedProfiles(store)
        func refusal(
            _ change: @escaping (inout [String: Any]) -> Void, days: Int64 = 30, proof: RecipientProof = .elsewhere
        )
            async throws -> IssuingError?
        {
            let draft = try draft(change)
            do throws(IssuingError) {
                _ = try await profiles.issue(draft, at: now, days: days, key: .file(key), proof: proof)
                return nil
            } catch {
                return error
            }
        }
        #expect(try await refusal({ _ in }, days: 1) == .lifetime(days: 1))
        #expect(try await refusal({ _ in }, days: 36) == .lifetime(days: 36))
        #expect(try await refusal { $0["currencys"] = ["EUR"] }.map { "\($0)".contains("currencys") } == true)
        #expect(try await refusal({ _ in }, proof: .files([])) == .recipientNotProven("test-nfc-tap-sandbox-1"))
        func live(_ object: inout [String: Any]) {
            member(&object, "terminal") {
                $0["environment"] = "live"
                $0["caKeys"] = [String]()
            }
        }
        #expect(try await refusal { live(&$0) } == .testKey("test-nfc-tap-sandbox-1"))
        #expect(
            try await refusal { self.member(&$0, "merchant") { $0["id"] = "../other" } } == .merchantName("../other"))
        #expect(profiles.merchants == [])
        #expect(throws: IssuingError.notJSON("x")) { try ProfileDraft(json: Array(#"{"a":1,"a":2}"#.utf8), name: "x") }
        #expect(throws: IssuingError.notJSON("x")) { try ProfileDraft(json: Array(#"{"a":1.5}"#.utf8), name: "x") }
    }

    @Test func `a recipient's private half is shown by opening what is sealed to it`() async throws {
        let secret = P256.KeyAgreement.PrivateKey()
        let point = Array(secret.publicKey.rawRepresentation)
        let (x, y) = (Base64URL.string(point.prefix(32)), Base64URL.string(point.suffix(32)))
        func key(_ d: [UInt8]) throws -> RecipientPrivateKey {
            let jwk =
                #"{"kty":"EC","crv":"P-256","kid":"shop-1","x":"\#(x)","y":"\#(y)","d":"\#(Base64URL.string(d))"}"#
            return try RecipientPrivateKey(jwk: SecretBytes(Array(jwk.utf8)))
        }
        let own = try key(Array(secret.rawRepresentation))
        let recipient = try #require(own.publicKey)
        try await RecipientProof.files([own]).prove([recipient])
        await #expect(throws: IssuingError.recipientNotProven("test-nfc-tap-sandbox-1")) {
            try await RecipientProof.files([own]).prove([recipient, .sandboxTest])
        }
    }

    @Test func `a renewal is the same content with a new serial, and only for what ends soon`() async throws {
        let store = folder()
        defer { try? FileManager.default.removeItem(atPath: store) }
        let profiles = try IssuedProfiles(store)
        let template = try draft { $0["merchant"] = nil }
        let list = """
            id,displayName,addressLine1,country\r
            shop-1,"Corner, Shop",Street 1,276\r
            shop-2,"The ""Other""
            One",,40\r
            """
        let drafts = try MerchantList.drafts(Array(list.utf8), template: template)
        for (index, draft) in drafts.enumerated() {
            _ = try? await profiles.issue(
                draft, at: now, days: index == 0 ? 9 : 30, key: .file(key), proof: .elsewhere)
        }
        // A line end is nothing for a receipt.
        #expect(profiles.merchants == ["shop-1"])
        #expect(try profiles.latest("shop-1")?.profile.merchant.displayName == "Corner, Shop")
        let other = try MerchantList.drafts(Array("id,displayName,country\nshop-2,Two,40\n".utf8), template: template)
        _ = try await profiles.issue(
            try #require(other.first), at: now, days: 30, key: .file(key), proof: .elsewhere)

        let later = now.advanced(bySeconds: 86_400)
        let renewed = try await profiles.renew(
            before: later.advanced(bySeconds: 10 * 86_400), at: later, days: 30, key: .file(key), proof: .elsewhere)
        #expect(renewed.map(\.profile.merchant.id) == ["shop-1"] && renewed.map(\.profile.serial) == [2])
        let before = Array(try Data(contentsOf: URL(filePath: store + "/shop-1/1.json")))
        let changes = try ProfileDraft.differences(before, try #require(renewed.first).payload)
        #expect(changes.map { String($0.prefix { $0 != ":" }) } == ["expiresAt", "issuedAt", "serial"])
        #expect(changes.last == "serial: 1 → 2")

        let revoked = try await profiles.revoke(
            "shop-1", at: later.advanced(bySeconds: 5), days: 30, key: .file(key), proof: .elsewhere)
        #expect(revoked.profile.terms.isRevoked && revoked.profile.serial == 3)
        await #expect(throws: IssuingError.noProfile(merchant: "shop-9")) {
            try await profiles.revoke("shop-9", at: later, days: 30, key: .file(key), proof: .elsewhere)
        }
        // The room Profile reads the acceptance back, and only for these terms.
        let accepted = try await profiles.acceptance("shop-2", by: "Erika Muster", at: later, key: .file(key))
        let latest = try profiles.latest("shop-2")
        let file = try AcceptanceFile(
            token: accepted, key: key.verificationKey, for: try #require(latest).profile)
        #expect(file.acceptedBy == "Erika Muster")
    }

    @Test func `lists with something wrong name the line, and templates keep off what the list says`() throws {
        let template = try draft { $0["merchant"] = nil }
        for (list, line) in [
            ("", 1), ("id,name\n", 1), ("id,id\n", 1), ("id,country\na,1\nb\n", 3), ("id,country\na,1\na,2\n", 3),
            ("id,country\na,x\n", 2), ("id,country\n\"a,1\n", 2), ("id,country\na\"b,1\n", 2),
        ] {
            let error = #expect(throws: IssuingError.self, "\(list)") {
                try MerchantList.drafts(Array(list.utf8), template: template)
            }
            guard case .merchantList(line, _)? = error else {
                Issue.record("\(list): \(String(describing: error))")
                continue
            }
        }
        #expect(throws: IssuingError.memberOfTemplate("merchant")) {
            try MerchantList.drafts(Array("id,country\na,1\n".utf8), template: draft())
        }
    }

    @Test func `K20: a list is read as spreadsheets write it, and no letter is signed as a question mark`() throws {
        let template = try draft { $0["merchant"] = nil }
        let head = "id,displayName,country"
        for list in [
            "\u{FEFF}\(head)\r\n1,Café,056\r\n,,\r\n", "\u{FEFF}\"id\",\"displayName\",\"country\"\r\n1,Café,56",
        ] {
            let drafts = try MerchantList.drafts(Array(list.utf8), template: template)
            #expect(
                drafts.map { $0.content["merchant"] } == [
                    .object(["id": .text("1"), "displayName": .text("Café"), "country": .number(56)])
                ])
        }
        // Excel's "CSV" on a Western European Windows, and a German one's separators.
        let western = Array("\(head)\n1,Caf".utf8) + [0xE9] + Array(",56\n".utf8)
        for (list, line, word) in [(western, 2, "UTF-8"), (Array("id;country\n1;56\n".utf8), 1, "commas")] {
            let error = #expect(throws: IssuingError.self) { try MerchantList.drafts(list, template: template) }
            guard case .merchantList(line, let words)? = error, words.contains(word) else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
    }

    @Test func `a receipt is one that a daemon lets stored payments go for`() async throws {
        let installation = SigningKey()
        let batch = try SignedBatch(id: "b-1", records: [], createdAt: now, key: installation)
        let exported = QueueBatch(
            id: "b-1", count: 0, hash: batch.content.hash, createdAt: now, records: [], signature: batch.signature,
            key: installation.verificationKey.jwk)
        let json = try WireJSON.encode(exported)
        let receipt = try await BatchReceipts.sign(
            json, of: installation.verificationKey, key: .file(key), at: now, hours: 24)
        #expect(
            BatchReceipt.refusal(
                of: receipt, for: ("b-1", 0, batch.content.hash), key: key.verificationKey, now: now) == nil)
        await #expect(throws: IssuingError.batch) {
            try await BatchReceipts.sign(json, of: SigningKey().verificationKey, key: .file(key), at: now, hours: 24)
        }
    }
}
