// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import ReaderCore
import Rigs
import Testing

@testable import ReaderPCSC

extension PCSCTests {
    @Suite struct ActivationTests {
        @Test func `a card that lies there already is activated at once`() throws {
            let live = try LiveReader("Present")
            try live.fake.insert(SmokeCard(), into: live.name)
            guard case .card(let card) = try live.activate() else {
                Issue.record("no card")
                return
            }
            #expect(card.technology == .typeA)
            #expect(card.uid == [0x08, 0xA1, 0xB2, 0xC3])
            #expect(card.answerToSelect == [0x78, 0x80, 0x80, 0x02, 0x20, 0x63, 0xCB, 0xA3, 0xA0])
            #expect(card.atr == [0x3B, 0x84, 0x80, 0x01, 0x77, 0x80, 0x80, 0x02, 0x70])
            #expect(try live.transmit(select).status == .success)
        }

        @Test func `nonsense in place of the UID lets go of the card, so that the next try finds it free`() throws {
            let live = try LiveReader("Nonsense")
            for _ in 0..<2 { live.fake.force(.answer([0x90]), on: .transmit, reader: live.name) }
            try live.fake.insert(SmokeCard(), into: live.name)
            #expect(try live.activate().isCard)
            #expect(live.count(.connect) == 3)
        }

        @Test func `a look at the reader between taps leaves the card on it alone`() throws {
            let live = try LiveReader("Looked at")
            try live.fake.insert(SmokeCard(), into: live.name)
            try live.reader.check()
            #expect(live.count(.connect) == 0)
            try live.fake.setError(true, of: live.name)
            #expect(throws: ReaderError.self) { try live.reader.check() }
            try live.fake.setError(false, of: live.name)
            try live.reader.check()
            try live.fake.unplug(live.name)
            #expect(throws: ReaderError.detached) { try live.reader.check() }
            try live.fake.plug(live.name)
            try live.reader.check()
        }

        @Test func `a card that is presented during the wait ends it`() throws {
            let live = try LiveReader("Arrives")
            let name = live.name
            onceSomebodyWaits(live.fake) { [fake = live.fake] in try fake.insert(SmokeCard(), into: name) }
            #expect(try live.activate().isCard)
        }

        @Test func `no card by the deadline is a time-out, and not before`() throws {
            let live = try LiveReader("Nobody")
            noSooner(than: 50) {
                #expect(throws: ReaderError.timedOut) { _ = try live.activate(milliseconds: 50) }
            }
        }

        @Test func `the reader is ours alone while a card is active, and free after release`() throws {
            let live = try LiveReader("Exclusive")
            try live.fake.insert(SmokeCard(), into: live.name)
            _ = try live.activate()
            #expect(live.fake.sharing(of: live.name) == -1)
            live.reader.release()
            #expect(live.fake.sharing(of: live.name) == 0)
            let unpower: UInt32 = 2
            #expect(live.fake.log(of: live.name).last { $0.command == .disconnect }?.detail == unpower)
        }

        @Test func `the same card can be activated again after release`() throws {
            let live = try LiveReader("Again")
            try live.fake.insert(SmokeCard(), into: live.name)
            for _ in 0..<3 {
                #expect(try live.activate().isCard)
                #expect(try live.transmit(select).status == .success)
                live.reader.release()
            }
            #expect(live.count(.connect) == 3)
        }

        @Test func `F1: a mute card is neither a card nor a collision, and the next one is a card`() throws {
            let live = try LiveReader("Mute")
            try live.fake.insertMute(into: live.name)
            #expect(throws: ReaderError.timedOut) { _ = try live.activate(milliseconds: 50) }
            try live.fake.insert(SmokeCard(), into: live.name)
            #expect(try live.activate().isCard)
        }

        @Test func `F1: a card that does not take power at the connection is waited for until it is presented anew`()
            throws
        {
            let live = try LiveReader("Unpowered")
            try live.fake.insert(SmokeCard(), into: live.name)
            live.fake.force(.code(PCSCCode.unpoweredCard), on: .connect, reader: live.name)
            #expect(throws: ReaderError.timedOut) { _ = try live.activate(milliseconds: 50) }
            try live.fake.swap(SmokeCard(), in: live.name)
            #expect(try live.activate().isCard)
        }

        @Test func `a card that is gone before the connection is waited for again`() throws {
            let live = try LiveReader("Flicker")
            try live.fake.insert(SmokeCard(), into: live.name)
            live.fake.force(.code(PCSCCode.noSmartcard), on: .connect, reader: live.name)
            #expect(try live.activate().isCard)
            #expect(live.count(.connect) == 2)
        }

        @Test func `a reader that another program holds for a moment is waited for`() throws {
            let live = try LiveReader("Busy moment")
            try live.fake.insert(SmokeCard(), into: live.name)
            live.fake.force(.code(PCSCCode.sharingViolation), on: .connect, reader: live.name)
            #expect(try live.activate().isCard)
        }

        @Test func `a reader that another program keeps is in use`() throws {
            let live = try LiveReader("Busy")
            try live.fake.insert(SmokeCard(), into: live.name)
            let other = try PCSCReader(name: live.name)
            _ = try other.activate(until: soon(), cancellation: live.cancellation)
            #expect(throws: ReaderError.inUse) { _ = try live.activate() }
            try live.reader.check()
            #expect(throws: ReaderError.inUse, "and the second look between taps says so") {
                try live.reader.check()
            }
            other.close()
            try live.reader.check()
            #expect(try live.activate().isCard)
            try live.reader.check()
        }

        @Test func `a reader that another program takes while we have a connection stays taken when that ends`() throws
        {
            let live = try LiveReader("Taken")
            try live.fake.insert(SmokeCard(), into: live.name)
            #expect(try live.activate().isCard)
            try live.fake.occupy(live.name, true)
            live.reader.release()
            #expect(throws: ReaderError.inUse) { _ = try live.activate() }
            try live.fake.occupy(live.name, false)
            #expect(try live.activate().isCard)
        }

        @Test func `a connection that another program's transaction blocks is in use, and ends`() throws {
            let live = try LiveReader("Blocked")
            try live.fake.insert(SmokeCard(), into: live.name)
            live.fake.force(.hang, on: .connect, reader: live.name)
            #expect(throws: ReaderError.inUse) { _ = try live.activate() }
            #expect(try live.activate().isCard)
        }

        @Test func `a reader whose driver reports an error says so, and works again afterwards`() throws {
            let live = try LiveReader("Error")
            try live.fake.setError(true, of: live.name)
            #expect(throws: ReaderError.faulty(code: 0x8010_0017)) { _ = try live.activate() }
            try live.fake.setError(false, of: live.name)
            try live.fake.insert(SmokeCard(), into: live.name)
            #expect(try live.activate().isCard)
        }

        @Test func `a reader that keeps UID and ATS to itself still gives the card`() throws {
            let live = try LiveReader("No GET DATA")
            try live.fake.insert(SmokeCard(), into: live.name)
            live.fake.force(.answer([0x6D, 0x00]), on: .transmit, reader: live.name)
            guard case .card(let card) = try live.activate() else {
                Issue.record("no card")
                return
            }
            #expect(card.uid.isEmpty)
            #expect(live.count(.transmit) == 1)
        }

        @Test func `a memory card is told by its SAK`() throws {
            let live = try LiveReader("Memory")
            let atr = try Hex.bytes("3B8F8001804F0CA000000306030001000000006A")
            try live.fake.insert(TestCard(uid: [1, 2, 3, 4], atr: atr), into: live.name)
            guard case .card(let card) = try live.activate() else {
                Issue.record("no card")
                return
            }
            #expect(card.sak == 0x08)
            #expect(card.uid == [1, 2, 3, 4])
        }

        @Test func `a type B card is told by its ATR`() throws {
            let live = try LiveReader("B")
            let atr = try Hex.bytes("3B8880010000000080817100" + "79")
            try live.fake.insert(TestCard(uid: [9, 8, 7, 6], technology: .typeB, atr: atr), into: live.name)
            guard case .card(let card) = try live.activate() else {
                Issue.record("no card")
                return
            }
            #expect(card.technology == .typeB)
            #expect(card.answerToSelect == [0x80, 0x81, 0x71])
        }

        /// Those of cards with contacts, an odd one of a reader, and bytes that are no ATR.
        @Test(arguments: ["3B6500002063CB6800", "3B8F8001", "3B8180018080FF", "00", ""])
        func `an ATR that says nothing of a contactless card leaves the technology unknown`(hex: String) throws {
            let atr = try Hex.bytes(hex)
            let activation = CardActivation(atr: atr)
            #expect(activation.technology == .unknown)
            #expect(activation.atr == atr)
        }
    }
}

extension CardPresence {
    var isCard: Bool {
        switch self {
        case .card: true
        case .collision, .emptied, .unreadable: false
        }
    }
}
