// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import Codes
import Testing

@testable import Loyalty

/// A card by its UID: what it answers to names that it is asked for, and 6A82 to all others.
private struct AskedCard: VirtualCard {
    var activation: CardActivation
    var answers: [String: String] = [:]
    var others = "6A82"
    /// Falls silent so many times when the directory is asked for.
    var silences = 0

    init(_ uid: [UInt8], _ technology: CardActivation.Technology = .typeA, sak: UInt8? = 0x20, atr: [UInt8] = []) {
        activation = CardActivation(technology: technology, uid: uid, atr: atr, sak: sak)
    }

    mutating func powerOn() {}

    mutating func answer(_ command: [UInt8]) -> VirtualCardReply {
        guard let command = try? CommandAPDU(command) else { return .answer([0x67, 0x00]) }
        let name = Hex.string(command.data)
        if name == AskedCard.directory, silences > 0 {
            silences -= 1
            return .gone
        }
        return .answer((try? Hex.bytes(answers[name] ?? others)) ?? [])
    }

    static let directory = Hex.string(Array("2PAY.SYS.DDF01".utf8))
}

@Suite("Whether a card can pay, before its UID is a member number")
struct PaymentQuestionTests {
    private static let fixed: [UInt8] = [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0x80]

    private func read(
        _ card: AskedCard, acceptsRepeating: Bool = false, presentations: Int = 5
    ) throws -> (member: String?, status: PassStatus?, commands: Int) {
        let programme = try LoyaltyProgramme(
            id: "member", displayName: "Member", uid: UIDMembership(acceptsRepeating: acceptsRepeating))
        var machine = LoyaltyRead(try Shop.request([programme], presentations: presentations))
        var card: any VirtualCard = card
        let played = play(&machine, on: &card)
        let entry = played.outcome.entries.first
        return (entry?.pass?.member?.text, entry?.status, played.commands.count)
    }

    @Test("H5: a member card gives its UID after seven plain noes")
    func member() throws {
        let found = try read(AskedCard(Self.fixed))
        #expect(found.member == "04A1B2C3D4E580" && found.commands == 1 + PaymentNetwork.providersWithKernel.count)
        #expect(found.commands == 7)
    }

    @Test(
        "H5: a card with a payment directory keeps its UID, also where that is blocked, empty or strange",
        arguments: ["6F009000", "9000", "6283", "6A81", "6985", "6F00", "6100", "6300", "6700", ""])
    func directory(answer: String) throws {
        var card = AskedCard(Self.fixed)
        card.answers[AskedCard.directory] = answer
        let found = try read(card)
        #expect(found.member == nil, "\(answer)")
        #expect(found.status == .unsuitable(.paymentCard) || answer.isEmpty)
    }

    @Test("H5: a card without a directory, but with a payment application, keeps its UID")
    func applications() throws {
        #expect(PaymentNetwork.providersWithKernel.count == 6)
        for rid in PaymentNetwork.providersWithKernel {
            var card = AskedCard(Self.fixed)
            card.answers[Hex.string(rid)] = "6F009000"
            #expect(try read(card).status == .unsuitable(.paymentCard), "\(Hex.string(rid))")
        }
    }

    @Test("H5: a card that knows no SELECT at all has no application", arguments: ["6D00", "6E00"])
    func noSelect(answer: String) throws {
        var card = AskedCard(Self.fixed)
        card.others = answer
        #expect(try read(card).member == "04A1B2C3D4E580")
    }

    @Test("H5: the payment cards of the catalogue give no UID, whichever they have")
    func catalogue() throws {
        for name in ["visa", "mastercard", "amex", "girocard", "no-ppse", "locked", "empty-ppse"] {
            guard var card = CardCatalogue.card(named: name) else { continue }
            let programme = try LoyaltyProgramme(
                id: "member", displayName: "Member", uid: UIDMembership(acceptsRepeating: true))
            var machine = LoyaltyRead(try Shop.request([programme]))
            #expect(!play(&machine, on: &card).outcome.hasPass, "\(name)")
        }
    }

    /// What a UID is good for is told before anything is asked: no phone's wallet is opened.
    @Test("H5: what is no identifier is asked nothing")
    func notAsked() throws {
        for (card, status) in [
            (AskedCard([0x08, 1, 2, 3]), UIDRefusal.random), (AskedCard([0x88, 0xA1, 0xB2, 0xC3]), .notAnIdentifier),
            (AskedCard([0xDE, 0xAD, 0xBE, 0xEF]), .mayRepeat),
            (AskedCard([0xA1, 0xB2, 0xC3, 0xD4], .typeB), .notAnIdentifier),
        ] {
            let found = try read(card)
            #expect(found.status == .unsuitable(status) && found.commands == 0)
        }
        #expect(try read(AskedCard([0xDE, 0xAD, 0xBE, 0xEF]), acceptsRepeating: true).member == "DEADBEEF")
        // Takes no commands: cannot pay.
        #expect(try read(AskedCard(Self.fixed, sak: 0x00)).commands == 0)
        #expect(try read(AskedCard(Self.fixed, sak: 0x00)).member == "04A1B2C3D4E580")
    }

    /// ATRs of memory cards by PC/SC part 3; a reader that calls a card with MIFARE Classic beside ISO/IEC 14443-4 memory.
    @Test("H5: what a reader calls memory is asked, and a card that was torn away is no memory")
    func memory() throws {
        let atr = try Hex.bytes("3B8F8001804F0CA000000306" + "03" + "0001" + "00000000" + "00")
        var card = AskedCard(Self.fixed, sak: 0x08, atr: atr)
        card.others = "6300"
        #expect(try read(card).member == "04A1B2C3D4E580")
        card.answers[AskedCard.directory] = "6F009000"
        #expect(try read(card).status == .unsuitable(.paymentCard))
        // Torn away once, and there again.
        card.silences = 1
        #expect(try read(card).status == .unsuitable(.paymentCard))
        #expect(try read(card, presentations: 1).member == nil)
        card.silences = .max
        #expect(try read(card).member == "04A1B2C3D4E580")
    }
}
