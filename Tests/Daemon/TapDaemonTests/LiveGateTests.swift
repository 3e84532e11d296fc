// SPDX-License-Identifier: Apache-2.0
import Configuration
import Envelope
import Foundation
import PaymentValues
import Profile
import StoreAndForward
import Testing

@testable import TapDaemon

@Suite("What has to be right before a live payment")
struct LiveGateTests {
    private let service = PaymentService()
    private let start = Timestamp(milliseconds: 1_772_000_000_000)

    private func signed(_ json: String) throws -> ProfileInForce {
        let token = try JWS.sign(Array(json.utf8), key: service.key, type: SignedProfile.type)
        return ProfileInForce(try SignedProfile(token: token, key: service.key.verificationKey))
    }

    /// What is missing, of everything, after `change`.
    private func refusal(
        _ replacements: [(String, String)] = [], accepted: Bool = true, acknowledgement: String? = nil,
        key: VerificationKey? = nil, recipient: RecipientKey? = nil, version: String = "0.1.0",
        after seconds: Int64 = 60
    ) throws -> ErrorDetail? {
        let gate = LiveGate(
            version: version, key: key ?? service.key.verificationKey,
            acknowledgement: acknowledgement ?? ProfileSettings.acknowledgement(for: PaymentService.merchant),
            inForce: try signed(service.json(from: start, replacements)), isAccepted: accepted, failure: nil,
            recipient: recipient)
        return gate.obstacle(at: start.advanced(bySeconds: seconds)).map { ErrorDetail(of: $0) }
    }

    @Test func `with terms, profile, keys and acknowledgement nothing is missing`() throws {
        #expect(try refusal() == nil)
    }

    @Test func `without a profile the reason is that, or why the last one is not used`() {
        var gate = LiveGate(
            version: "0.1.0", key: service.key.verificationKey, acknowledgement: nil, inForce: nil, isAccepted: false,
            failure: nil, recipient: nil)
        #expect(gate.obstacle(at: start) == .noProfile)
        let failure = ProfileError.empty("merchant.country")
        gate = LiveGate(
            version: "0.1.0", key: service.key.verificationKey, acknowledgement: nil, inForce: nil, isAccepted: false,
            failure: failure, recipient: nil)
        #expect(gate.obstacle(at: start) == .profile(failure))
        #expect(ErrorDetail(of: .profile(failure)) == ErrorDetail(.credentialInvalid, field: "merchant.country"))
        #expect(ErrorDetail(of: .noProfile).code == "credential.missing")
    }

    @Test func `an unsigned profile does not count`() throws {
        let profile = try Profile(json: Array(service.json(from: start).utf8))
        let gate = LiveGate(
            version: "0.1.0", key: service.key.verificationKey,
            acknowledgement: ProfileSettings.acknowledgement(for: PaymentService.merchant),
            inForce: ProfileInForce(unsigned: profile), isAccepted: true, failure: nil, recipient: nil)
        #expect(gate.obstacle(at: start) == .noProfile)
    }

    @Test("Requirement 5: the version is asked for before the terms, the terms before the configuration")
    func order() throws {
        let newer = [(#""minimum": "0.1.0""#, #""minimum": "0.2.0""#)]
        #expect(try refusal(newer, accepted: false, acknowledgement: "no")?.code == "reader.unsupported")
        #expect(
            try refusal(newer, accepted: false, acknowledgement: "no", version: "0.2.0")?.code == "terms.not_accepted")
        #expect(try refusal(newer, acknowledgement: "no", version: "0.2.0")?.code == "live.not_acknowledged")
        #expect(try refusal(newer, version: "0.2.0") == nil)
    }

    @Test func `a contract that the payment service has ended is no contract, accepted or not`() throws {
        #expect(try refusal([(#""revoked": false"#, #""revoked": true"#)])?.code == "terms.revoked")
    }

    @Test func `an expired profile stops live payments to the second`() throws {
        #expect(try refusal(after: 86_399) == nil)
        #expect(try refusal(after: 86_400)?.code == "credential.expired")
    }

    @Test("The acknowledgement is the whole sentence, for this merchant", arguments: ["yes", "", "M-4711"])
    func acknowledgement(text: String) throws {
        let refusal = try refusal(acknowledgement: text)
        #expect(refusal?.code == "live.not_acknowledged" && refusal?.field == "live.acknowledgement")
        let other = ProfileSettings.acknowledgement(for: "M-4712")
        #expect(try self.refusal(acknowledgement: other)?.code == "live.not_acknowledged")
    }

    @Test func `test keys and the test CA are refused by name`() throws {
        #expect(try refusal(key: .sandboxTest)?.field == "profile.key")
        #expect(try refusal(recipient: .sandboxTest)?.field == "recipientKeys")
        let testKey = [(#""kid":"live-1""#, #""kid":"test-1""#)]
        let refusedKey = try refusal(testKey)
        #expect(refusedKey?.code == "live.test_key" && refusedKey?.field == "recipientKeys")
        let testCA = [(#""environment": "live""#, #""environment": "test""#)]
        let refusedCA = try refusal(testCA)
        #expect(refusedCA?.code == "live.test_key" && refusedCA?.field == "terminal.environment")
    }

    @Test func `B2 a published test key is refused under any name, wherever it stands`() throws {
        func renamed(_ jwk: String) -> String {
            jwk.replacing(/"kid":"[^"]*"/, with: #""kid":"live-2026""#)
        }
        let profileKey = try VerificationKey(jwk: Array(renamed(VerificationKey.sandboxTest.jwk).utf8))
        #expect(try refusal(key: profileKey)?.field == "profile.key")
        let recipient = try RecipientKey(jwk: Array(renamed(RecipientKey.sandboxTest.jwk).utf8))
        #expect(try refusal(recipient: recipient)?.field == "recipientKeys")
        let json = try service.json(from: start)
        // As the second of the set, too: the adapter may choose among them.
        let set = try refusal([(service.recipient, "\(service.recipient),\(recipient.jwk)")])
        #expect(set?.code == "live.test_key" && set?.field == "recipientKeys")
        let receipts = try #require(try Profile(json: Array(json.utf8)).receiptTokenKey?.jwk)
        let signed = try refusal([(receipts, renamed(SandboxReceipts.publicJWK))])
        #expect(signed?.code == "live.test_key" && signed?.field == "receiptTokenKey", "\(receipts)")
    }

    @Test func `a recipient key whose time is over is not sealed to`() throws {
        let old = [(#""kid":"live-1""#, #""kid":"live-1","exp":1772000030"#)]
        #expect(try refusal(old, after: 10) == nil)
        #expect(try refusal(old, after: 60)?.code == "envelope.key_unusable")
    }
}
