// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Configuration
import Envelope
import Foundation
import PSPSandbox
import PaymentValues
import Profile
import TestSupport
import Testing

@testable import TapDaemon

/// A payment service with a key of its own, as a live one has: what it puts into a profile a test decides.
struct PaymentService: Sendable {
    static let merchant = "M-4711"
    let key = SigningKey()
    /// What card data is sealed to: the key of RFC 7517, appendix A.1, which is none of the sandbox's.
    let recipient = """
        {"kty":"EC","crv":"P-256","kid":"live-1","use":"enc","alg":"ECDH-ES",\
        "x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4","y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"}
        """

    /// The private half of `recipient`: appendix A.2.
    func recipientKey() throws -> RecipientPrivateKey {
        let jwk = recipient.dropLast() + #","d":"870MB6gfuTJ4HtUnUvYMyJpr5eUZNP4Bk43bVdj3eAE"}"#
        return try RecipientPrivateKey(jwk: SecretBytes(capacity: 512) { $0.append(contentsOf: Array(jwk.utf8)) })
    }

    /// The configuration of a shop that trusts it.
    func settings(acknowledged: Bool = true) -> ProfileSettings {
        var settings = ProfileSettings()
        settings.key = key.verificationKey
        if acknowledged { settings.acknowledgement = ProfileSettings.acknowledgement(for: Self.merchant) }
        return settings
    }

    /// The example of the documents made live, with pieces of text replaced.
    func json(serial: Int = 1, from start: Timestamp = .now, _ replacements: [(String, String)] = []) throws -> String {
        var text = try Checkout.text("docs/examples/profile-marketplace.json")
        let keys = try #require(text.range(of: #""keys": ["#))
        let after = try #require(text.range(of: #""offline""#))
        text.replaceSubrange(keys.upperBound..<after.lowerBound, with: recipient + "] },\n  ")
        let receipts = try #require(text.range(of: #""receiptTokenKey": "#))
        let software = try #require(text.range(of: #""software""#))
        text.replaceSubrange(receipts.upperBound..<software.lowerBound, with: key.verificationKey.jwk + ",\n  ")
        let all =
            [
                (#""serial": 7"#, #""serial": \#(serial)"#), ("2026-03-01T08:00:00Z", start.description),
                ("2026-03-31T08:00:00Z", start.advanced(bySeconds: 86_400).description),
                ("sandbox-merchant", Self.merchant),
                (#""environment": "test","#, #""environment": "live", "caKeys": [],"#),
            ] + replacements
        for (old, new) in all {
            try #require(text.contains(old), "\(old)")
            text = text.replacing(old, with: new, maxReplacements: 1)
        }
        return text
    }

    /// Serves this profile at the sandbox.
    func serve(_ json: String, at sandbox: Sandbox) async {
        var profile = SandboxProfile(key: key)
        profile.payload = json
        await sandbox.serve(profile)
    }
}

extension ProfileRefresh {
    /// What is told of it, where it failed.
    var code: ErrorCode? {
        if case .failed(let trouble) = self { ErrorCode(trouble) } else { nil }
    }
}
