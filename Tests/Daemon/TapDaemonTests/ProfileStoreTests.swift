// SPDX-License-Identifier: Apache-2.0
import Configuration
import Envelope
import Foundation
import LocalHTTP
import POSAPI
import PSPSandbox
import PaymentValues
import Profile
import ReaderVirtual
import Synchronization
import TestSupport
import Testing

@testable import TapDaemon

@Suite("The payment service's profile in the daemon", .timeLimit(.minutes(5)))
struct ProfileStoreTests {
    private let service = PaymentService()

    private func wish(_ mode: Mode = .test) -> Shop.Wish {
        var wish = Shop.Wish()
        wish.mode = mode
        // In live mode no lane is ready before terms are accepted.
        wish.awaitsLanes = mode == .test
        wish.profile = service.settings()
        return wish
    }

    private func status(_ shop: Shop) async throws -> Status {
        try WireJSON.decode(Status.self, from: try await shop.get("/v1/status").body)
    }

    /// Runs `body` in a shop with this service's sandbox.
    private func open(
        _ mode: Mode = .test, _ body: (Shop, Sandbox) async throws -> Void
    ) async throws {
        let folder = try TestFolder()
        try await withSandbox(in: folder) { sandbox in
            try await Shop.open(in: folder, wish(mode)) { shop in try await body(shop, sandbox) }
        }
    }

    @Test("The sandbox's own profile is right, and the daemon applies it with the published key")
    func sandboxProfile() async throws {
        let folder = try TestFolder()
        try await withSandbox(in: folder) { sandbox in
            await sandbox.serve(SandboxProfile(key: try TestSigner.key()))
            var wish = Shop.Wish()
            wish.profile = ProfileSettings()
            try await Shop.open(in: folder, wish) { shop in
                let result = await shop.profiles.refresh()
                #expect(result == .applied || result == .unchanged)
                let profile = try #require(shop.profiles.current)
                #expect(profile.merchant.displayName == "Sandbox Shop" && profile.offline?.count == 50)
                let known = try #require(try await status(shop).profile)
                #expect(known.serial == profile.serial && known.signed && known.expiresAt == profile.expiresAt)
                #expect(try await status(shop).networks == profile.acceptedNetworks)
                try shop.reader.obey("present visa")
                let transaction = try await shop.post(purchase(1_250), wait: 20).transaction()
                #expect(transaction.state == .approved, "\(String(describing: transaction.error))")
                #expect(transaction.details?.merchant?.displayName == "Sandbox Shop")
            }
        }
    }

    @Test("M5, M6: what of a payment service's keys is not used, log and status say by name")
    func refusedKeys() async throws {
        // As Authlib 1.9.10 writes one key in 128.
        let short = """
            {"crv":"P-256","x":"NB5Ssc7mJJ98muDXXnC0ryvUSBPiR_SgmGW1quqJFA",\
            "y":"NwAccVDlB75MbGs8yrKGqEN2dZK7bhZV4UAtvTslc5U","kty":"EC","kid":"live-2"}
            """
        let folder = try TestFolder()
        let log = KeptLog()
        var wish = wish()
        wish.logger = log.logger
        try await withSandbox(in: folder) { sandbox in
            try await Shop.open(in: folder, wish) { shop in
                await service.serve(
                    try service.json(serial: 6, [(service.recipient, service.recipient + "," + short)]), at: sandbox)
                _ = await shop.profiles.refresh()
                let refused = try #require(try await status(shop).refusedKeys?.first)
                #expect(refused.source == .profile && refused.key == #"keys[1] "live-2""#, "\(refused)")
                #expect(refused.reason.contains("31 bytes instead of 32"))
                let said = log.lines("recipient key not used")
                #expect(said.map { $0.metadata["key"] } == [refused.key], "\(said)")
                // The private half of a key is no secret any more: the profile before stays.
                let whole = service.recipient.dropLast() + #","d":"870MB6gfuTJ4HtUnUvYMyJpr5eUZNP4Bk43bVdj3eAE"}"#
                await service.serve(
                    try service.json(serial: 7, [(service.recipient, String(whole))]), at: sandbox)
                #expect(await shop.profiles.refresh().code == .credentialInvalid)
                #expect(shop.profiles.current?.serial == 6)
                #expect(try await status(shop).profileError?.field == "recipientKeys")
                let reasons = log.lines("profile refused").compactMap { $0.metadata["reason"] }
                #expect(reasons.last?.contains(#"keys[0] "live-1" holds the private half"#) == true, "\(reasons)")
            }
        }
    }

    @Test("K4: the log names the key that seals, and warns of the published one only where that seals")
    func keyThatSeals() async throws {
        let folder = try TestFolder()
        let log = KeptLog()
        var wish = wish()
        wish.logger = log.logger
        try await withSandbox(in: folder) { sandbox in
            await service.serve(try service.json(serial: 5), at: sandbox)
            try await Shop.open(in: folder, wish) { shop in
                _ = await shop.profiles.refresh()
                await shop.profiles.refreshKeys()
                let named = log.lines("card data is sealed to the payment service's key").last
                #expect(named?.metadata["key"] == #""live-1""#)
                #expect(shop.profiles.currentTerminal().recipient.keyID == "live-1")
                let all = log.all.map(\.message)
                let last = all.lastIndex {
                    $0.hasPrefix("published test key in use") || $0.hasPrefix("card data is sealed")
                }
                #expect(last.map { all[$0].hasPrefix("card data is sealed") } == true, "\(all)")
            }
        }
    }

    @Test("M11: limits of one currency keep payments in another from being taken, before a card is asked for")
    func limitsCurrency() async throws {
        // The example takes EUR and USD; ISO 4217 has both with two decimals, and KWD with three.
        let currencies = (#""currencies": ["EUR""#, #""currencies": ["KWD", "EUR""#)
        let environment = #""environment": "live", "caKeys": [],"#
        try await open { shop, sandbox in
            let wish = #"{"type":"purchase","dryRun":true,"amount":{"value":12500,"currency":"KWD"}}"#
            await service.serve(try service.json(serial: 5, [currencies]), at: sandbox)
            _ = await shop.profiles.refresh()
            #expect(try shop.profiles.refusal(of: #require(Currency("KWD"))) == nil, "unsaid, it is as it was")
            await service.serve(
                try service.json(
                    serial: 6, [currencies, (environment, environment + #" "currency": "EUR","#)]), at: sandbox)
            #expect(await shop.profiles.refresh() == .applied)
            let refusal = try await shop.post(wish)
            #expect(refusal.status == 422)
            let error = try refusal.error()
            #expect(error.code == "amount.currency_not_accepted" && error.field == "amount.currency")
            #expect(try shop.profiles.refusal(of: #require(Currency("EUR"))) == nil)
            // What is no currency of the profile is none of its limits.
            await service.serve(
                try service.json(serial: 7, [(environment, environment + #" "currency": "KWD","#)]), at: sandbox)
            #expect(await shop.profiles.refresh().code == .credentialInvalid)
            #expect(try await status(shop).profileError?.field == "terminal.currency")
        }
    }

    @Test("A profile that must not be used leaves the one in force, and status says why")
    func rolledBack() async throws {
        try await open { shop, sandbox in
            await service.serve(try service.json(serial: 5), at: sandbox)
            _ = await shop.profiles.refresh()
            #expect(shop.profiles.current?.serial == 5)
            #expect(try await status(shop).profile?.onBehalfOf == "Market Hall", "whose money it is")
            let wrong: [(json: String, code: ErrorCode, field: String)] = [
                (
                    try service.json(serial: 6, [(#""country": 276"#, #""country": 0"#)]), .credentialInvalid,
                    "merchant.country"
                ),
                (try service.json(serial: 4), .credentialOutdated, "serial"),
                (try service.json(serial: 5, [(#""count": 50"#, #""count": 51"#)]), .credentialOutdated, "serial"),
                (
                    try service.json(serial: 6, from: Timestamp.now.advanced(bySeconds: -90_000)), .credentialExpired,
                    "expiresAt"
                ),
            ]
            for (json, code, field) in wrong {
                await service.serve(json, at: sandbox)
                #expect(await shop.profiles.refresh().code == code)
                #expect(shop.profiles.current?.serial == 5)
                let error = try #require(try await status(shop).profileError)
                #expect(error.code == code.rawValue && error.field == field)
            }
            var stranger = SandboxProfile(key: SigningKey())
            stranger.payload = try service.json(serial: 9)
            await sandbox.serve(stranger)
            #expect(await shop.profiles.refresh().code == .credentialUntrusted)
            #expect(try shop.journal("SELECT serial FROM profile") == "5")
            await service.serve(try service.json(serial: 6), at: sandbox)
            #expect(await shop.profiles.refresh() == .applied)
            #expect(try await status(shop).profileError == nil)
        }
    }

    @Test("F6 what a profile's header says wrongly is told as that, and only a wrong signature as a wrong signature")
    func header() {
        for (error, field) in [
            (JWSError.malformedHeader(member: "typ"), "header.typ"), (.wrongType("JWT"), "header.typ"),
            (.unsupportedAlgorithm("none"), "header.alg"), (.unsupportedHeader(member: "crit"), "header.crit"),
        ] {
            let told = ErrorDetail(of: ProfileError.untrusted(error))
            #expect(told.code == "credential.invalid" && told.field == field)
        }
        for error in [JWSError.malformedToken, .wrongKey, .notAuthentic] {
            let told = ErrorDetail(of: ProfileError.untrusted(error))
            #expect(told.code == "credential.untrusted" && told.field == nil)
        }
    }

    @Test("A refused profile is told once as an event, with the member that is wrong")
    func refusedEvent() async throws {
        try await open { shop, sandbox in
            let stream = try await shop.client.events(
                HTTPClientRequest(.get, "/v1/events"), answerWithin: hangLimit)
            await service.serve(try service.json(serial: 1, [(#""country": 276"#, #""country": 0"#)]), at: sandbox)
            #expect(await shop.profiles.refresh().code == .credentialInvalid)
            #expect(await shop.profiles.refresh().code == .credentialInvalid)
            await service.serve(try service.json(serial: 2), at: sandbox)
            #expect(await shop.profiles.refresh() == .applied)
            var names: [EventName] = []
            for try await sent in stream {
                let event = try WireJSON.decode(Event.self, from: Array(sent.data.utf8))
                guard event.name == .profileRefused || event.name == .profileApplied else { continue }
                names.append(event.name)
                if event.name == .profileApplied { break }
                #expect(event.error?.field == "merchant.country")
            }
            #expect(names == [.profileRefused, .profileApplied])
        }
    }

    @Test("The last good profile is there after a restart without the adapter, and no older one comes after it")
    func restart() async throws {
        let folder = try TestFolder()
        let (older, newer) = (try service.json(serial: 6), try service.json(serial: 7))
        try await withSandbox(in: folder) { sandbox in
            await service.serve(newer, at: sandbox)
            try await Shop.open(in: folder, wish()) { shop in
                _ = await shop.profiles.refresh()
                #expect(shop.profiles.current?.serial == 7)
            }
        }
        try await Shop.open(in: folder, wish()) { shop in
            #expect(shop.profiles.current?.serial == 7)
            #expect(await shop.profiles.refresh().code == .pspUnreachable)
            #expect(shop.profiles.current?.serial == 7)
        }
        try await withSandbox(in: folder) { sandbox in
            await service.serve(older, at: sandbox)
            try await Shop.open(in: folder, wish()) { shop in
                #expect(await shop.profiles.refresh().code == .credentialOutdated)
                #expect(shop.profiles.current?.serial == 7)
            }
        }
    }

    @Test("Under another pinned key what the old one signed is not taken up")
    func otherKey() async throws {
        let folder = try TestFolder()
        try await withSandbox(in: folder) { sandbox in
            await service.serve(try service.json(serial: 7), at: sandbox)
            try await Shop.open(in: folder, wish()) { shop in _ = await shop.profiles.refresh() }
            await sandbox.serve(nil)
            var wish = wish()
            wish.profile?.key = SigningKey().verificationKey
            try await Shop.open(in: folder, wish) { shop in #expect(shop.profiles.current == nil) }
        }
    }

    @Test("A currency that the profile does not have is refused before a card is asked for")
    func currency() async throws {
        try await open { shop, sandbox in
            await service.serve(try service.json(), at: sandbox)
            _ = await shop.profiles.refresh()
            let refused = try await shop.post(#"{"type":"purchase","amount":{"value":500,"currency":"SEK"}}"#)
            #expect(refused.status == 422)
            #expect(try refused.error().code == "amount.currency_not_accepted")
            #expect(try refused.error().field == "amount.currency")
        }
    }

    @Test("A transaction keeps the profile that it began with")
    func kept() async throws {
        try await open { shop, sandbox in
            await service.serve(try service.json(serial: 1), at: sandbox)
            _ = await shop.profiles.refresh()
            let id = try await shop.post(purchase(500, more: #","detached":true"#)).transaction().id
            await service.serve(try service.json(serial: 2, [(#""M-4711""#, #""M-4712""#)]), at: sandbox)
            #expect(await shop.profiles.refresh() == .applied)
            #expect(await shop.runner.books.live[id]?.terms.terminal.merchant == "M-4711")
            #expect(shop.profiles.currentTerminal().merchant == "M-4712")
            _ = try await shop.delete("/v1/transactions/\(id)")
        }
    }

    @Test("A receipt names the shop of the moment of its sale: a profile's before that of the file, and no later one's")
    func receipts() async throws {
        let folder = try TestFolder()
        var wish = wish()
        wish.merchant = Merchant(displayName: "Shop of the file")
        let names = ["Shop of the file", "Example Shop", "Another Name"]
        var sales: [TransactionID] = []
        try await withSandbox(in: folder) { sandbox in
            // Absent at first, as with a payment service that has none yet.
            try await Shop.open(in: folder, wish) { shop in
                for serial in 0...2 {
                    if serial > 0 {
                        let other = [(#""displayName": "Corner Shop""#, #""displayName": "\#(names[serial])""#)]
                        await service.serve(try service.json(serial: serial, other), at: sandbox)
                        while shop.profiles.current?.serial != UInt64(serial) { _ = await shop.profiles.refresh() }
                    }
                    try shop.reader.obey("present visa")
                    let sale = try await shop.post(purchase(500), wait: 20).transaction()
                    // The sandbox cannot open what is sealed to that payment service's key: a decline has a receipt too.
                    #expect(sale.state == (serial == 0 ? .approved : .declined))
                    sales.append(sale.id)
                    try shop.reader.obey("remove")
                }
            }
            // Out of the journal, with the last profile in force and another name in the file.
            wish.merchant = Merchant(displayName: "A third name")
            try await Shop.open(in: folder, wish) { shop in
                for (sale, name) in zip(sales, names) {
                    let receipt = try await shop.get("/v1/transactions/\(sale)/receipt")
                    #expect(receipt.text.contains(#""displayName":"\#(name)""#), "\(receipt.text)")
                }
            }
        }
    }

    @Test("In live mode every payment is answered with what is missing, while status and terms are served")
    func blocked() async throws {
        try await open(.live) { shop, sandbox in
            let refused = try await shop.post(purchase(500))
            #expect(refused.status == 503)
            #expect(try refused.error().code == "credential.missing")
            #expect(try await status(shop).blocked?.code == "credential.missing")
            await service.serve(try service.json(), at: sandbox)
            // The lane asks all the time: a wish may join a fetch that began before there was a profile.
            while shop.profiles.current == nil { _ = await shop.profiles.refresh() }
            let blocked = try #require(try await status(shop).blocked)
            #expect(blocked.code == "terms.not_accepted" && blocked.resolution.contains("nfc-tap terms accept"))
            #expect(try await status(shop).terms == .notAccepted)
            #expect(try await shop.post(purchase(500)).error().code == "terms.not_accepted")
            #expect(try await shop.get("/v1/terms").status == 200)
        }
    }

    @Test("An expired profile stops payments in live mode, and is said to be the reason")
    func expired() async throws {
        let folder = try TestFolder()
        let shift = Mutex<Int64>(0)
        var wish = wish(.live)
        wish.clock = { Timestamp.now.advanced(bySeconds: shift.withLock { $0 }) }
        try await withSandbox(in: folder) { sandbox in
            await service.serve(try service.json(), at: sandbox)
            try await Shop.open(in: folder, wish) { shop in
                _ = await shop.profiles.refresh()
                let hash = try #require(shop.profiles.terms.hash)
                _ = try await shop.profiles.accept(TermsAcceptanceRequest(.hash(hash)), uid: 0, name: "root")
                #expect(try await status(shop).blocked == nil)
                shift.withLock { $0 = 86_401 }
                #expect(try await shop.post(purchase(500)).error().code == "credential.expired")
                #expect(try await status(shop).blocked?.code == "credential.expired")
            }
        }
    }

    @Test("Keys that the adapter offers are used in test mode, and never in place of signed or pinned ones")
    func keys() async throws {
        try await open { shop, sandbox in
            await shop.profiles.refreshKeys()
            #expect(shop.profiles.currentTerminal().recipient.keyID == "test-nfc-tap-sandbox-1")
            await service.serve(try service.json(), at: sandbox)
            _ = await shop.profiles.refresh()
            #expect(shop.profiles.currentTerminal().recipient.keyID == "live-1")
        }
    }

    @Test("Two who ask for a refresh at a time get one answer")
    func joined() async throws {
        try await open { shop, sandbox in
            await service.serve(try service.json(), at: sandbox)
            async let one = shop.profiles.refresh()
            async let other = shop.profiles.refresh()
            let results = await [one, other]
            #expect(results.allSatisfy { $0 == .applied || $0 == .unchanged })
            #expect(try shop.journal("SELECT count(*) FROM profile") == "1")
        }
    }

    @Test("A profile in a file, signed by nobody, works in test mode")
    func file() async throws {
        let folder = try TestFolder()
        var wish = wish()
        wish.profile?.file = try Profile(json: Array(service.json().utf8))
        try await Shop.open(in: folder, wish) { shop in
            #expect(await shop.profiles.refresh() == .unchanged)
            let known = try #require(try await status(shop).profile)
            #expect(!known.signed && known.merchant == PaymentService.merchant)
        }
    }
}
