// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim

/// A card that takes its time for each answer, so that something can happen while it is read.
struct PacedCard: VirtualCard {
    private var card: any VirtualCard
    private let milliseconds: UInt64

    init(_ card: any VirtualCard, milliseconds: UInt64) {
        self.card = card
        self.milliseconds = milliseconds
    }

    var activation: CardActivation { card.activation }

    mutating func powerOn() { card.powerOn() }

    mutating func answer(_ command: [UInt8]) -> VirtualCardReply {
        switch card.answer(command) {
        // What the reader answers by itself is quick.
        case .answer(let bytes) where command.first != 0xFF: .late(bytes, milliseconds: milliseconds)
        case .answer(let bytes): .answer(bytes)
        case .late(let bytes, let pause): .late(bytes, milliseconds: pause + milliseconds)
        case .gone: .gone
        }
    }
}
