// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import ReaderCore
import ReaderModels
import Rigs
import Testing

@testable import ReaderPCSC

extension PCSCTests {
    @Suite struct ListingTests {
        @Test func `every slot is listed with its model and what is behind it`() throws {
            let fake = try FakePCSCD.shared()
            let names = [
                "Rig List Dual Reader [List Dual Reader PICC] (A1B2) 00 00",
                "Rig List Dual Reader [List Dual Reader SAM] (A1B2) 01 00", "Rig List Plain 02 00",
            ]
            for name in names { try fake.plug(name) }
            defer { for name in names { try? fake.unplug(name) } }
            let entries = try PCSCReaders.list().filter { names.contains($0.identity.name) }
            #expect(entries.map(\.slot) == [.contactless, .sam, .unknown])
            #expect(entries[0].identity.model == "Rig List Dual Reader [List Dual Reader PICC]")
            #expect(entries[0].identity.serial == "A1B2")
            #expect(entries.allSatisfy { $0.identity.driver == .pcsc })
        }

        @Test func `a contactless card tells what its reader's name does not`() throws {
            let live = try LiveReader("Hidden")
            let name = "Rig Nameless 00 00"
            try live.fake.plug(name)
            defer { try? live.fake.unplug(name) }
            try live.fake.insert(SmokeCard(), into: name)
            let found = try PCSCReaders.list().first { $0.identity.name == name }
            #expect(found?.slot == .contactless && found?.hasCard == true && found?.isInUse == false)
        }

        @Test func `contactless slots are chosen by part of the name, certain ones first`() throws {
            func entry(_ name: String) -> PCSCReaders.Entry {
                let name = PCSCReaderName(name)
                return PCSCReaders.Entry(identity: ReaderIdentity(name), slot: name.slot)
            }
            let entries = ["Plain A 00 00", "Dual [X ICC] 01 00", "Dual [X PICC] 01 01", "Dual [X SAM] 01 02"].map(
                entry)
            func names(_ text: String) throws(ReaderError) -> [[String]] {
                try PCSCReaders.suitable(in: entries, matching: text).map { $0.map(\.identity.name) }
            }
            #expect(try names("") == [["Dual [X PICC] 01 01"], ["Plain A 00 00"]])
            #expect(try names("dual") == [["Dual [X PICC] 01 01"]])
            #expect(throws: ReaderError.serviceUnavailable(.unknownReader)) { try names("none") }
            #expect(throws: ReaderError.serviceUnavailable(.unsuitableReader)) { try names("x icc") }
        }
    }

    @Suite struct ReaderNameTests {
        /// Full name, model, serial part, slot.
        static let names: [(String, String, String?, PCSCReaderName.Slot)] = [
            ("ACS ACR122U PICC Interface 00 00", "ACS ACR122U PICC Interface", nil, .contactless),
            (
                "ACS ACR1252 Dual Reader [ACR1252 Dual Reader PICC] (1-2.3) 0A 01",
                "ACS ACR1252 Dual Reader [ACR1252 Dual Reader PICC]", "1-2.3", .contactless
            ),
            (
                "HID Global OMNIKEY 5422 Smartcard Reader [OMNIKEY 5422CL Smartcard Reader] (KI0) 01 00",
                "HID Global OMNIKEY 5422 Smartcard Reader [OMNIKEY 5422CL Smartcard Reader]", "KI0", .contactless
            ),
            ("Identiv uTrust 3700 F CL Reader 00 00", "Identiv uTrust 3700 F CL Reader", nil, .contactless),
            // One of six slots, and the word is the whole reader's.
            ("Elatec TWN4 SmartCard NFC 00 00", "Elatec TWN4 SmartCard NFC", nil, .unknown),
            ("SpringCard Prox'N'Roll 00 00", "SpringCard Prox'N'Roll", nil, .contactless),
            ("X [X Contact Reader] 00 00", "X [X Contact Reader]", nil, .contact),
            ("ACS ACR1281 1S Dual Reader ICC 00 00", "ACS ACR1281 1S Dual Reader ICC", nil, .contact),
            ("Virtual PCD 00 01", "Virtual PCD", nil, .unknown),
            ("No index", "No index", nil, .unknown), ("00 00", "00 00", nil, .unknown), ("", "", nil, .unknown),
            ("Odd ) 00 00", "Odd )", nil, .unknown), ("(only) 00 00", "(only)", nil, .unknown),
        ]

        @Test(arguments: names)
        func `a name comes apart into what stays and what changes`(
            full: String, model: String, serial: String?, slot: PCSCReaderName.Slot
        ) {
            let name = PCSCReaderName(full)
            #expect(name.model == model)
            #expect(name.serial == serial)
            #expect(name.slot == slot)
            #expect(name.full == full)
        }
    }

    @Suite struct ContactlessATRTests {
        /// Samples of real cards, and what they are.
        static let samples: [(String, ContactlessATR?)] = [
            ("3B8580012063CBA3A08F", .typeA(historicalBytes: [0x20, 0x63, 0xCB, 0xA3, 0xA0])),
            ("3B8680014B4F4E41141109", .typeA(historicalBytes: [0x4B, 0x4F, 0x4E, 0x41, 0x14, 0x11])),
            // Eight bytes, but no protocol info of type B.
            ("3B8880010073C8401300900071", .typeA(historicalBytes: [0x00, 0x73, 0xC8, 0x40, 0x13, 0x00, 0x90, 0x00])),
            ("3B888001000000008081710079", .typeB(protocolInfo: [0x80, 0x81, 0x71])),
            ("3B8880010000000000817700FF", .typeB(protocolInfo: [0x00, 0x81, 0x77])),
            ("3B80800101", .typeA(historicalBytes: [])),
            ("3B8F8001804F0CA000000306030001000000006A", .memoryCard(name: 1)),
            // A card with contacts, a wrong check byte, too short, too long, nothing.
            ("3B6500002063CBA300", nil), ("3B8580012063CBA3A08E", nil), ("3B858001", nil),
            ("3B8580012063CBA3A08F00", nil), ("", nil),
        ]

        @Test(arguments: samples)
        func `an ATR tells technology and memory cards, or nothing`(hex: String, expected: ContactlessATR?) throws {
            #expect(ContactlessATR(try Hex.bytes(hex)) == expected)
        }

        @Test func `no ATR of any length traps`() {
            for length in 0..<40 {
                for count in UInt8(0)..<16 {
                    var atr = [UInt8](repeating: 0, count: length)
                    for (index, byte) in [0x3B, 0x80 | count, 0x80, 0x01].prefix(length).enumerated() {
                        atr[index] = byte
                    }
                    let isWhole = length == 5 + Int(count) && atr.dropFirst().reduce(0, ^) == 0
                    #expect((ContactlessATR(atr) != nil) == isWhole)
                }
            }
        }
    }
}
