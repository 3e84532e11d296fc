// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim

/// The chip's commands on the cards before it, without line and clock (PN532 user manual §7).
struct PN532Chip {
    /// What a command leads to.
    enum Reaction: Equatable {
        /// Response code and data, after a pause.
        case answer([UInt8], milliseconds: UInt64)
        /// No answer before a card comes or the time is over; without a limit where `nil`. Anything from the host ends
        /// the wait. The answer at the end of the time is `otherwise`.
        case wait(milliseconds: UInt64?, otherwise: [UInt8])
        case syntaxError
    }

    private struct Slot {
        let id: Int
        var card: PN532Card
    }

    private var cards: [Slot] = []
    private var lastID = 0
    private var active: Int?
    private var halted: Set<Int> = []
    private var registers: [UInt16: UInt8] = [:]
    private var isRATSOn = true
    private var retries: UInt8 = 0xFF
    private var rest: [UInt8] = []
    /// With the active card, once the host itself has brought it to blocks: by RATS or ATTRIB in frames of its own.
    private var dialogue: PN532BlockDialogue?
    private(set) var isFieldOn = false
    /// Raw frames of the host that no presence check explains.
    private(set) var rawFrames: [PN532RawFrame] = []

    // The world around the antenna.

    mutating func insert(_ card: PN532Card) {
        lastID += 1
        cards.append(Slot(id: lastID, card: card))
    }

    mutating func removeAll() { cards = [] }

    /// Takes the card that is selected, or else all, out of the field.
    mutating func removeActive() { cards.removeAll { $0.id == active || active == nil } }

    // Commands.

    mutating func execute(_ command: [UInt8]) -> Reaction {
        guard let code = command.first else { return .syntaxError }
        let data = Array(command.dropFirst())
        if code != 0x40 { rest = [] }
        switch code {
        case 0x00: return plain(code, data)
        case 0x02: return plain(code, [0x32, 0x01, 0x06, 0x07])
        case 0x06: return plain(code, readRegisters(data))
        case 0x08: return writeRegisters(data)
        // The baud rate: a pseudo-terminal has none. The host's ACK that follows finds nothing to stop.
        case 0x10: return data.count == 1 && data[0] <= 0x08 ? plain(code) : .syntaxError
        case 0x12:
            isRATSOn = (data.first ?? 0) & 0x10 != 0
            return plain(code)
        case 0x14: return plain(code)
        case 0x16, 0x4E, 0x54: return plain(code, [0x00])
        case 0x32: return configure(data)
        case 0x40: return exchange(data)
        case 0x42: return communicateThrough(data)
        case 0x44:
            halt()
            return plain(code, [0x00])
        case 0x4A: return list(data)
        case 0x52:
            release()
            return plain(code, [0x00])
        case 0x60: return autoPoll(data)
        default: return .syntaxError
        }
    }

    private func plain(_ code: UInt8, _ data: [UInt8] = []) -> Reaction {
        .answer([code &+ 1] + data, milliseconds: 0)
    }

    private func readRegisters(_ data: [UInt8]) -> [UInt8] {
        stride(from: 0, to: data.count - 1, by: 2).map {
            registers[UInt16(data[$0]) << 8 | UInt16(data[$0 + 1])] ?? 0
        }
    }

    private mutating func writeRegisters(_ data: [UInt8]) -> Reaction {
        for index in stride(from: 0, to: data.count - 2, by: 3) {
            registers[UInt16(data[index]) << 8 | UInt16(data[index + 1])] = data[index + 2]
        }
        return plain(0x08)
    }

    private mutating func configure(_ data: [UInt8]) -> Reaction {
        switch data.first {
        case 0x01:
            isFieldOn = (data.last ?? 0) & 0x01 != 0
            if !isFieldOn {
                release()
                halted = []
            }
        case 0x05: retries = data.last ?? 0xFF
        default: break
        }
        return plain(0x32)
    }

    private mutating func release() {
        active = nil
        dialogue = nil
    }

    private mutating func halt() {
        if let active { halted.insert(active) }
        release()
    }

    private mutating func list(_ data: [UInt8]) -> Reaction {
        let wantsTypeA = data.count > 1 && data[1] == 0x00
        let wantsTypeB = data.count > 1 && data[1] == 0x03
        isFieldOn = true
        // Of FeliCa and Jewel (1, 2, 4) there is never one here.
        guard wantsTypeA || wantsTypeB, let target = activate(typeB: wantsTypeB) else {
            if wantsTypeA {
                // Taken from others, not measured: the search for type A leaves the chip as its own WUPA wanted it. nfcpy
                // knows by the REQA left in the FIFO that nobody answered.
                registers[PN532RawFrame.bitFraming] = 0x07
                registers[0x6339] = 0x26
            }
            return .wait(milliseconds: retries == 0xFF ? nil : 20, otherwise: [0x4B, 0x00])
        }
        return plain(0x4A, [0x01] + target)
    }

    private mutating func autoPoll(_ data: [UInt8]) -> Reaction {
        guard data.count >= 3 else { return .syntaxError }
        let types = data[2...]
        isFieldOn = true
        let typesA: [UInt8] = [0x00, 0x10, 0x20]
        if types.contains(where: typesA.contains), let target = activate(typeB: false) {
            // SAK is the fourth byte of the target data.
            let type: UInt8 = target[3] & 0x20 != 0 && types.contains(0x20) ? 0x20 : 0x10
            return plain(0x60, [0x01, type, UInt8(truncatingIfNeeded: target.count)] + target)
        }
        if types.contains(where: { $0 == 0x03 || $0 == 0x23 }), let target = activate(typeB: true) {
            return plain(
                0x60, [0x01, types.contains(0x23) ? 0x23 : 0x03, UInt8(truncatingIfNeeded: target.count)] + target)
        }
        let time = UInt64(data[0]) * UInt64(data[1]) * 150 * UInt64(types.count)
        return .wait(milliseconds: data[0] == 0xFF ? nil : time, otherwise: [0x61, 0x00])
    }

    /// Makes the first card of the type that is not halted the active one.
    private mutating func activate(typeB: Bool) -> [UInt8]? {
        guard let index = cards.firstIndex(where: { !halted.contains($0.id) && $0.card.isTypeB == typeB }) else {
            return nil
        }
        guard cards[index].card.isFound() else { return nil }
        cards[index].card.card.powerOn()
        active = cards[index].id
        dialogue = nil
        return cards[index].card.targetData(withATS: isRATSOn)
    }

    private mutating func exchange(_ data: [UInt8]) -> Reaction {
        guard let target = data.first, target & 0x3F == 1,
            let index = cards.firstIndex(where: { $0.id == active })
        else { return plain(0x40, [0x01]) }
        let command = Array(data.dropFirst())
        if command.isEmpty { return nextPiece(of: cards[index].card.piece, after: 0) }
        switch cards[index].card.card.answer(command) {
        case .answer(let bytes):
            rest = bytes
            return nextPiece(of: cards[index].card.piece, after: 0)
        case .late(let bytes, let milliseconds):
            rest = bytes
            return nextPiece(of: cards[index].card.piece, after: milliseconds)
        case .gone:
            cards.remove(at: index)
            return plain(0x40, [0x01])
        }
    }

    private mutating func nextPiece(of size: Int, after milliseconds: UInt64) -> Reaction {
        let piece = rest.prefix(size)
        rest = Array(rest.dropFirst(size))
        return .answer([0x41, rest.isEmpty ? 0x00 : 0x40] + piece, milliseconds: milliseconds)
    }

    /// Frames of the host's own. While the chip itself speaks blocks with the card, only presence checks are answered, by
    /// R(ACK) to R(NAK); a card that the chip has only selected is brought to blocks by the host, as nfcpy does it.
    private mutating func communicateThrough(_ data: [UInt8]) -> Reaction {
        guard let index = cards.firstIndex(where: { $0.id == active }) else {
            if active == nil { noteRawFrame(data) }
            return plain(0x42, [0x01])
        }
        if dialogue != nil { return exchangeBlock(data, cards[index]) }
        if let answer = begin(data, cards[index].card) { return plain(0x42, [0x00] + answer) }
        return plain(0x42, data.first == 0xB2 || data.first == 0xBA ? [0x00, 0xA3] : [0x01])
    }

    private mutating func noteRawFrame(_ data: [UInt8]) {
        rawFrames.append(
            PN532RawFrame(
                bytes: data, bitsOfLastByte: (registers[PN532RawFrame.bitFraming] ?? 0) & 0x07,
                addsChecksum: (registers[PN532RawFrame.transmitMode] ?? 0) & 0x80 != 0))
    }

    /// What leads to blocks: RATS; of type B, S(DESELECT) after the chip's own ATTRIB, then WUPB and ATTRIB.
    ///
    /// - Returns: the card's answer, without its checksum; `nil` for anything else.
    private mutating func begin(_ frame: [UInt8], _ card: PN532Card) -> [UInt8]? {
        if card.isTypeB {
            switch frame.first {
            case 0xCA where frame.count == 2: return frame
            case 0x05 where frame.count == 3: return Array(card.targetData(withATS: false).dropFirst().prefix(12))
            case 0x1D where frame.count >= 9 && Array(frame[1..<5]) == card.card.activation.uid:
                // Param 2: the low half is FSDI (ISO/IEC 14443-3 §7.10.4).
                dialogue = PN532BlockDialogue(frameSize: frame[6] & 0x0F)
                return [frame[8] & 0x0F]
            default: return nil
            }
        }
        guard !isRATSOn, frame.count == 2, frame[0] == 0xE0, (card.card.activation.sak ?? 0x20) & 0x20 != 0 else {
            return nil
        }
        dialogue = PN532BlockDialogue(frameSize: frame[1] >> 4)
        return card.ats
    }

    private mutating func exchangeBlock(_ block: [UInt8], _ slot: Slot) -> Reaction {
        guard var dialogue, let index = cards.firstIndex(where: { $0.id == slot.id }) else {
            return plain(0x42, [0x01])
        }
        let reaction = dialogue.receive(block, &cards[index].card.card)
        self.dialogue = dialogue
        switch reaction {
        case .block(let answer, let milliseconds): return .answer([0x43, 0x00] + answer, milliseconds: milliseconds)
        case .silence: return plain(0x42, [0x01])
        case .deselected(let answer):
            halt()
            return plain(0x42, [0x00] + answer)
        case .gone:
            cards.remove(at: index)
            return plain(0x42, [0x01])
        }
    }
}
