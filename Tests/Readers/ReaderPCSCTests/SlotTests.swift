// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import Foundation
import ReaderCore
import ReaderModels
import Rigs
import Testing

@testable import ReaderPCSC

extension PCSCTests {
    /// Readers with several slots, and several readers of one name.
    @Suite struct SlotTests {
        /// A bank card in a slot for contacts.
        private static let contacts = TestCard(uid: [], atr: (try? Hex.bytes("3B6500002063CBA300")) ?? [])

        /// Plugs readers for the length of a test.
        private func plugged(_ names: [String], _ body: (FakePCSCD) throws -> Void) throws {
            let fake = try FakePCSCD.shared()
            for name in names { try fake.plug(name) }
            defer { for name in names { try? fake.unplug(name) } }
            try body(fake)
        }

        private func isCard(_ reader: PCSCReader, _ milliseconds: UInt64 = patience) throws(ReaderError) -> Bool {
            try reader.activate(until: soon(milliseconds), cancellation: TapCancellation()).isCard
        }

        /// acsccid #4: "ACS ACR1281 1S Dual Reader 00 00", "00 01" and "00 02" are slots for contacts, without, and for a SAM
        /// that never answers.
        @Test("R7: of slots that no name tells apart the one that a contactless card lies on is taken")
        func silentSlots() throws {
            let model = "Rig Sale 1S Dual Reader"
            let names = ["\(model) 07 00", "\(model) 07 01", "\(model) 07 02"]
            try plugged(names) { fake in
                try fake.insert(Self.contacts, into: names[0])
                try fake.insertMute(into: names[2])
                let reader = try PCSCReaders.open(matching: model)
                #expect(throws: ReaderError.timedOut) { try isCard(reader, 10) }
                try fake.insert(SmokeCard(), into: names[1])
                #expect(try isCard(reader))
                #expect(reader.identity.name == names[1])
                #expect(fake.log(of: names[0]).allSatisfy { $0.command != .connect })
                reader.close()
            }
        }

        @Test("R7: a card that comes later wakes the wait for all slots")
        func later() throws {
            let model = "Rig Later 1S Dual Reader"
            let names = ["\(model) 07 00", "\(model) 07 01"]
            try plugged(names) { fake in
                let reader = try PCSCReaders.open(matching: model)
                onceSomebodyWaits(fake) { try fake.insert(SmokeCard(), into: names[1]) }
                #expect(try isCard(reader))
                #expect(reader.identity.name == names[1])
                reader.close()
            }
        }

        @Test("R7: the slot keeps its number when pcscd counts its readers anew")
        func renumbered() throws {
            let model = "Rig Renumbered Reader"
            let fake = try FakePCSCD.shared()
            let reader: PCSCReader
            do {
                let names = ["\(model) 07 00", "\(model) 07 01"]
                for name in names { try fake.plug(name) }
                try fake.insert(SmokeCard(), into: names[1])
                reader = try PCSCReader(ReaderClaim(names[1]), matching: model, feedback: .off)
                #expect(try isCard(reader))
                for name in names { try fake.unplug(name) }
            }
            #expect(throws: ReaderError.detached) { try isCard(reader, 10) }
            try plugged(["\(model) 09 00", "\(model) 09 01"]) { fake in
                // What lies in the other slot would be taken for the customer's card.
                try fake.insert(TestCard(uid: [1, 2, 3, 4]), into: "\(model) 09 00")
                #expect(throws: ReaderError.timedOut) { try isCard(reader, 10) }
                try fake.insert(SmokeCard(), into: "\(model) 09 01")
                #expect(try isCard(reader))
                #expect(reader.identity.name == "\(model) 09 01")
                reader.close()
            }
        }

        @Test("R7: all slots of a reader come back together under new numbers")
        func together() throws {
            let model = "Rig Returned Reader"
            let fake = try FakePCSCD.shared()
            let names = ["\(model) 07 00", "\(model) 07 01"]
            for name in names { try fake.plug(name) }
            let reader = try PCSCReaders.open(matching: model)
            for name in names { try fake.unplug(name) }
            #expect(throws: ReaderError.detached) { try isCard(reader, 10) }
            try plugged(["\(model) 09 00", "\(model) 09 01"]) { fake in
                try fake.insert(Self.contacts, into: "\(model) 09 00")
                try fake.insert(SmokeCard(), into: "\(model) 09 01")
                #expect(try isCard(reader))
                #expect(reader.identity.name == "\(model) 09 01")
                reader.close()
            }
        }

        @Test("R7: a card in the slot for contacts is neither waited for nor anybody's hold on the reader")
        func quiet() throws {
            let model = "Rig Quiet 1S Dual Reader"
            let names = ["\(model) 07 00", "\(model) 07 01"]
            try plugged(names) { fake in
                try fake.insert(Self.contacts, into: names[0])
                try fake.occupy(names[0], true)
                let reader = try PCSCReaders.open(matching: model)
                for _ in 0..<3 { try reader.check() }
                try reader.waitForRemoval(until: soon(), cancellation: TapCancellation())
                reader.close()
            }
        }

        @Test("R7: a slot that the configuration names by its number is the only one")
        func numbered() throws {
            let model = "Rig Numbered Reader"
            let names = ["\(model) 07 00", "\(model) 07 01"]
            try plugged(names) { fake in
                try fake.insert(SmokeCard(), into: names[0])
                let reader = try PCSCReaders.open(matching: "numbered reader 07 01")
                #expect(reader.identity.name == names[1])
                #expect(throws: ReaderError.timedOut) { try isCard(reader, 10) }
                reader.close()
            }
        }

        @Test("R16: two readers of one name are taken one by one, and a third asks in vain")
        func oneByOne() throws {
            let model = "Rig Sibling PICC Interface"
            let names = ["\(model) 07 00", "\(model) 08 00"]
            try plugged(names) { fake in
                let first = try PCSCReaders.open(matching: model)
                let second = try PCSCReaders.open(matching: "sibling")
                #expect([first, second].map(\.identity.name) == names)
                #expect(throws: ReaderError.serviceUnavailable(.unknownReader)) {
                    _ = try PCSCReaders.open(matching: model)
                }
                try fake.insert(SmokeCard(), into: names[1])
                #expect(try isCard(second))
                #expect(throws: ReaderError.timedOut) { try isCard(first, 10) }
                first.close()
                let third = try PCSCReaders.open(matching: model)
                #expect(third.identity.name == names[0])
                second.close()
                third.close()
            }
        }

        @Test("R16: lanes of one name have readers in their own order, whichever opens first")
        func inOrder() throws {
            let model = "Rig Ordered PICC Interface"
            let names = ["\(model) 07 00", "\(model) 08 00"]
            try plugged(names) { _ in
                let second = try PCSCReaders.open(matching: model, after: 1)
                let first = try PCSCReaders.open(matching: model)
                #expect([first, second].map(\.identity.name) == names)
                first.close()
                second.close()
                // It takes what there is where the others have gone.
                let lonely = try PCSCReaders.open(matching: model, after: 7)
                #expect(lonely.identity.name == names[0])
                lonely.close()
            }
        }

        @Test("R16: lanes that open at the same moment never get one reader")
        func sameMoment() async {
            let names = (0..<4).map { "Rig Crowd PICC Interface 0\($0) 00" }
            let claims = await withTaskGroup(of: ReaderClaim?.self) { group in
                for _ in 0..<6 { group.addTask { ReaderClaim(firstOf: names.map { [$0] }) } }
                return await group.reduce(into: [ReaderClaim]()) { if let claim = $1 { $0.append(claim) } }
            }
            #expect(claims.flatMap { $0.slots.map(\.full) }.sorted() == names)
        }

        @Test("R16: a reader that was asked for by its serial number is replaced by no other")
        func serial() throws {
            let fake = try FakePCSCD.shared()
            let name = { (serial: String, number: Int) in "Rig Serial PICC (\(serial)) 0\(number) 00" }
            try fake.plug(name("S-1", 3))
            let reader = try PCSCReaders.open(matching: "(S-1)")
            try fake.unplug(name("S-1", 3))
            try plugged([name("S-2", 3)]) { fake in
                #expect(throws: ReaderError.detached) { try isCard(reader, 10) }
                #expect(throws: ReaderError.detached) { try reader.reopen() }
                try plugged([name("S-1", 4)]) { _ in
                    try reader.reopen()
                    #expect(reader.identity.name == name("S-1", 4))
                }
            }
            reader.close()
        }
    }

    @Suite struct DeviceTests {
        /// What pcscd lists, and what of it is one device.
        static let lists: [(String, [String], [[Int]])] = [
            ("acsccid #4", (0..<3).map { "ACS ACR1281 1S Dual Reader 00 0\($0)" }, [[0, 1, 2]]),
            (
                "acsccid #10, two readers of one model",
                ["00 00", "00 01", "01 00", "01 01"].map { "ACS ACR1252 1S CL Reader \($0)" }, [[0, 1], [2, 3]]
            ),
            (
                "two readers of one name", ["ACS ACR122U PICC Interface 00 00", "ACS ACR122U PICC Interface 01 00"],
                [[0], [1]]
            ),
            (
                "two interfaces with a serial number in common",
                [
                    "Broadcom Corp 5880 [Contacted SmartCard] (0123456789ABCD) 00 00",
                    "Broadcom Corp 5880 [Contactless SmartCard] (0123456789ABCD) 01 00",
                ], [[0, 1]]
            ),
            (
                "two readers whose maker gave all of them one serial number",
                ["Rig X [CL] (000001) 00 00", "Rig X [CL] (000001) 01 00"], [[0], [1]]
            ),
            ("names without numbers", ["Rig Y", "Rig Y"], [[0], [1]]),
        ]

        @Test("R7: slots of one device are told from two devices", arguments: lists)
        func devices(_ list: (source: String, names: [String], devices: [[Int]])) {
            let found = PCSCReaderName.devices(of: list.names.map(PCSCReaderName.init))
            #expect(found.map { $0.map(\.full) } == list.devices.map { $0.map { list.names[$0] } }, "\(list.source)")
        }

        @Test(
            "R7: a word for the whole reader says nothing of one of its slots",
            arguments: [
                ("SCM Microsystems Inc. SDI011 Contactless Reader 00 00", PCSCReaderName.Slot.unknown),
                ("SCM Microsystems Inc. SDI010 Smart Card Reader 00 01", .unknown),
                ("OMNIKEY CardMan 5321 00 00", .unknown),
                ("ACS ACR1281U 00 00", .unknown), ("ACS ACR1252 1S CL Reader 00 01", .unknown),
                ("ACS ACR 38U-CCID 00 00", .unknown), ("ACS ACR1281U PICC Reader 01 00", .contactless),
                ("OMNIKEY CardMan 5321 [OMNIKEY 5321 CL] 00 01", .contactless),
                ("Broadcom Corp 5880 [Contacted SmartCard] (0123456789ABCD) 00 00", .contact),
                ("HID Global OMNIKEY 5022 Smart Card Reader 00 00", .contactless),
                // Its manual knows cards with contacts only.
                ("Identive CLOUD 2700 F Smart Card Reader 00 00", .unknown), ("SCM PN533 00 00", .unknown),
            ])
        func words(name: String, slot: PCSCReaderName.Slot) {
            #expect(PCSCReaderName(name).slot == slot)
        }

        @Test func `numbers are taken apart, and no odd name traps`() {
            let name = PCSCReaderName("X (A) 0A 1F")
            #expect(name.readerNumber == 0x0A && name.slotNumber == 0x1F && name.stem == "X (A)")
            for odd in [
                "", " 00 00", "é 00 0", "X 0G 00", "X 00  0", "X\u{300} 00 00", "X +1 00", "００ ００", "X \u{661}0 00",
            ] {
                let name = PCSCReaderName(odd)
                #expect(name.full == odd && (name.readerNumber == nil || odd.hasSuffix(" 00 00")))
            }
        }
    }

    /// Through the unmodified pcscd and Debian's vpcd driver, which has two slots.
    @Suite(
        .enabled(
            if: PrivatePCSCD.missing == nil || ProcessInfo.processInfo.environment["CI"] != nil,
            Comment(rawValue: PrivatePCSCD.missing ?? "")))
    struct PrivateSlotTests {
        @Test("R7: behind the real pcscd the second slot's card is taken, whatever lies in the first")
        func realService() async {
            await #expect(processExitsWith: .success) {
                let stanza = PrivatePCSCD.Stanza(name: "ACS ACR1281U")
                let pcscd = try PrivatePCSCD([stanza])
                unsafe setenv("PCSCLITE_CSOCK_NAME", pcscd.socketPath, 1)
                let contacts = VPCDCard(port: stanza.port, in: pcscd.network)
                contacts.insert(TestCard(uid: [], atr: try Hex.bytes("3B6500002063CBA300")))
                let card = VPCDCard(port: stanza.port + 1, in: pcscd.network)
                let reader = try PCSCReaders.open(matching: "ACR1281U")
                card.insert(SmokeCard())
                #expect(try reader.activate(until: soon(), cancellation: TapCancellation()).isCard)
                #expect(reader.identity.name == "ACS ACR1281U 00 01")
                reader.close()
            }
        }
    }
}
