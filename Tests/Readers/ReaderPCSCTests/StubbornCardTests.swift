// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import ReaderCore
import Rigs
import Testing

@testable import ReaderPCSC

extension PCSCTests {
    /// Cards that pcscd has and that do not come at once, and readers that do not say everything.
    @Suite struct StubbornCardTests {
        /// pcscd issue 102: a second SCardConnect powers up what the first one did not.
        @Test(arguments: [0, 1, 3])
        func `R5: a card whose power-up failed is powered up again, and read`(failures: Int) throws {
            let live = try LiveReader("Failed power-up \(failures)")
            try live.fake.insert(SmokeCard(), into: live.name, failingConnections: failures)
            var presence = try live.activate()
            // On a busy machine it is told of first.
            if presence == .unreadable { presence = try live.activate() }
            let card = try #require(presence.activation)
            #expect(live.count(.connect) == failures + 1)
            // The ATR is known since the second power-up only.
            #expect(card.technology == .typeA)
            #expect(card.atr.starts(with: [0x3B, 0x84, 0x80, 0x01]))
            #expect(try live.transmit(select).status == .success)
        }

        @Test func `R5: what takes no power for a second is told of, once for each presentation`() throws {
            let live = try LiveReader("Two in a purse")
            try live.fake.insertMute(into: live.name)
            var presence: CardPresence?
            try noSooner(than: 1_000) { presence = try live.activate() }
            #expect(presence == .unreadable)
            #expect(throws: ReaderError.timedOut, "told already") { _ = try live.activate(milliseconds: 1_500) }
            try live.fake.insertMute(into: live.name)
            #expect(try live.activate() == .unreadable)
            try live.fake.insert(SmokeCard(), into: live.name)
            #expect(try live.activate().isCard)
        }

        @Test func `R6: a driver that fails on GET DATA costs UID or ATS, not the card`() throws {
            let live = try LiveReader("No UID")
            for code in [PCSCCode.notTransacted, 0x8010_0001, PCSCCode.unsupportedFeature, 0x8010_002F] {
                for _ in 0..<2 { live.fake.force(.code(code), on: .transmit, reader: live.name) }
                try live.fake.insert(SmokeCard(), into: live.name)
                let card = try #require(try live.activate().activation, "0x\(String(code, radix: 16))")
                #expect(card.uid.isEmpty)
                #expect(try live.transmit(select).status == .success)
                live.reader.release()
                try live.fake.remove(from: live.name)
            }
            // The next card is asked again.
            try live.fake.insert(SmokeCard(), into: live.name)
            #expect(try live.activate().activation?.uid == [0x08, 0xA1, 0xB2, 0xC3])
        }

        @Test func `R6: a GET DATA that never comes back costs its time, not the card`() throws {
            let live = try LiveReader("Stuck UID")
            live.fake.force(.hang, on: .transmit, reader: live.name)
            try live.fake.insert(SmokeCard(), into: live.name)
            #expect(try live.activate().activation?.uid == [0x08, 0xA1, 0xB2, 0xC3])
            #expect(try live.transmit(select).status == .success)
        }

        @Test func `R6: a driver whose failures look like new cards is not asked for ever`() {
            var questions = CardQuestions()
            var asked = 0
            for counter in UInt16(0)..<10 {
                questions.begin(counter)
                if questions.mayAsk(0) {
                    asked += 1
                    questions.failed(0)
                } else {
                    questions.answered()
                    break
                }
            }
            #expect(asked == 5)
        }

        /// Table of GET DATA in PC/SC part 3; apdu4j issue 15, node-pcsclite issue 48.
        @Test(arguments: [
            // Wrong length, and the right one; less data than was asked for; both.
            (["6C07"], true), (["6C00"], true), (["04A1B2C3D4E5806282"], true), (["6C07", "04A1B2C3D4E5806282"], true),
            // Not supported, nothing, a warning without data.
            (["6A81"], false), (["9000"], false), (["6282"], false), (["6C07", "6C07"], false),
        ])
        func `R6: a UID is taken with every length and warning that the standard has`(
            answers: [String], isKnown: Bool
        ) throws {
            let live = try LiveReader("UID \(answers.joined(separator: " "))")
            let uid = try Hex.bytes("04A1B2C3D4E580")
            for answer in answers { live.fake.force(.answer(try Hex.bytes(answer)), on: .transmit, reader: live.name) }
            try live.fake.insert(TestCard(uid: uid), into: live.name)
            let card = try #require(try live.activate().activation)
            #expect(card.uid == (isKnown ? uid : []))
            #expect(live.count(.connect) == 1)
        }

        @Test func `R8: a card with contacts is ignored, told of, and a contactless one is read after it`() throws {
            let live = try LiveReader("Contacts")
            // Of a card that answers the contactless directory on its contacts too.
            let contacts = try Hex.bytes("3B6800000073C84000009000")
            try live.fake.insert(TestCard(uid: [], technology: .unknown, atr: contacts), into: live.name)
            #expect(throws: ReaderError.timedOut) { _ = try live.activate(milliseconds: 50) }
            #expect(try live.activate() == .unreadable)
            // It may have taken another card's place unseen: its power is taken once, to see its own ATR. No command is sent.
            #expect(live.count(.transmit) == 0 && live.fake.sharing(of: live.name) == 0)
            try live.fake.insert(SmokeCard(), into: live.name)
            #expect(try live.activate().isCard)
        }

        @Test func `R8: a card with contacts whose first power-up failed gets no command either`() throws {
            let live = try LiveReader("Late contacts")
            let contacts = try Hex.bytes("3B6500002063CB6800")
            let card = TestCard(uid: [], technology: .unknown, atr: contacts)
            try live.fake.insert(card, into: live.name, failingConnections: 0)
            #expect(throws: ReaderError.timedOut) { _ = try live.activate(milliseconds: 300) }
            #expect(live.count(.transmit) == 0)
            #expect(live.fake.sharing(of: live.name) == 0)
        }

        @Test func `R11: a card that another program left in protocol RAW loses power, and is read`() throws {
            let live = try LiveReader("Raw")
            try live.fake.insert(SmokeCard(), into: live.name)
            try live.fake.leaveRaw(in: live.name)
            #expect(try live.activate().isCard)
            #expect(try live.transmit(select).status == .success)
        }

        @Test func `R11: one that stays in it is told of`() throws {
            let live = try LiveReader("Raw for ever")
            try live.fake.insert(SmokeCard(), into: live.name)
            for _ in 0..<400 {
                live.fake.force(.code(PCSCCode.protocolMismatch), on: .connect, reader: live.name)
            }
            #expect(try live.activate() == .unreadable)
            live.fake.forgetFaults(reader: live.name)
        }

        /// libpcsclite has the same code for a card that pcscd refuses.
        @Test func `R10: a connection that pcscd closed is no refusal of the card`() throws {
            let live = try LiveReader("Closed")
            try live.fake.insert(SmokeCard(), into: live.name)
            for _ in 0..<2 { live.fake.force(.code(0x8010_006A), on: .connect, reader: live.name) }
            #expect(try live.activate().isCard)
            live.reader.release()
            for _ in 0..<3 { live.fake.force(.code(0x8010_006A), on: .connect, reader: live.name) }
            #expect(throws: ReaderError.serviceUnavailable(.accessDenied)) { _ = try live.activate() }
            #expect(try live.activate().isCard)
        }

        @Test func `R13: a reader whose name is not UTF-8 is opened by its bytes`() throws {
            let fake = try FakePCSCD.shared()
            let name = "Rig Leser für Karten PICC 00 00"
            try fake.plug(name, isLatin1: true)
            defer { try? fake.unplug(name) }
            #expect(try PCSCReaders.list().map(\.identity.name).contains(name))
            let reader = try PCSCReader(name: name)
            defer { reader.close() }
            try fake.insert(SmokeCard(), into: name)
            #expect(try reader.activate(until: soon(), cancellation: TapCancellation()).isCard)
            reader.release()
            try fake.remove(from: name)
            try reader.waitForRemoval(until: soon(), cancellation: TapCancellation())
            // Its lamps go by a connection of another kind.
            reader.show(.ready)
            try reader.check()
        }
    }
}

extension CardPresence {
    fileprivate var activation: CardActivation? {
        if case .card(let card) = self { card } else { nil }
    }
}
