// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim

/// A card whose answer the command itself chooses, by class E0: what crosses the line unharmed can be told exactly.
struct InstructionCard: VirtualCard {
    var activation: CardActivation
    private(set) var powerOns = 0

    static let typeA = InstructionCard(
        activation: CardActivation(
            technology: .typeA, uid: [0x08, 0xA1, 0xB2, 0xC3],
            answerToSelect: [0x78, 0x80, 0x80, 0x02, 0x20, 0x63, 0xCB, 0xA3, 0xA0], sak: 0x20))
    static let otherTypeA = InstructionCard(
        activation: CardActivation(
            technology: .typeA, uid: [0x04, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66],
            answerToSelect: [0x78, 0x80, 0x80, 0x02], sak: 0x20))
    static let typeB = InstructionCard(
        activation: CardActivation(
            technology: .typeB, uid: [0x11, 0x22, 0x33, 0x44], answerToSelect: [0x80, 0x81, 0x71]))
    static let memory = InstructionCard(
        activation: CardActivation(technology: .typeA, uid: [0x01, 0x02, 0x03, 0x04], sak: 0x08))

    mutating func powerOn() { powerOns += 1 }

    /// 01 echo of the data · 02 P1P2 bytes 00 01 02 … · 03 status word P1P2 · 04 a pause of P1P2 ms · 05 gone ·
    /// 06 nothing at all · 0A length of the command, four bytes.
    mutating func answer(_ command: [UInt8]) -> VirtualCardReply {
        guard command.count >= 4, command[0] == 0xE0 else { return .answer([0x6D, 0x00]) }
        let number = Int(command[2]) << 8 | Int(command[3])
        switch command[1] {
        case 0x01: return .answer(command.dropFirst(5) + [0x90, 0x00])
        case 0x02: return .answer((0..<number).map { UInt8(truncatingIfNeeded: $0) } + [0x90, 0x00])
        case 0x03: return .answer([command[2], command[3]])
        case 0x04: return .late([0x90, 0x00], milliseconds: UInt64(number))
        case 0x05: return .gone
        case 0x06: return .answer([])
        case 0x0A: return .answer([0, 0, UInt8(command.count >> 8), UInt8(command.count & 0xFF), 0x90, 0x00])
        default: return .answer([0x6D, 0x00])
        }
    }
}

extension CommandAPDU {
    static func instruction(_ ins: UInt8, _ number: Int = 0) throws -> CommandAPDU {
        try CommandAPDU(
            cla: 0xE0, ins: ins, p1: UInt8(number >> 8), p2: UInt8(number & 0xFF))
    }

    static func echo(_ data: [UInt8]) throws -> CommandAPDU {
        try CommandAPDU(cla: 0xE0, ins: 0x01, p1: 0, p2: 0, data: data)
    }
}
