// SPDX-License-Identifier: Apache-2.0
import CardBytes
import TestSupport

/// What may happen to an answer, the same on every machine.
struct Disturbances {
    private var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    /// A lost card, answers cut off, answers with a tail, random ones and ones with a flipped bit.
    ///
    /// - Parameter size: data bytes of the answer.
    mutating func list(size: Int, flips: Int, randoms: Int) -> [Tap.Disturbance] {
        var list: [Tap.Disturbance] = [.cardLost]
        for count in Set([0, 1, size / 2, size - 1]) where count >= 0 && count < size {
            list.append(.truncated(count))
        }
        list += [.appended([0x01]), .appended([UInt8](repeating: 0x70, count: 300))]
        for _ in 0..<randoms {
            let status: StatusWord =
                Bool.random(using: &generator) ? .success : StatusWord(.random(in: 0x6000...0x6FFF, using: &generator))
            let heads: [[UInt8]] = [[], [0x6F], [0x70], [0x77], [0x80], [0x77, 0x81, 0xFF]]
            var bytes = heads.randomElement(using: &generator) ?? []
            for _ in 0..<Int.random(in: 0...256, using: &generator) {
                bytes.append(.random(in: 0...255, using: &generator))
            }
            list.append(.replaced(bytes, status))
        }
        for _ in 0..<flips where size > 0 {
            let bit = UInt8.random(in: 0..<8, using: &generator)
            list.append(.flipped(.random(in: 0..<size, using: &generator), 1 << bit))
        }
        return list
    }
}
