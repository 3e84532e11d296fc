// SPDX-License-Identifier: Apache-2.0
import CardSim
import Foundation
import Rigs
import Testing

/// The unmodified pcscd, libpcsclite and vpcd under the real daemon. Not run where the rig cannot be, except in CI.
@Suite(
    "Recovery: the unmodified pcscd", .serialized, .timeLimit(.minutes(10)),
    .enabled(
        if: PrivatePCSCD.missing == nil || ProcessInfo.processInfo.environment["CI"] != nil,
        Comment(rawValue: PrivatePCSCD.missing ?? "")))
struct PrivatePCSCDRecoveryTests {
    @Test("Acceptance test 11: pcscd crashes and starts again")
    func killed() throws {
        let rig = try VPCDShop()
        for moment in FailingReader.Moment.allCases {
            try rig.reader.survives(.init(name: "pcscd killed", moment: moment)) {
                rig.pcscd.kill()
            } repair: {
                try rig.pcscd.restart()
            }
        }
    }

    @Test("Acceptance test 11: pcscd is stopped and started again")
    func stopped() throws {
        let rig = try VPCDShop()
        for moment in [FailingReader.Moment.idle, .reading] {
            try rig.reader.survives(.init(name: "pcscd stopped", moment: moment)) {
                try rig.pcscd.terminate()
            } repair: {
                try rig.pcscd.restart()
            }
        }
    }

    /// vpcd's readers cannot be unplugged while pcscd runs.
    @Test("A reader that pcscd does not have any more is detached, and back when pcscd has it again")
    func gone() throws {
        let rig = try VPCDShop()
        for moment in [FailingReader.Moment.idle, .armed] {
            try rig.reader.survives(.init(name: "pcscd without the reader", moment: moment)) {
                try rig.pcscd.terminate()
                try rig.pcscd.restart([])
            } repair: {
                try rig.pcscd.terminate()
                try rig.pcscd.restart([VPCDShop.stanza])
            }
        }
    }

    @Test("A card that leaves in the middle of a command is read anew when it comes back")
    func torn() throws {
        let rig = try VPCDShop()
        let fault = FailingReader.Fault(
            name: "card gone in mid-command", moment: .reading, event: nil, outcome: ["approved"])
        try rig.reader.survives(fault) {
            rig.card.remove()
            rig.card.insert(try #require(CardCatalogue.card(named: "visa")))
        }
    }

    /// A card that stops answering is ReaderPCSC's tests'.
    @Test("A card or a reader that answers nonsense costs another look at it, or that card, but not the lane")
    func nonsense() throws {
        let rig = try VPCDShop()
        let visa = try #require(CardCatalogue.card(named: "visa"))
        for answer in [[0x90], [0x6F, 0xFF, 0xFF, 0xFF, 0x90, 0x00], Array(repeating: 0xA5, count: 64)] as [[UInt8]] {
            // Half a status word is a torn card, which is read again where it lies; what has a whole one says that there is
            // nothing to pay with, and the sale is over.
            let isTorn = answer.count < 2
            let fault = FailingReader.Fault(
                name: "\(answer.count) bytes of nonsense", moment: .armed, event: nil,
                outcome: [isTorn ? "approved" : "failed"])
            try rig.reader.survives(fault) { rig.card.insert(BabblingCard(visa, says: answer)) }
        }
    }

    @Test("Another program has the card for itself: the lane says so, between taps and in one, until it is free")
    func heldExclusively() throws {
        let rig = try VPCDShop()
        let visa = try #require(CardCatalogue.card(named: "visa"))
        let other = try rig.otherProgram("exclusive")
        var fault = FailingReader.Fault(
            name: "card held by another program", moment: .idle, event: "reader.notReady", states: ["faulty"])
        try rig.reader.survives(fault) {
            rig.card.insert(visa)
            try other.holds()
        } repair: {
            try other.letsGo()
        }
        // Who does not let go when its card leaves has the next card as well.
        let another = try rig.otherProgram("exclusive")
        rig.card.insert(visa)
        try another.holds()
        rig.card.remove()
        try rig.shop.awaitReader()
        fault.moment = .armed
        try rig.reader.survives(fault) {
            rig.card.insert(visa)
        } repair: {
            try another.letsGo()
        }
    }

    /// While we have the card nobody else gets it: that it is reset under us takes the played pcscd.
    @Test("Another program that wants to reset the card in the middle has to wait for the end")
    func reset() throws {
        let rig = try VPCDShop()
        var other: OtherProgram?
        let fault = FailingReader.Fault(
            name: "card wanted by another program", moment: .reading, event: "reader.notReady", states: ["faulty"],
            outcome: ["approved"])
        try rig.reader.survives(fault) {
            other = try rig.otherProgram("reset")
        } repair: {
            try other?.holds()
            try other?.letsGo()
        }
    }

    @Test("A pcscd that hangs is told of, and its reader back when it goes on")
    func frozen() throws {
        let rig = try VPCDShop()
        let fault = FailingReader.Fault(
            name: "pcscd hangs", moment: .armed, event: "reader.notReady", states: ["detached"])
        try rig.reader.survives(fault) {
            rig.pcscd.freeze()
        } repair: {
            rig.pcscd.thaw()
        }
    }

    @Test("A card that lies on the reader when the daemon starts pays for nothing until it is presented anew")
    func cardLeft() throws {
        let rig = try VPCDShop(card: "visa")
        let id = try rig.reader.start()
        try rig.reader.events.awaits("read.removeCard")
        #expect(try rig.reader.transaction(id)["state"] as? String == "armed")
        #expect(try rig.reader.laneState() == "busy")
        rig.card.remove()
        let removed = ContinuousClock.now
        try rig.reader.events.awaits("read.readyForTap")
        rig.reader.report("card left on the reader, start", ContinuousClock.now - removed)
        #expect(try rig.shop.ledgerEntries().isEmpty)
        rig.card.insert(try #require(CardCatalogue.card(named: "visa")))
        #expect(try rig.reader.settled(id)["state"] as? String == "approved")
        try rig.reader.pays()
        try rig.reader.expectBalancedBooks()
    }
}

/// A private pcscd with one of vpcd's readers, a card for it, and a shop on it.
final class VPCDShop {
    static let stanza = PrivatePCSCD.Stanza(name: "ACS ACR122U PICC Interface")
    static let reader = "\(stanza.name) 00 00"

    let pcscd: PrivatePCSCD
    let card: VPCDCard
    let shop: Shop
    let reader: FailingReader

    /// - Parameter card: what lies on the reader before the daemon starts.
    init(card name: String? = nil) throws {
        let pcscd = try PrivatePCSCD([Self.stanza])
        let card = VPCDCard(port: Self.stanza.port, in: pcscd.network)
        if let name {
            card.insert(try #require(CardCatalogue.card(named: name)))
            // It is there when another program can have it.
            let other = try OtherProgram("exclusive", reader: Self.reader, socket: pcscd.socketPath)
            try other.holds()
            try other.letsGo()
        }
        shop = try Shop(
            reader: "pcsc:\(Self.reader)", environment: ["PCSCLITE_CSOCK_NAME": pcscd.socketPath],
            sandboxArguments: FailingReader.slowSandbox)
        reader = try FailingReader(shop) {
            card.insert($0)
        } remove: {
            card.remove()
        }
        self.pcscd = pcscd
        self.card = card
    }

    /// Another program that wants the reader's card.
    func otherProgram(_ manner: String) throws -> OtherProgram {
        try OtherProgram(manner, reader: Self.reader, socket: pcscd.socketPath)
    }

    deinit {
        card.remove()
        pcscd.stop()
    }
}
