// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV
import FuzzSupport

/// Inputs to begin with: every card as it is and with one byte changed in each answer, and empty requests.
enum CryptoSeeds {
    static func write(to folder: String) {
        for card in CryptoTargets.cards.indices {
            for terminal: UInt8 in [0x00, 0x40, 0x80] {
                let number = UInt8(truncatingIfNeeded: card) + CryptoTargets.rounds(terminal)
                Fuzzer.write([0, number], to: folder, named: "card-\(card)-\(terminal)")
                for step: UInt8 in 1...10 {
                    Fuzzer.write([0, number, step, 40, 0x01], to: folder, named: "card-\(card)-\(terminal)-\(step)")
                }
            }
        }
        for target: UInt8 in 1...4 {
            Fuzzer.write([target] + [UInt8](repeating: 32, count: 400), to: folder, named: "target-\(target)")
        }
    }
}

extension CryptoTargets {
    /// What to add to a card's number for these bits of the terminal, so that the card stays the same.
    static func rounds(_ bits: UInt8) -> UInt8 {
        let count = UInt8(truncatingIfNeeded: cards.count)
        return (bits / count + (bits % count == 0 ? 0 : 1)) * count
    }
}
