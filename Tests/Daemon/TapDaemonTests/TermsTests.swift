// SPDX-License-Identifier: Apache-2.0
import Configuration
import Envelope
import Foundation
import LocalHTTP
import POSAPI
import PSPSandbox
import PaymentValues
import TestSupport
import Testing

@testable import TapDaemon

@Suite("Terms of the payment service", .timeLimit(.minutes(5)))
struct TermsTests {
    private func profile() throws -> SandboxProfile { SandboxProfile(key: try TestSigner.key()) }

    private func wish() -> Shop.Wish {
        var wish = Shop.Wish()
        wish.profile = ProfileSettings()
        return wish
    }

    private func post(_ shop: Shop, _ body: String) async throws -> Answer {
        let request = HTTPClientRequest(
            .post, "/v1/terms/acceptance", fields: ["Content-Type": "application/json"], body: Array(body.utf8))
        return try await shop.send(request)
    }

    private func terms(_ shop: Shop) async throws -> Terms {
        try WireJSON.decode(Terms.self, from: try await shop.get("/v1/terms").body)
    }

    @Test("Without a profile there is nothing to accept, and the answer says so")
    func nothing() async throws {
        try await Shop.open(in: try TestFolder()) { shop in
            #expect(try await terms(shop) == Terms(state: .notRequired))
            let refused = try await post(shop, #"{"hash":"00"}"#)
            #expect(refused.status == 503)
            #expect(try refused.error().code == "credential.missing")
        }
    }

    @Test("Requirement 1: terms are shown with their version and hash, and their state is told")
    func shown() async throws {
        let folder = try TestFolder()
        try await withSandbox(in: folder) { sandbox in
            await sandbox.serve(try profile())
            try await Shop.open(in: folder, wish()) { shop in
                #expect(await shop.profiles.refresh().code != .credentialMissing)
                let terms = try await terms(shop)
                #expect(terms.version == "2026-01" && terms.merchant == "sandbox-merchant")
                #expect(terms.text?.hasPrefix("Terms of the nfc-tap sandbox, version 2026-01.\n\n") == true)
                #expect(terms.hash?.count == 64 && terms.key == VerificationKey.sandboxTest.thumbprint)
                #expect(terms.state == .notRequired && terms.acceptance == nil)
            }
        }
    }

    @Test("Requirement 6: one acceptance is enough for a merchant, also after a restart")
    func once() async throws {
        let folder = try TestFolder()
        try await withSandbox(in: folder) { sandbox in
            await sandbox.serve(try profile())
            try await Shop.open(in: folder, wish()) { shop in
                _ = await shop.profiles.refresh()
                let hash = try #require(try await terms(shop).hash)
                let accepted = try await post(shop, #"{"hash":"\#(hash)"}"#)
                #expect(accepted.status == 201, "\(accepted.text)")
                let acceptance = try WireJSON.decode(TermsAcceptance.self, from: accepted.body)
                #expect(acceptance.uid == geteuid() && acceptance.source == .local && acceptance.hash == hash)
                #expect(acceptance.acceptedBy == PointOfSaleAPI.name(ofUser: geteuid()))
                #expect(try await terms(shop).acceptance == acceptance)
                let again = try await post(shop, #"{"hash":"\#(hash)"}"#)
                #expect(again.status == 409)
                #expect(try again.error().code == "terms.already_accepted")
                #expect(
                    try shop.journal("SELECT merchant, source, uid FROM terms_acceptance")
                        == "sandbox-merchant|local|\(geteuid())")
            }
            // The adapter has gone: what is known comes from the journal alone.
            await sandbox.serve(nil)
            try await Shop.open(in: folder, wish()) { shop in
                let known = try await terms(shop)
                #expect(known.state == .accepted)
            }
        }
    }

    @Test("Another text needs another acceptance, and the change is told")
    func otherText() async throws {
        let folder = try TestFolder()
        try await withSandbox(in: folder) { sandbox in
            let service = PaymentService()
            await service.serve(try service.json(serial: 1), at: sandbox)
            var wish = wish()
            wish.profile = service.settings()
            try await Shop.open(in: folder, wish) { shop in
                _ = await shop.profiles.refresh()
                let stream = try await shop.client.events(
                    HTTPClientRequest(.get, "/v1/events"), answerWithin: hangLimit)
                let first = try #require(try await terms(shop).hash)
                #expect(try await post(shop, #"{"hash":"\#(first)"}"#).status == 201)
                await service.serve(
                    try service.json(serial: 2, [("an example", "another example")]), at: sandbox)
                #expect(await shop.profiles.refresh() == .applied)
                #expect(try await terms(shop).state == .notRequired)
                #expect(try await terms(shop).acceptance == nil)
                let old = try await post(shop, #"{"hash":"\#(first)"}"#)
                #expect(old.status == 409)
                #expect(try old.error().code == "terms.other_version")
                var states: [Status.Terms] = []
                for try await sent in stream {
                    let event = try WireJSON.decode(Event.self, from: Array(sent.data.utf8))
                    if event.name == .termsChanged, let state = event.terms { states.append(state) }
                    if states.count == 2 { break }
                }
                #expect(states == [.accepted, .notRequired])
            }
        }
    }

    @Test("Requirement 4: a file that the payment service has signed accepts for a fleet, and only one that fits")
    func imported() async throws {
        let folder = try TestFolder()
        try await withSandbox(in: folder) { sandbox in
            let profile = try profile()
            await sandbox.serve(profile)
            try await Shop.open(in: folder, wish()) { shop in
                _ = await shop.profiles.refresh()
                let hash = try #require(try await terms(shop).hash)
                let wrong = [
                    try profile.acceptance(merchant: "other", hash: hash, by: "E. Muster", at: .now),
                    try profile.acceptance(
                        merchant: "sandbox-merchant", hash: String(repeating: "0", count: 64), by: "E", at: .now),
                    try SandboxProfile(key: SigningKey()).acceptance(
                        merchant: "sandbox-merchant", hash: hash, by: "E. Muster", at: .now), "a.b.c",
                ]
                for file in wrong {
                    let refused = try await post(shop, #"{"file":"\#(file)"}"#)
                    #expect(refused.status == 422)
                    #expect(try refused.error().code == "terms.file_invalid")
                }
                let file = try profile.acceptance(
                    merchant: "sandbox-merchant", hash: hash, by: "Erika Muster",
                    at: Timestamp(milliseconds: 1_772_000_000_000))
                let accepted = try await post(shop, #"{"file":"\#(file)"}"#)
                #expect(accepted.status == 201, "\(accepted.text)")
                let acceptance = try WireJSON.decode(TermsAcceptance.self, from: accepted.body)
                #expect(acceptance.acceptedBy == "Erika Muster" && acceptance.source == .file)
                #expect(acceptance.acceptedAt.milliseconds == 1_772_000_000_000)
                #expect(try await terms(shop).state == .accepted)
            }
        }
    }

    static let wrongBodies: [(body: String, code: String)] = [
        ("{}", "request.missing_field"), (#"{"hash":"0","file":"0"}"#, "request.field_conflict"),
        (#"{"hash":1}"#, "request.invalid_field"), (#"{"hush":"0"}"#, "request.unknown_field"),
        ("", "request.body_missing"), ("[", "request.malformed_json"),
    ]

    @Test("Every wrong body is refused with what is wrong", arguments: wrongBodies)
    func wrongBody(body: String, code: String) async throws {
        try await Shop.open(in: try TestFolder(), wish()) { shop in
            let refused = try await post(shop, body)
            #expect(refused.status == 400)
            #expect(try refused.error().code == code)
        }
    }
}
