// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim

/// A card of which tests choose the activation; every command is answered by its UID, which tells cards apart.
struct TestCard: VirtualCard {
    let activation: CardActivation

    init(uid: [UInt8], technology: CardActivation.Technology = .typeA, atr: [UInt8] = []) {
        activation = CardActivation(
            technology: technology, uid: uid,
            answerToSelect: technology == .typeA ? [0x78, 0x80, 0x80, 0x02, 0x20] : [],
            atr: atr)
    }

    mutating func powerOn() {}

    mutating func answer(_ command: [UInt8]) -> VirtualCardReply { .answer(activation.uid + [0x90, 0x00]) }
}
