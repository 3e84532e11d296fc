// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim

/// A card whose first answer to a command of ours is nonsense.
struct BabblingCard: VirtualCard {
    private var card: any VirtualCard
    private var nonsense: [UInt8]?

    init(_ card: any VirtualCard, says nonsense: [UInt8]) {
        self.card = card
        self.nonsense = nonsense
    }

    var activation: CardActivation { card.activation }

    mutating func powerOn() { card.powerOn() }

    mutating func answer(_ command: [UInt8]) -> VirtualCardReply {
        // What the reader answers by itself is in order.
        guard command.first != 0xFF, let answer = nonsense.take() else { return card.answer(command) }
        return .answer(answer)
    }
}
