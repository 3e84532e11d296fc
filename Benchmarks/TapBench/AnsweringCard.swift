// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim

/// A card that answers recorded commands, at once or after the same time each.
struct AnsweringCard: VirtualCard {
    let activation: CardActivation
    private let exchanges: [(command: [UInt8], answer: [UInt8])]

    private let milliseconds: UInt64

    init(_ tap: RecordedTap, milliseconds: UInt64 = 0) {
        self.milliseconds = milliseconds
        activation = tap.activation
        exchanges = zip(tap.commands, tap.answers).map { ($0.bytes, $1.bytes) }
    }

    mutating func powerOn() {}

    mutating func answer(_ command: [UInt8]) -> VirtualCardReply {
        for exchange in exchanges where exchange.command == command {
            return milliseconds == 0
                ? .answer(exchange.answer) : .late(exchange.answer, milliseconds: milliseconds)
        }
        return .answer([0x6F, 0x00])
    }
}
