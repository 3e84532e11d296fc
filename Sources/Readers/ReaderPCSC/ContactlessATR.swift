// SPDX-License-Identifier: Apache-2.0
import CardBytes
import ReaderModels

/// What an ATR that a contactless reader made up says of the card behind it (PC/SC part 3, section 3.1.3.2.3). It never
/// tells a payment scheme. The layout follows samples of real cards, not the text of the standard.
enum ContactlessATR: Equatable {
    /// ISO/IEC 14443-4 type A, with the historical bytes of its ATS.
    case typeA(historicalBytes: [UInt8])
    /// ISO/IEC 14443-4 type B, with the three protocol info bytes of its ATQB.
    case typeB(protocolInfo: [UInt8])
    /// Memory without ISO/IEC 14443-4, by the card name of the standard's list (1 MIFARE Classic 1K, 3 Ultralight …), and the
    /// standard that it follows (3 is ISO/IEC 14443-3 type A).
    case memoryCard(name: UInt16, standard: UInt8 = 0x03)

    /// - Returns: `nil` for the ATR of a card with contacts, and for bytes that are no ATR.
    init?(_ atr: [UInt8]) {
        guard atr.count >= 5, atr[0] == 0x3B, atr[1] & 0xF0 == 0x80, atr[2] == 0x80, atr[3] == 0x01 else { return nil }
        let count = Int(atr[1] & 0x0F)
        guard atr.count == 5 + count, atr.dropFirst().reduce(0, ^) == 0 else { return nil }
        let bytes = Array(atr[4..<(4 + count)])
        if let name = Self.memoryCardName(bytes) {
            self = .memoryCard(name: name, standard: bytes[8])
        } else if Self.isTypeB(bytes) {
            self = .typeB(protocolInfo: Array(bytes[4..<7]))
        } else {
            self = .typeA(historicalBytes: bytes)
        }
    }

    /// Whether the ATR may be that of a card in a reader's field.
    ///
    /// By PC/SC part 3 it is `3B 8n 80 01 …`. SCM's first dual readers answer `3B Fn 91 00 FF 91 81 71 …` instead, with SAK and
    /// ATQA in it, for payment cards too (pcsc-tools' list of ATRs). Where the reader's name says that it has no contacts, any ATR
    /// counts, except one with TA1, TB1 or TC1, which describe contacts: the card then lies in another slot.
    static func mayBeContactless(_ atr: [UInt8], in slot: PCSCReaderName.Slot) -> Bool {
        guard atr.count >= 2, atr[0] == 0x3B || atr[0] == 0x3F else { return true }
        guard atr[0] == 0x3B else { return false }
        switch atr[1] & 0xF0 {
        case 0x80 where atr.dropFirst(2).starts(with: [0x80, 0x01]): return true
        case 0xF0 where atr.dropFirst(2).starts(with: [0x91, 0x00, 0xFF, 0x91, 0x81, 0x71]): return true
        case let format: return slot == .contactless && format & 0x70 == 0
        }
    }

    private static func memoryCardName(_ bytes: [UInt8]) -> UInt16? {
        guard bytes.count == 15, bytes.starts(with: [0x80, 0x4F, 0x0C, 0xA0, 0x00, 0x00, 0x03, 0x06]) else {
            return nil
        }
        return UInt16(bytes[9]) << 8 | UInt16(bytes[10])
    }

    /// Eight bytes can be either. Type B: application data (4), protocol info (3), MBLI in the high nibble; the second
    /// protocol info byte has a frame size code up to 8 and the bit for ISO/IEC 14443-4, whose neighbours are 0.
    private static func isTypeB(_ bytes: [UInt8]) -> Bool {
        bytes.count == 8 && bytes[7] & 0x0F == 0 && bytes[5] & 0x09 == 0x01 && bytes[5] >> 4 <= 8
    }
}

extension CardActivation {
    /// What the ATR tells; UID and ATS are asked for separately.
    init(atr: [UInt8]) {
        switch ContactlessATR(atr) {
        case .typeA: self.init(technology: .typeA, atr: atr)
        case .typeB(let protocolInfo): self.init(technology: .typeB, answerToSelect: protocolInfo, atr: atr)
        case .memoryCard(let name, let standard):
            let technology = Self.technology(ofMemoryCard: name, standard)
            self.init(
                technology: technology, atr: atr, sak: technology == .typeA ? Self.sak(ofMemoryCard: name) : nil)
        // With the technology named: `init(atr:)` alone would be this initialiser again.
        case nil: self.init(technology: .unknown, atr: atr)
        }
    }

    /// By the standard that the ATR names (PC/SC part 3 supplement). ACS's readers say "type A" of FeliCa cards, and put a name
    /// of their own beside it (ACR122U API, ATR of storage cards).
    private static func technology(ofMemoryCard name: UInt16, _ standard: UInt8) -> Technology {
        switch (standard, name) {
        case (_, 0x003B), (_, 0xF011), (_, 0xF012), (0x11, _): .feliCa
        // Where the reader names no standard, of the commonest names.
        case (0x01...0x03, _), (0x00, 0x0001...0x0003): .typeA
        case (0x05...0x07, _): .typeB
        case (0x09...0x0C, _): .iso15693
        default: .unknown
        }
    }

    /// The usual SAK of the chip; what matters is that bit 6 (ISO/IEC 14443-4) is not set.
    private static func sak(ofMemoryCard name: UInt16) -> UInt8 {
        switch name {
        case 1: 0x08
        case 2: 0x18
        // "Undefined tag": the reader has put the SAK itself there (ACR122U API, ATR of storage cards).
        case 0xFF00...0xFFFF: UInt8(truncatingIfNeeded: name)
        default: 0x00
        }
    }
}
