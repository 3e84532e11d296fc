// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import Loyalty
import Testing

/// Plays loyalty and payment in one tap the way the session above this module composes them; the payment part is one
/// SELECT of the payment directory.
private struct Till {
    let tap: CombinedTap
    private(set) var usedReset = false

    init(stopOnPass: Bool) { tap = CombinedTap(stopOnPass: stopOnPass) }

    mutating func present(_ card: inout any VirtualCard) throws -> CombinedTap.Result {
        var machine = LoyaltyRead(
            try Shop.request(purpose: .passesAndPayment(stopOnPass: tap.stopOnPass), presentations: 3))
        let outcome = play(&machine, on: &card).outcome
        switch tap.next(after: outcome) {
        case .end(let result): return result
        case .pay(let readiness):
            if readiness != .sameActivation {
                usedReset = true
                card.powerOn()
            }
            let directory = try CommandAPDU.select(Array("2PAY.SYS.DDF01".utf8))
            let hasPayment =
                if case .answer(let bytes) = card.answer(directory.bytes) {
                    try ResponseAPDU(bytes).status.isSuccess
                } else {
                    false
                }
            return tap.result(hasPass: outcome.hasPass, hasPayment: hasPayment)
        }
    }
}

/// A payment card that knows its directory and nothing else.
private struct DirectoryCard: VirtualCard {
    var activation: CardActivation { CardActivation(technology: .typeA, uid: [0x08, 1, 2, 3], sak: 0x20) }
    mutating func powerOn() {}
    mutating func answer(_ command: [UInt8]) -> VirtualCardReply {
        let isDirectory = (try? CommandAPDU(command))?.data == Array("2PAY.SYS.DDF01".utf8)
        return .answer(isDirectory ? [0x6F, 0x00, 0x90, 0x00] : [0x6A, 0x82])
    }
}

/// A locked phone that gives way to a plain card after the first look.
private struct ChangeOfMind: VirtualCard {
    private var phone = VASPhone(passes: [], lockedSessions: .max)
    private var card = DirectoryCard()
    private var sessions = 0
    var activation: CardActivation { sessions > 1 ? card.activation : phone.activation }
    mutating func powerOn() {
        sessions += 1
        phone.powerOn()
    }
    mutating func answer(_ command: [UInt8]) -> VirtualCardReply {
        sessions > 1 ? card.answer(command) : phone.answer(command)
    }
}

@Suite struct `Loyalty and payment in one tap` {
    @Test func `a card presented in place of a locked phone is not taken for it`() throws {
        var machine = LoyaltyRead(try Shop.request(purpose: .passesAndPayment(stopOnPass: false)))
        var card: any VirtualCard = ChangeOfMind()
        let played = play(&machine, on: &card)
        #expect(played.activations.count == 2)
        #expect(played.outcome.entries.allSatisfy { $0.status != .locked })
        #expect(played.outcome.wallet == nil)
        #expect(CombinedTap(stopOnPass: false).next(after: played.outcome) == .pay(.sameActivation))
    }

    @Test(arguments: ["apple-pass", "google-pass"])
    func `stopping at a pass ends with the pass when it comes first`(_ phone: String) throws {
        var till = Till(stopOnPass: true)
        var card = try Shop.card(phone, payment: DirectoryCard())
        #expect(try till.present(&card) == .passOnly)
    }

    @Test func `stopping at a pass ends with the payment when a card comes first`() throws {
        var till = Till(stopOnPass: true)
        var card: any VirtualCard = DirectoryCard()
        #expect(try till.present(&card) == .paymentOnly)
        #expect(!till.usedReset)
    }

    @Test(arguments: ["apple-pass", "google-pass"])
    func `not stopping gives both from a phone with pass and card`(_ phone: String) throws {
        var till = Till(stopOnPass: false)
        var card = try Shop.card(phone, payment: DirectoryCard())
        #expect(try till.present(&card) == .both)
        #expect(till.usedReset == phone.hasPrefix("apple"))
    }

    @Test(arguments: ["apple-pass", "google-pass"])
    func `not stopping gives the pass alone from a phone without a card`(_ phone: String) throws {
        var till = Till(stopOnPass: false)
        var card = try Shop.card(phone)
        #expect(try till.present(&card) == .passOnly)
    }

    @Test func `not stopping gives the payment alone from a plain card`() throws {
        var till = Till(stopOnPass: false)
        var card: any VirtualCard = DirectoryCard()
        #expect(try till.present(&card) == .paymentOnly)
        #expect(!till.usedReset)
    }

    @Test(arguments: [true, false], ["apple-no-pass", "google-no-pass", "google-wrong-signature"])
    func `a phone without a pass pays either way`(_ stopOnPass: Bool, _ phone: String) throws {
        var till = Till(stopOnPass: stopOnPass)
        var card = try Shop.card(phone, payment: DirectoryCard())
        #expect(try till.present(&card) == .paymentOnly)
    }

    @Test func `a phone that is not ready for payment must leave the field first`() throws {
        var machine = LoyaltyRead(try Shop.request(purpose: .passesAndPayment(stopOnPass: false)))
        var card = try Shop.card("google-not-ready", payment: DirectoryCard())
        let outcome = play(&machine, on: &card).outcome
        #expect(outcome.hasPass)
        #expect(CombinedTap(stopOnPass: false).next(after: outcome) == .pay(.afterRemoval))
    }

    @Test func `the capability mode follows the wish, in both wallets' coding`() throws {
        let either = try Shop.request(purpose: .passesAndPayment(stopOnPass: true))
        let both = try Shop.request(purpose: .passesAndPayment(stopOnPass: false))
        let alone = try Shop.request()
        #expect([either, both, alone].map(\.vasTerminal.mode) == [.passOrPayment, .passAndPayment, .passOnly])
        #expect([either, both, alone].map { $0.smartTapTerminal.capabilities?.mode } == [0x08, 0x04, 0x01])
    }

    @Test func `a stopped read never leads to a payment`() throws {
        var machine = LoyaltyRead(try Shop.request(purpose: .passesAndPayment(stopOnPass: false)))
        let now = TapInstant(nanoseconds: 0)
        _ = machine.start(now: now)
        let outcome = machine.stop(now: now)
        #expect(CombinedTap(stopOnPass: false).next(after: outcome) == .end(.nothing))
    }

    @Test func `a transmission error does not reset the field of an iPhone that may still pay`() throws {
        let lost = Disturbance(step: 1, kind: .lost)
        let combined = try Shop.read(
            "apple-pass", Shop.request(purpose: .passesAndPayment(stopOnPass: false)), disturbing: lost)
        #expect(combined.activations == [0, 0])
        #expect(combined.outcome.hasPass)
        let alone = try Shop.read("apple-pass", Shop.request(), disturbing: lost)
        #expect(alone.activations == [0, 100])
    }
}
