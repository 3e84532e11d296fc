// SPDX-License-Identifier: Apache-2.0
import CardBytes
public import CardSim

/// Answers the pseudo-APDUs that a real contactless reader keeps for itself; rigs hand everything to the card.
public enum ReaderPart {
    /// The card's reply, or the reader's own to GET DATA (`FF CA`).
    public static func answer(_ command: [UInt8], by card: inout any VirtualCard) -> VirtualCardReply {
        if isIndicator(command) { return .answer([0x90, 0x00]) }
        guard command.starts(with: [0xFF, 0xCA]), command.count == 5 else { return card.answer(command) }
        let data =
            switch command[2] {
            case 0x00: card.activation.uid
            case 0x01 where card.activation.technology != .typeB: card.activation.answerToSelect
            default: [UInt8]()
            }
        return .answer(data.isEmpty ? [0x6A, 0x81] : data + [0x90, 0x00])
    }

    /// Whether it is the ACR122U's command for LED and buzzer.
    public static func isIndicator(_ command: [UInt8]) -> Bool { command.starts(with: [0xFF, 0x00, 0x40]) }
}
