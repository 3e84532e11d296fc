// SPDX-License-Identifier: Apache-2.0
import CardBytes
import ReaderModels
import Testing

@testable import ReaderPCSC

extension PCSCTests {
    /// ATRs of real cards in real readers, from pcsc-tools' `smartcard_list.txt`.
    @Suite struct PartThreeTests {
        static let storageCards: [(String, CardActivation.Technology, UInt8?)] = [
            ("03 00 01 00 00 00 00 6A", .typeA, 0x08), ("03 00 02 00 00 00 00 69", .typeA, 0x18),
            ("03 00 03 00 00 00 00 68", .typeA, 0x00), ("03 00 00 00 00 00 00 6B", .typeA, 0x00),
            // Topaz, and SAKs in place of a name: a Nokia N9, an SLE 66R35, a card that takes APDUs.
            ("03 F0 04 00 00 00 00 9F", .typeA, 0x00), ("03 FF 40 00 00 00 00 D4", .typeA, 0x40),
            ("03 FF 88 00 00 00 00 1C", .typeA, 0x88), ("03 FF 28 00 00 00 00 BC", .typeA, 0x28),
            // FeliCa: Suica by the standard, and as an ACR122U says it.
            ("11 00 3B 00 00 00 00 42", .feliCa, nil), ("03 F0 11 00 00 00 00 8A", .feliCa, nil),
            // ISO/IEC 14443-3 type B: CryptoRF, a CTS ticket, a Chinese identity card.
            ("07 00 00 00 00 00 00 6F", .typeB, nil), ("07 43 44 60 02 01 E4 EF", .typeB, nil),
            ("07 FF B0 00 00 00 00 20", .typeB, nil),
            // ISO/IEC 15693: iCLASS, EM, Infineon, Tag-it, LRI512, I-CODE.
            ("0A 00 1C 00 00 00 00 7E", .iso15693, nil), ("0B 00 00 00 00 00 00 63", .iso15693, nil),
            ("0B 00 0E 00 00 00 00 6D", .iso15693, nil), ("0B 00 12 00 00 00 00 71", .iso15693, nil),
            ("0B 00 13 00 00 00 00 70", .iso15693, nil), ("0B 00 14 00 00 00 00 77", .iso15693, nil),
            // A phone that shares, and a 125 kHz card: the reader names no standard of these.
            ("00 00 00 00 00 00 00 68", .unknown, nil), ("40 00 00 00 00 00 00 28", .unknown, nil),
        ]

        @Test(arguments: storageCards)
        func `R14: a storage card has the technology that its ATR names`(
            hex: String, technology: CardActivation.Technology, sak: UInt8?
        ) throws {
            let atr = try Hex.bytes("3B8F8001804F0CA000000306" + hex.filter { $0 != " " })
            let activation = CardActivation(atr: atr)
            #expect(activation.technology == technology)
            #expect(activation.sak == sak)
        }

        /// Payment cards on their contacts, by the same list.
        static let contacts = [
            "3B 68 00 00 00 73 C8 40 00 00 90 00", "3B 65 00 00 20 63 CB 68 00",
            "3B 68 00 00 4D 43 43 43 4C 32 2E 31", "3B 6E 00 00 80 31 80 66 B0 84 16 01 6E 01 83 00 90 00",
            "3B E6 00 FF 81 31 FE 45 44 49 20 30 32 4D 70", "3B E8 00 FF 81 31 FE 45 43 4C 61 69 72 65 20 36 1A",
            "3B 9F 11 81 11 3D 00 0A 78 80 70 02 20 63 CB B7 80 00 00 00 00 1C", "3F 65 25 08 22 04 68 90 00",
        ]

        @Test(arguments: contacts)
        func `R8: an ATR of contacts is no contactless card, whatever the reader is called`(hex: String) throws {
            let atr = try Hex.bytes(hex.filter { $0 != " " })
            #expect(!ContactlessATR.mayBeContactless(atr, in: .contactless))
            #expect(!ContactlessATR.mayBeContactless(atr, in: .unknown))
        }

        /// By part 3, and by SCM's readers that came before it: a MasterCard, an American Express card, a girocard, DESFire.
        static let contactless = [
            "3B 80 80 01 01", "3B 85 80 01 20 63 CB AD 20 01", "3B 88 80 01 00 00 00 00 80 81 71 00 79",
            "3B FB 91 00 FF 91 81 71 FE 40 00 41 20 00 01 00 81 20 63 CB A0 80 03",
            "3B F5 91 00 FF 91 81 71 FE 40 00 42 00 01 00 81 86",
            "3B FD 91 00 FF 91 81 71 FE 40 00 41 20 00 41 00 81 80 31 C0 73 D6 21 C0 D8",
            "3B F7 91 00 FF 91 81 71 FE 40 00 41 20 00 11 77 81 80 40",
            // A wrong check byte is the reader's mistake.
            "3B 85 80 01 20 63 CB AD 20 FF", "",
        ]

        @Test(arguments: contactless)
        func `R8: no contactless card is locked out`(hex: String) throws {
            let atr = try Hex.bytes(hex.filter { $0 != " " })
            #expect(ContactlessATR.mayBeContactless(atr, in: .contactless))
            #expect(ContactlessATR.mayBeContactless(atr, in: .unknown))
        }

        @Test(arguments: ["3B 04 41 11 77 81", "3B 09 41 04 11 DD 82 2F 00 00 88", "3B 9C 80 11 40"])
        func `R8: an ATR that says nothing counts where the reader has no contacts`(hex: String) throws {
            let atr = try Hex.bytes(hex.filter { $0 != " " })
            let describesContacts = atr[1] & 0x70 != 0
            #expect(ContactlessATR.mayBeContactless(atr, in: .contactless) == !describesContacts)
            #expect(!ContactlessATR.mayBeContactless(atr, in: .unknown))
        }

        static let names: [(String, PCSCReaderName.Slot)] = [
            ("Gemalto Lecteur sans contact 00 00", .contactless), ("X Lecteur à contact 00 00", .contact),
            ("X [Interface Sans-Contact] 00 00", .contactless), ("X Contact Less Reader 00 00", .contactless),
            ("X Contact-less Reader 00 00", .contactless), ("X Non-contact Reader 00 00", .contactless),
            ("X Lettore senza contatto 00 00", .contactless), ("X Lector sin contacto 00 00", .contactless),
            ("X Kontaktlos-Leser 00 00", .contactless), ("X Contact Reader 00 00", .contact),
            ("sans 00 00", .unknown), ("contact sans 00 00", .contact),
        ]

        @Test(arguments: names)
        func `R13: a phrase for "contactless" is not the word "contact" in it`(
            name: String, slot: PCSCReaderName.Slot
        ) {
            #expect(PCSCReaderName(name).slot == slot)
        }
    }
}
