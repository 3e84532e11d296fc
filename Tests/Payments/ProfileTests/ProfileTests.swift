// SPDX-License-Identifier: Apache-2.0
import EMV
import EMVCrypto
import Envelope
import Foundation
import PaymentValues
import TerminalFile
import Testing

@testable import Profile

struct ProfileTests {
    private func fault(_ old: String, _ new: String) throws -> ProfileError? {
        let json = try Example.bytes((old, new))
        do throws(ProfileError) {
            _ = try Profile(json: json)
            return nil
        } catch {
            return error
        }
    }

    @Test func `a profile that was signed with the name's former member is read, and none with both`() throws {
        let name = #""serviceName": "nfc-tap sandbox""#
        let former = name.replacing("serviceName", with: "issuer")
        #expect(try Profile(json: Example.bytes((name, former))).serviceName == "nfc-tap sandbox")
        #expect(try fault(name, "\(name), \(former)") == .member(.unknown("issuer")))
        #expect(try fault("\(name),", "") == .member(.missing("serviceName")))
    }

    @Test func `every member of the example arrives`() throws {
        let profile = try Profile(json: Example.bytes())
        #expect(profile.serial == 7 && profile.serviceName == "nfc-tap sandbox")
        #expect(profile.issuedAt.description == "2026-03-01T08:00:00.000Z")
        #expect(profile.expiresAt.description == "2026-03-31T08:00:00.000Z")
        #expect(profile.merchant.id == "sandbox-merchant" && profile.merchant.displayName == "Corner Shop")
        #expect(profile.merchant.statementDescriptor == "CORNER SHOP BERLIN" && profile.merchant.country == 276)
        #expect(profile.merchant.addressLines == ["Teststrasse 1", "10115 Berlin"])
        #expect(profile.merchant.onBehalfOf == "Market Hall")
        #expect(profile.terms.version == "2026-03" && profile.terms.text.contains("example.\n\nTest"))
        #expect(profile.currencies.map(\.code) == ["EUR", "CHF", "USD", "GBP", "JPY"])
        #expect(profile.acceptedNetworks.contains("Visa") && profile.acceptedNetworks.count == 8)
        #expect(profile.terminal.configuration.combinations.count == 12 && !profile.isLive)
        #expect(profile.recipientKeys.keys == [.sandboxTest])
        #expect(profile.receiptTokenKey?.keyID == "test-nfc-tap-profile-1")
        #expect(profile.customerCharges)
        #expect(try !Profile(json: Example.bytes((#""customer": true"#, #""customer": false"#))).customerCharges)
        #expect(try !Profile(json: Example.bytes((#""charges": { "customer": true },"#, ""))).customerCharges)
        #expect(try fault(#""customer": true"#, #""customers": true"#) != nil)
        #expect(profile.software.minimum?.description == "0.1.0")
        #expect(profile.software.deprecatedFrom?.description == "2027-03-01T00:00:00.000Z")
    }

    @Test func `offline limits hold for their currencies only`() throws {
        let limits = try #require(try Profile(json: Example.bytes()).offline)
        let euro = try #require(Currency("EUR"))
        let franc = try #require(Currency("CHF"))
        #expect(limits.ceiling(for: euro) == .init(currency: euro, amount: 2_500, total: 25_000))
        #expect(limits.ceiling(for: franc) == nil)
        #expect(limits.count == 50 && limits.networks == ["Visa", "Mastercard"])
        #expect(limits.maximumAge == 86_400 && !limits.rebootAllowed)
    }

    @Test func `the terms' hash is the SHA-256 of their text, whatever their version`() throws {
        let terms = try Profile(json: Example.bytes(("These terms are an example.", "abc"))).terms
        // Computed with sha256sum.
        #expect(terms.hash == "69ff7dcac29225c5c9b0316a3c833ad708200856ef8925ad07986f58eeadbccb")
        #expect(try Profile(json: Example.bytes((#""2026-03""#, #""2026-04""#))).terms.hash == example().terms.hash)
        #expect(terms.hash != (try example().terms.hash))
    }

    private func example() throws -> Profile { try Profile(json: Example.bytes()) }

    static let faults: [(old: String, new: String, error: ProfileError)] = [
        (#""version": 1"#, #""version": 2"#, .member(.outOfRange("version", 1...1))),
        (#""serial": 7"#, #""serial": 0"#, .member(.outOfRange("serial", 1...9_007_199_254_740_991))),
        (#""serial": 7,"#, "", .member(.missing("serial"))),
        (#""serial": 7"#, #""serial": 7, "colour": 1"#, .member(.unknown("colour"))),
        (#""serviceName": "nfc-tap sandbox""#, #""serviceName": """#, .text("serviceName", bytes: 1...64)),
        (#""2026-03-01T08:00:00Z""#, #""1 March""#, .time("issuedAt")),
        (#""2026-03-31T08:00:00Z""#, #""2026-03-01T08:00:00Z""#, .period("expiresAt")),
        (#""Corner Shop""#, #""Corner\nShop""#, .text("merchant.displayName", bytes: 1...64)),
        (#""Corner Shop""#, #""Corner‮Shop""#, .text("merchant.displayName", bytes: 1...64)),
        (
            #""CORNER SHOP BERLIN""#, #""CORNER SHOP BERLIN-MITTE""#,
            .text("merchant.statementDescriptor", bytes: 1...22)
        ),
        (#""10115 Berlin""#, "5", .member(.wrongType("merchant.addressLines[1]", expected: .text))),
        (#""country": 276"#, #""country": 1000"#, .member(.outOfRange("merchant.country", 1...999))),
        (#""country": 276"#, #""country": 49"#, .member(.country("merchant.country"))),
        (
            #""9F33": "000808""#, #""9F33": "0008""#,
            .member(.terminalData("terminal.terminalData.9F33", .length(3...3)))
        ),
        (#""version": "2026-03","#, "", .member(.missing("terms.version"))),
        (#""page": "https:"#, #""page": "http:"#, .address("terms.page")),
        (#""revoked": false"#, #""acceptance": """#, .text("terms.acceptance", bytes: 1...16_384)),
        (#""revoked": false"#, #""revoked": 0"#, .member(.wrongType("terms.revoked", expected: .yesOrNo))),
        (#""EUR", "CHF""#, #""EUR", "EUR""#, .repeated("currencies[1]")),
        (#""EUR", "CHF""#, #""EUR", "XYZ""#, .currency("currencies[1]")),
        (#"["EUR", "CHF", "USD", "GBP", "JPY"]"#, "[]", .empty("currencies")),
        (
            #""Visa", "Mastercard", "Maestro""#, #""Visa", "Mastercard""#,
            .networkNotAccepted("terminal.combinations[4].aid")
        ),
        (#"["Visa""#, #"["Interac", "Visa""#, .networkWithoutApplication("acceptedNetworks[0]")),
        (#"["Visa""#, #"["visa""#, .network("acceptedNetworks[0]")),
        (
            #""environment": "test""#, #""environment": "prod""#,
            .member(.notOneOf("terminal.environment", ["test", "live"]))
        ),
        (#""environment": "test""#, #""environment": "live""#, .member(.missing("caKeys"))),
        (#""9F33": "000808""#, #""9F33": "004808""#, .member(.pinClaimed("terminal.terminalData.9F33"))),
        (
            #""kid": "test-nfc-tap-sandbox-1", "#, #""kid": "", "#,
            .recipientKey(
                "recipientKeys", .allRefused([.init(position: 0, keyID: "", reason: .malformedMember("kid"))]))
        ),
        (
            #""kid": "test-nfc-tap-profile-1", "use": "sig""#, #""use": "enc""#,
            .verificationKey("receiptTokenKey", .notForSignatures)
        ),
        (#""count": 50"#, #""count": 0"#, .member(.outOfRange("offline.count", 1...10_000))),
        (#""currency": "EUR""#, #""currency": "SEK""#, .currency("offline.ceilings[0].currency")),
        (#""currency": "JPY""#, #""currency": "EUR""#, .repeated("offline.ceilings[1].currency")),
        (
            #""total": 25000"#, #""total": 2499"#,
            .member(.outOfRange("offline.ceilings[0].total", 2_500...999_999_999_999_000))
        ),
        (#"["Visa", "Mastercard"]"#, #"["Visa", "Dankort"]"#, .networkNotAccepted("offline.networks[1]")),
        (#""maximumAge": 86400"#, #""maximumAge": 1"#, .member(.outOfRange("offline.maximumAge", 60...2_678_400))),
        (#""minimum": "0.1.0""#, #""minimum": "0.1""#, .version("software.minimum")),
    ]

    @Test("Every fault is refused with its member", arguments: faults)
    func fault(old: String, new: String, error: ProfileError) throws {
        let found = try fault(old, new)
        #expect(found == error)
        #expect(found?.field.map { found?.description.hasPrefix($0) == true } == true)
    }

    @Test func `what may be stored can be confirmed`() throws {
        let text = try Example.text()
        let start = try #require(text.range(of: #"  "receiptTokenKey""#)?.lowerBound)
        let end = try #require(text.range(of: #"  "software""#)?.lowerBound)
        let without = text[..<start] + text[end...]
        let found = #expect(throws: ProfileError.self) { try Profile(json: Array(without.utf8)) }
        #expect(found == .member(.missing("receiptTokenKey")))
    }

    @Test func `no cut of the example is taken, and none stops the program`() throws {
        let whole = try Example.bytes()
        for length in stride(from: 0, to: whole.count - 3, by: 7) {
            #expect(throws: ProfileError.self) { try Profile(json: Array(whole.prefix(length))) }
        }
    }

    @Test func `a profile counts from its issue to its expiry, with five minutes for clocks`() throws {
        let profile = try example()
        try profile.checkPeriod(at: time("2026-03-01T07:55:00Z"))
        try profile.checkPeriod(at: time("2026-03-31T07:59:59Z"))
        let early = #expect(throws: ProfileError.self) { try profile.checkPeriod(at: time("2026-03-01T07:54:59Z")) }
        #expect(early == .notYetValid(profile.issuedAt) && early?.field == "issuedAt")
        let late = #expect(throws: ProfileError.self) { try profile.checkPeriod(at: time("2026-03-31T08:00:00Z")) }
        #expect(late == .expired(profile.expiresAt))
    }

    @Test("Versions are compared number by number", arguments: ["0.1.0", "0.1.10", "0.2.0", "1.0.0", "10.0.0"])
    func versions(text: String) throws {
        let version = try #require(SoftwareVersion(text))
        #expect(version.description == text)
        #expect(version > SoftwareVersion(major: 0, minor: 1, patch: 0) || text == "0.1.0")
        for wrong in ["\(text).0", "v\(text)", "1.0", "1..0", "1.0.-1", "1.0.1234567", ""] {
            #expect(SoftwareVersion(wrong) == nil)
        }
    }
}
