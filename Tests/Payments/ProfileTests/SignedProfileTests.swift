// SPDX-License-Identifier: Apache-2.0
import PaymentValues
import Testing

@testable import Envelope
@testable import Profile

struct SignedProfileTests {
    private let key = SigningKey()

    private func profile(_ replacements: (old: String, new: String)) throws -> SignedProfile {
        try SignedProfile(
            token: Example.signed(Example.bytes(replacements), by: key), key: key.verificationKey)
    }

    private func example() throws -> SignedProfile { try profile((#""serial": 7"#, #""serial": 7"#)) }

    @Test func `a profile under the pinned key's signature is read`() throws {
        #expect(try example().profile.merchant.displayName == "Corner Shop")
    }

    @Test func `a profile of another key, of another type or with a changed byte is not read`() throws {
        let json = try Example.bytes()
        let other = SigningKey()
        var error = #expect(throws: ProfileError.self) {
            try SignedProfile(token: Example.signed(json, by: other), key: key.verificationKey)
        }
        #expect(error == .untrusted(.wrongKey))
        error = #expect(throws: ProfileError.self) {
            try SignedProfile(
                token: Example.signed(json, by: key, type: AcceptanceFile.type), key: key.verificationKey)
        }
        #expect(error == .untrusted(.wrongType(AcceptanceFile.type)) && error?.field == "header.typ")
        let parts = try Example.signed(json, by: key).split(separator: ".")
        let changed = Base64URL.string(try Example.bytes((#""amount": 2500"#, #""amount": 9500"#)))
        error = #expect(throws: ProfileError.self) {
            try SignedProfile(token: "\(parts[0]).\(changed).\(parts[2])", key: key.verificationKey)
        }
        #expect(error == .untrusted(.notAuthentic))
    }

    @Test func `F6 a profile without typ is refused for that, although its signature is the right one`() throws {
        let header = #"{"alg":"ES256","kid":"\#(key.keyID)"}"#
        let signed = Base64URL.string(header.utf8) + "." + Base64URL.string(try Example.bytes())
        let token = signed + "." + Base64URL.string(try key.signature(of: Array(signed.utf8)))
        let error = #expect(throws: ProfileError.self) { try SignedProfile(token: token, key: key.verificationKey) }
        #expect(error == .untrusted(.malformedHeader(member: "typ")) && error?.field == "header.typ")
    }

    @Test func `a signed profile with a fault is refused with its member`() throws {
        let error = #expect(throws: ProfileError.self) { try profile((#""country": 276"#, #""country": 0"#)) }
        #expect(error?.field == "merchant.country")
    }

    @Test func `only a newer profile takes the place of one, and the same one signed again is no new one`() throws {
        let current = try example()
        let newer = try profile((#""serial": 7"#, #""serial": 8"#))
        #expect(try newer.replaces(current))
        #expect(try !example().replaces(current))
        var error = #expect(throws: ProfileError.self) { try current.replaces(newer) }
        #expect(error == .older(7, than: 8) && error?.field == "serial")
        error = #expect(throws: ProfileError.self) {
            try profile((#""count": 50"#, #""count": 51"#)).replaces(current)
        }
        #expect(error == .sameSerial(7))
    }
}

struct AcceptanceFileTests {
    private let key = SigningKey()

    private func file(_ change: (inout [String: String]) -> Void = { _ in }) throws -> AcceptanceFile {
        let profile = try Profile(json: Example.bytes())
        var members = [
            "version": "1", "merchant": #""sandbox-merchant""#, "termsHash": "\"\(profile.terms.hash)\"",
            "acceptedBy": #""Erika Muster, owner""#, "acceptedAt": #""2026-03-02T10:00:00Z""#,
        ]
        change(&members)
        let json = "{" + members.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
        let token = try JWS.sign(Array(json.utf8), key: key, type: AcceptanceFile.type)
        return try AcceptanceFile(token: token, key: key.verificationKey, for: profile)
    }

    @Test("Requirement 4: an acceptance that was given elsewhere is read from a signed file")
    func accepted() throws {
        let file = try file()
        #expect(file.acceptedBy == "Erika Muster, owner")
        #expect(file.acceptedAt.description == "2026-03-02T10:00:00.000Z")
    }

    @Test("Requirement 6: an acceptance for another merchant does not count")
    func otherMerchant() {
        let error = #expect(throws: ProfileError.self) { try file { $0["merchant"] = #""other""# } }
        #expect(error == .otherTerms("merchant"))
    }

    @Test func `an acceptance of other terms does not count`() {
        let error = #expect(throws: ProfileError.self) {
            try file { $0["termsHash"] = "\"" + String(repeating: "0", count: 64) + "\"" }
        }
        #expect(error == .otherTerms("termsHash"))
    }

    @Test("Every missing or unknown member is named", arguments: ["version", "merchant", "termsHash", "acceptedBy"])
    func members(name: String) {
        let missing = #expect(throws: ProfileError.self) { try file { $0[name] = nil } }
        #expect(missing?.field == name)
        let unknown = #expect(throws: ProfileError.self) { try file { $0[name + "s"] = "1" } }
        #expect(unknown?.field == name + "s")
    }
}
