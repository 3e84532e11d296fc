// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim

/// A card that answers its own name and how many commands it has seen since its power came on, or what P1 asks for.
struct CountingCard: VirtualCard {
    let name: UInt8
    private var commands: UInt8 = 0

    init(name: UInt8) { self.name = name }

    var activation: CardActivation { CardActivation(technology: .typeA, uid: [0x08, 0, 0, name], sak: 0x20) }

    mutating func powerOn() { commands = 0 }

    /// P1 01 a pause of P2 × 10 ms · 02 gone · 03 one byte, no status word.
    mutating func answer(_ command: [UInt8]) -> VirtualCardReply {
        commands += 1
        let answer: [UInt8] = [name, commands, 0x90, 0x00]
        guard command.count >= 4 else { return .answer([0x67, 0x00]) }
        switch command[2] {
        case 0x01: return .late(answer, milliseconds: UInt64(command[3]) * 10)
        case 0x02: return .gone
        case 0x03: return .answer([0x90])
        default: return .answer(answer)
        }
    }

    /// What `VirtualReaderControl` asks for: "one" and "two".
    static func named(_ name: String) -> (any VirtualCard)? {
        switch name {
        case "one": CountingCard(name: 1)
        case "two": CountingCard(name: 2)
        default: nil
        }
    }
}
