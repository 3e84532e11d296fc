// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import Loyalty
import Testing

/// One phone or card and what a pass-only read of two programmes makes of it.
struct WalletCase: Sendable, CustomTestStringConvertible {
    let card: String
    let club: PassStatus
    var gift = PassStatus.notAsked
    var member: String?
    var action = CustomerAction.nothing
    /// `nil` for as many as five presentations have.
    var activations: Int? = 1
    var testDescription: String { card }

    static let all: [WalletCase] = [
        // Pass-only sessions end with the first pass.
        WalletCase(card: "apple-pass", club: .delivered, member: "MEMBER-0001"),
        WalletCase(card: "apple-two-passes", club: .delivered, member: "MEMBER-0001"),
        WalletCase(card: "apple-gift", club: .noPass, gift: .delivered, member: "GIFT-4242"),
        WalletCase(card: "apple-no-pass", club: .noPass, gift: .noPass),
        WalletCase(card: "apple-locked", club: .locked, action: .unlockPhone, activations: nil),
        WalletCase(card: "apple-unlocks", club: .delivered, member: "MEMBER-0001", activations: 3),
        WalletCase(card: "apple-choice", club: .choiceNeeded, action: .choosePass, activations: nil),
        WalletCase(card: "apple-sign-up", club: .noPass, gift: .noPass),
        WalletCase(
            card: "apple-version-2", club: .unsupportedVersion, gift: .unsupportedVersion, action: .askStaff),
        WalletCase(card: "google-pass", club: .delivered, member: "MEMBER-0001"),
        WalletCase(card: "google-several", club: .delivered, member: "MEMBER-0001"),
        WalletCase(card: "google-chained", club: .delivered, member: "MEMBER-0001"),
        WalletCase(card: "google-no-pass", club: .noPass),
        WalletCase(card: "google-locked", club: .locked, action: .unlockPhone, activations: nil),
        WalletCase(card: "google-unlocks", club: .delivered, member: "MEMBER-0001", activations: 3),
        WalletCase(card: "google-choice", club: .choiceNeeded, action: .choosePass, activations: nil),
        WalletCase(card: "google-transient", club: .delivered, member: "MEMBER-0001"),
        WalletCase(card: "google-wrong-signature", club: .authenticationFailed(0x9500), action: .askStaff),
        WalletCase(card: "google-expired-key", club: .authenticationFailed(0x9500), action: .askStaff),
        WalletCase(card: "google-forged", club: .unreadable(.notAuthentic), action: .askStaff),
        WalletCase(card: "google-bad-session", club: .unreadable(.badSession(5)), action: .askStaff),
        WalletCase(card: "google-not-ready", club: .delivered, member: "MEMBER-0001"),
        WalletCase(card: "google-plaintext", club: .unreadable(.notEncrypted), action: .askStaff),
        WalletCase(card: "google-version-2", club: .unsupportedVersion, action: .askStaff),
        WalletCase(card: "google-second-select", club: .delivered, member: "MEMBER-0001"),
        WalletCase(card: "google-busy", club: .delivered, member: "MEMBER-0001", activations: 2),
        WalletCase(card: "member-tag", club: .delivered, gift: .noPass, member: "0042-7731"),
        WalletCase(card: "member-card", club: .delivered, gift: .noPass, member: "04A1B2C3D4E5F6"),
        WalletCase(card: "random-uid", club: .unsuitable(.random), gift: .noPass, action: .askStaff),
    ]
}

@Suite struct `Reading what is presented` {
    @Test(arguments: WalletCase.all)
    func `every phone and card ends as it should`(_ expected: WalletCase) throws {
        let played = try Shop.read(expected.card, Shop.request())
        let outcome = played.outcome
        #expect(outcome.entries.map(\.programme) == ["club", "gift"])
        #expect(outcome.entries.map(\.status) == [expected.club, expected.gift])
        #expect(outcome.entries.compactMap { $0.pass?.member?.text }.first == expected.member)
        #expect(outcome.customerAction == expected.action)
        if let count = expected.activations {
            #expect(played.activations.count == count)
        } else {
            // Each presentation of a second and a half, and a look of some hundred milliseconds beyond it at most.
            #expect((7_500..<8_100).contains(played.milliseconds))
        }
        #expect(outcome.ending == .completed)
    }

    @Test func `the cases cover the whole catalogue`() {
        #expect(Set(WalletCase.all.map(\.card)) == Set(WalletCatalogue.names))
        for name in WalletCatalogue.names { #expect(WalletCatalogue.summary(of: name) != nil) }
        #expect(WalletCatalogue.card(named: "nobody") == nil)
    }

    @Test(arguments: ["apple-pass", "apple-two-passes"])
    func `with no key configured the cryptogram is handed on sealed`(_ name: String) throws {
        let outcome = try Shop.read(name, Shop.request([Shop.club(isSealed: true)])).outcome
        let pass = try #require(outcome.entries[0].pass)
        #expect(outcome.entries[0].status == .delivered)
        #expect(pass.member == nil && pass.timestamp == nil)
        let cryptogram = try #require(pass.cryptogram)
        let opened = try cryptogram.open(
            with: [VASKey(Shop.key(WalletTestKeys.clubPrivateKey))],
            merchantID: VASMerchant(passTypeIdentifier: WalletTestKeys.clubPassType).merchantID
        ).get()
        #expect(opened.message.text == "MEMBER-0001")
        #expect(opened.timestamp.secondsSince2001 == 812_345_678)
    }

    @Test func `a pass sealed to a key that is not ours goes along sealed and says so`() throws {
        let merchant = try Shop.merchant(WalletTestKeys.clubPassType, WalletTestKeys.giftPrivateKey)
        let programme = try LoyaltyProgramme(id: "club", displayName: "Club", apple: merchant)
        let outcome = try Shop.read("apple-pass", Shop.request([programme])).outcome
        let club = try Shop.key(WalletTestKeys.clubPrivateKey)
        #expect(outcome.entries[0].status == .unreadable(.unknownKey(VASKey(club).keyID)))
        #expect(outcome.entries[0].pass?.cryptogram != nil)
    }

    @Test func `several keys of one merchant are told apart by their id`() throws {
        let merchant = try VASMerchant(
            passTypeIdentifier: WalletTestKeys.clubPassType,
            keys: [
                VASKey(Shop.key(WalletTestKeys.giftPrivateKey)), VASKey(Shop.key(WalletTestKeys.clubPrivateKey)),
            ])
        let programme = try LoyaltyProgramme(id: "club", displayName: "Club", apple: merchant)
        #expect(try Shop.read("apple-pass", Shop.request([programme])).outcome.hasPass)
    }

    @Test func `a sign-up address goes to a phone without the pass`() throws {
        let url = "https://club.example/join"
        var phone: any VirtualCard = VASPhone(passes: [])
        var machine = LoyaltyRead(try Shop.request([Shop.club(wish: .passOrSignUp(url: url))]))
        #expect(play(&machine, on: &phone).outcome.entries[0].status == .noPass)
        #expect((phone as? VASPhone)?.receivedURLs == [url])

        machine = LoyaltyRead(try Shop.request([Shop.club(wish: .signUpOnly(url: url))]))
        let played = play(&machine, on: &phone)
        #expect(played.outcome.entries[0].status == .signUpSent)
        #expect(played.outcome.customerAction == .followSignUp)
        #expect(played.commands.last?.p2 == 0x00)
        #expect((phone as? VASPhone)?.receivedURLs == [url, url])
    }

    @Test func `the time in a pass is checked where a policy says so`() throws {
        let made: Int64 = 812_345_678 + 978_307_200
        func status(clock: Int64) throws -> PassStatus {
            let policy = TimestampPolicy(
                clock: WallClock(unixSeconds: clock, at: TapInstant(nanoseconds: 0)), maximumSkewSeconds: 300)
            let outcome = try Shop.read("apple-pass", Shop.request(timestamps: policy)).outcome
            #expect(outcome.entries[0].pass?.timestamp?.unixSeconds == made)
            return outcome.entries[0].status
        }
        #expect(try status(clock: made + 300) == .delivered)
        #expect(try status(clock: made - 300) == .delivered)
        #expect(try status(clock: made + 301) == .tooOld)
        #expect(try status(clock: made - 301) == .clockOff)
        #expect(try status(clock: .max) == .tooOld)
        #expect(try status(clock: .min) == .clockOff)
    }

    @Test func `merchants are asked by priority with the bit for more on all but the last`() throws {
        let played = try Shop.read(
            "apple-two-passes", Shop.request([Shop.gift(), Shop.club()], purpose: .passesAndPayment(stopOnPass: false)))
        #expect(played.outcome.entries.map(\.programme) == ["club", "gift"])
        #expect(played.outcome.entries.map(\.status) == [.delivered, .delivered])
        let capabilities = try played.commands.dropFirst().map { command in
            let node = try #require(try TLV.first(VASTag.terminalCapabilities, command.data))
            return Array(command.data[node.value])
        }
        #expect(capabilities == [[0x00, 0x80, 0x00, 0x81], [0x00, 0x80, 0x00, 0x01]])
    }

    @Test func `a locked phone is not asked for other passes`() throws {
        let played = try Shop.read("apple-locked", Shop.request(presentations: 0))
        #expect(played.commands.count == 2)
        #expect(played.outcome.entries.map(\.status) == [.locked, .notAsked])
    }

    @Test func `the customer is told once what to do, and the field rests between looks`() throws {
        let played = try Shop.read("apple-locked", Shop.request())
        #expect(played.signals.filter { $0 == .again(.unlockPhone) }.count == 1)
        #expect(played.activations.first == 0 && played.activations.dropFirst().allSatisfy { $0 == 100 })
        #expect(try Shop.read("google-busy", Shop.request()).activations == [0, 1_000])
    }

    @Test func `a phone's pass objects come with the customer record, authentic`() throws {
        let google = try SmartTapCollector(
            id: WalletTestKeys.collectorID, keys: Shop.collector().keys, services: [.loyalty, .giftCard])
        let programme = try LoyaltyProgramme(id: "club", displayName: "Club", google: google)
        let outcome = try Shop.read("google-several", Shop.request([programme])).outcome
        guard case .google(let objects, let isAuthentic) = outcome.entries[0].pass else {
            Issue.record("no objects")
            return
        }
        #expect(isAuthentic)
        #expect(objects.map(\.kind) == [.loyalty, .giftCard, .customer])
        #expect(objects[1][.pin]?.text == "4321")
        #expect(objects[2][.tapID]?.count == 16)
        #expect(outcome.wallet == .google)
    }

    @Test func `without a pass the customer record still comes along`() throws {
        let outcome = try Shop.read("google-no-pass", Shop.request()).outcome
        guard case .google(let objects, _) = outcome.entries[0].pass else {
            Issue.record("no customer record")
            return
        }
        #expect(objects.map(\.kind) == [.customer])
    }

    @Test func `a pass in the clear is taken only where the collector accepts it, and is not called authentic`() throws
    {
        let programme = try LoyaltyProgramme(
            id: "club", displayName: "Club", google: Shop.collector(acceptsUnencrypted: true))
        let outcome = try Shop.read("google-plaintext", Shop.request([programme])).outcome
        #expect(outcome.entries[0].status == .delivered)
        guard case .google(_, isAuthentic: false) = outcome.entries[0].pass else {
            Issue.record("called authentic")
            return
        }
    }

    @Test(arguments: [
        ("apple-two-passes", [PassStatus.delivered, .delivered]), ("google-pass", [.noPass, .noPass]),
        ("member-card", [.noPass, .noPass]), ("apple-version-2", [.unsupportedVersion, .unsupportedVersion]),
    ])
    func `Apple VAS on its own tells its wallet from others`(_ name: String, _ statuses: [PassStatus]) throws {
        var card = try Shop.card(name)
        var machine = VASRead(
            merchants: [
                try Shop.merchant(WalletTestKeys.clubPassType, WalletTestKeys.clubPrivateKey),
                try Shop.merchant(WalletTestKeys.giftPassType, nil),
            ], terminal: VASTerminal(mode: .passAndPayment))
        let outcome = play(&machine, on: &card).outcome
        #expect(outcome.entries.map(\.status) == statuses)
        #expect(outcome.application != nil)
    }

    @Test(arguments: ["apple-pass", "member-card"])
    func `Smart Tap on its own finds no pass elsewhere`(_ name: String) throws {
        var card = try Shop.card(name)
        var machine = SmartTapRead(
            collector: try Shop.collector(), terminal: SmartTapTerminal(), entropy: .fixed(try Shop.secrets()))
        let played = play(&machine, on: &card)
        #expect(played.outcome.status == .noPass && played.commands.count == 1)
    }

    @Test func `a push is sent after the read and its answer taken`() throws {
        var phone = try Shop.card("google-pass")
        let push = SmartTapPush(basketCurrency: "EUR")
        var machine = SmartTapRead(
            collector: try Shop.collector(), terminal: SmartTapTerminal(), entropy: .fixed(try Shop.secrets()),
            push: push)
        let played = play(&machine, on: &phone)
        #expect(played.outcome.status == .delivered && played.outcome.isPushed)
        #expect(played.commands.last?.ins == 0x52)
        #expect((phone as? SmartTapPhone)?.pushes == 1)
    }

    @Test func `pre-signed sessions work and use another signature`() throws {
        var phone = try Shop.card("google-pass")
        var machine = SmartTapRead(
            collector: try Shop.collector(), terminal: SmartTapTerminal(authentication: .preSigned), entropy: .system)
        #expect(play(&machine, on: &phone).outcome.status == .delivered)
    }

    @Test func `the system's random values differ from session to session`() throws {
        let first = try #require(SmartTapEntropy.system.next())
        let second = try #require(SmartTapEntropy.system.next())
        #expect(first.readerNonce != second.readerNonce && first.sessionID != second.sessionID)
        #expect(first.ephemeralKey.publicKey != second.ephemeralKey.publicKey)
    }

    @Test func `a collector whose key cannot sign reads nothing`() throws {
        let google = try SmartTapCollector(id: 1, keys: [SmartTapKey(version: 1) { _ in nil }])
        let programme = try LoyaltyProgramme(id: "club", displayName: "Club", google: google)
        let played = try Shop.read("google-pass", Shop.request([programme]))
        #expect(played.outcome.entries[0].status == .keyMissing)
        #expect(played.commands.count == 1)
    }

    @Test func `carriers are tried in the order of the request`() throws {
        let request = try LoyaltyRequest(programmes: [Shop.club()], carriers: [.uid, .wallet])
        let played = try Shop.read("member-tag", request)
        // No wallet and no tag: whether it can pay.
        #expect(played.commands.count == 7)
        #expect(played.outcome.entries[0].pass?.member?.text == "04A1B2C3D4E5F6")
    }

    @Test func `a card that takes no commands is asked none`() throws {
        var machine = LoyaltyRead(try Shop.request())
        let now = TapInstant(nanoseconds: 0)
        _ = machine.start(now: now)
        let step = machine.activated(CardActivation(technology: .typeA, uid: [4, 2, 3, 4, 5, 6, 7], sak: 0), now: now)
        guard case .finished(let outcome) = step.action else {
            Issue.record("sends a command")
            return
        }
        #expect(outcome.hasPass)
    }

    /// What a reader says of FeliCa cards and of vicinity and type B memory, whose ATR is `3B 8F 80 01 80 4F …`.
    @Test func `R14: no storage card of another technology is asked either, and a type B card is`() throws {
        let now = TapInstant(nanoseconds: 0)
        let memory = [UInt8](repeating: 0, count: 20)
        for technology in [CardActivation.Technology.feliCa, .iso15693, .typeB] {
            var machine = LoyaltyRead(try Shop.request())
            _ = machine.start(now: now)
            let card = CardActivation(technology: technology, uid: [4, 2, 3, 4, 5, 6, 7], atr: memory)
            guard case .finished = machine.activated(card, now: now).action else {
                Issue.record("sends a command to \(technology)")
                continue
            }
        }
        var machine = LoyaltyRead(try Shop.request())
        _ = machine.start(now: now)
        let card = CardActivation(technology: .typeB, answerToSelect: [0x80, 0x81, 0x71], atr: memory)
        guard case .transmit = machine.activated(card, now: now).action else {
            Issue.record("sends no command")
            return
        }
    }

    @Test func `R1: two cards at once are asked to be presented one by one, and are no presentation that failed`()
        throws
    {
        var machine = LoyaltyRead(try Shop.request(presentations: 1))
        var signals: [LoyaltySignal] = []
        _ = machine.start(now: TapInstant(nanoseconds: 0))
        for second in 1...30 as ClosedRange<UInt64> {
            let step = machine.collided(now: TapInstant(nanoseconds: second * 1_000_000_000))
            signals += step.signals
            guard case .activate = step.action else {
                Issue.record("ends after \(second) s")
                return
            }
        }
        #expect(signals == [.again(.presentOneCardOnly)])
        #expect(machine.stop(now: TapInstant(nanoseconds: 31_000_000_000)).customerAction == .presentAgain)
    }

    /// What counts is a presentation by a person (EMV Contactless Book B 3.3.3.7 goes back to start B without a limit).
    @Test(arguments: [1, 20, 90, 400] as [UInt64])
    func `R1: a pass at the edge of the field is tried for as long, however fast the reader is`(pace: UInt64) throws {
        for (seconds, isRead) in [(4, true), (8, false)] as [(UInt64, Bool)] {
            var phone = try Shop.card("apple-pass")
            var machine = LoyaltyRead(try Shop.request(presentations: 3))
            var now: UInt64 = 0
            func time() -> TapInstant { TapInstant(nanoseconds: now * 1_000_000) }
            var step = machine.start(now: time())
            var outcome: LoyaltyOutcome?
            while outcome == nil {
                switch step.action {
                case .activate(let off):
                    now += off + pace
                    phone.powerOn()
                    step = machine.activated(phone.activation, now: time())
                case .transmit(let command):
                    now += 1
                    guard now > seconds * 1_000, case .answer(let bytes) = phone.answer(command.bytes) else {
                        step = machine.cardLost(now: time())
                        continue
                    }
                    step = machine.received(try ResponseAPDU(bytes), now: time())
                case .finished(let end): outcome = end
                }
            }
            #expect(outcome?.hasPass == isRead, "steady after \(seconds) s")
            // Three presentations of a second and a half each, and one activation at most beyond each.
            if !isRead { #expect((4_500..<4_500 + 3 * (pace + 102)).contains(now), "\(now) ms") }
        }
    }

    @Test func `R1: a phone that leaves and comes back is another presentation, and one lost by the field is not`()
        throws
    {
        var machine = LoyaltyRead(try Shop.request(presentations: 2))
        func at(_ milliseconds: UInt64) -> TapInstant { TapInstant(nanoseconds: milliseconds * 1_000_000) }
        let phone = CardActivation(technology: .typeA, uid: [8, 1, 2, 3], sak: 0x20)
        func isWaiting(_ step: TapStep<LoyaltySignal, LoyaltyOutcome>) -> Bool {
            if case .activate = step.action { true } else { false }
        }
        _ = machine.start(now: at(0))
        for time in [0, 300, 600] as [UInt64] {
            _ = machine.activated(phone, now: at(time))
            #expect(isWaiting(machine.cardLost(now: at(time + 5))))
            #expect(isWaiting(machine.fieldEmptied(now: at(time + 100))))
        }
        // Gone for a second: the first has failed.
        _ = machine.activated(phone, now: at(1_700))
        #expect(isWaiting(machine.cardLost(now: at(1_705))))
        _ = machine.activated(phone, now: at(3_195))
        #expect(!isWaiting(machine.cardLost(now: at(3_200))), "the second has failed, too")
    }

    @Test func `the same pass within the delay is repeated, later it is new`() throws {
        var memory = RereadMemory()
        let request = try Shop.request([Shop.club(reread: 1_000)])
        func status(_ name: String, milliseconds: UInt64) throws -> PassStatus {
            var outcome = try Shop.read(name, request).outcome
            memory.apply(to: &outcome, request: request, now: TapInstant(nanoseconds: milliseconds * 1_000_000))
            #expect((outcome.entries[0].pass == nil) == (outcome.entries[0].status == .repeated))
            return outcome.entries[0].status
        }
        #expect(try status("apple-pass", milliseconds: 0) == .delivered)
        #expect(try status("apple-pass", milliseconds: 999) == .repeated)
        #expect(try status("google-pass", milliseconds: 999) == .repeated)
        #expect(try status("member-tag", milliseconds: 999) == .delivered)
        #expect(try status("apple-pass", milliseconds: 1_000) == .delivered)
    }
}
