// SPDX-License-Identifier: Apache-2.0
public import CardBytes
public import CardSim

/// What people hold to a reader that is no payment card: tickets, stickers, key fobs, phones in another mode.
public enum Tag: String, CaseIterable, Sendable {
    case mifareClassic, ultralight, desfire, smartMX, nfcDEP

    /// SAK (NXP AN10833), a UID of the usual length, and for those that take APDUs an ATS. The ATR is what PC/SC part 3
    /// (§3.1.3.2.3) has a reader make of it.
    public var activation: CardActivation {
        switch self {
        case .mifareClassic: Tag.memory([0x3A, 0x51, 0x07, 0x22], sak: 0x08, name: [0x00, 0x01])
        case .ultralight: Tag.memory([0x04, 0x51, 0x07, 0x22, 0x3C, 0x61, 0x80], sak: 0x00, name: [0x00, 0x03])
        case .nfcDEP: Tag.memory([0x08, 0x51, 0x07, 0x22], sak: 0x40, name: [0xFF, 0x40])
        case .desfire:
            CardActivation(
                technology: .typeA, uid: [0x04, 0x51, 0x07, 0x22, 0x3C, 0x61, 0x81],
                answerToSelect: [0x75, 0x77, 0x81, 0x02, 0x80], sak: 0x20)
        case .smartMX:
            CardActivation(
                technology: .typeA, uid: [0x04, 0x51, 0x07, 0x22, 0x3C, 0x61, 0x82],
                answerToSelect: [0x78, 0x77, 0xB1, 0x02, 0x4A], sak: 0x28)
        }
    }

    /// Whether it takes APDUs at all (SAK bit 6).
    public var takesCommands: Bool { (activation.sak ?? 0) & 0x20 != 0 }

    private static func memory(_ uid: [UInt8], sak: UInt8, name: [UInt8]) -> CardActivation {
        let body = [0x8F, 0x80, 0x01, 0x80, 0x4F, 0x0C, 0xA0, 0x00, 0x00, 0x03, 0x06, 0x03] + name + [0, 0, 0, 0]
        return CardActivation(
            technology: .typeA, uid: uid, answerToSelect: [], atr: [0x3B] + body + [body.reduce(0, ^)], sak: sak)
    }
}

/// A card that is something else for a reader than for whoever sends it commands.
public struct DressedCard: VirtualCard {
    public let activation: CardActivation
    private var card: (any VirtualCard)?

    /// A payment card as a reader with contacts would announce it, say.
    public init(_ card: any VirtualCard, as activation: CardActivation) {
        (self.card, self.activation) = (card, activation)
    }

    /// Without an application: whatever is asked for is not there.
    public init(_ tag: Tag) { (card, activation) = (nil, tag.activation) }

    public mutating func powerOn() { card?.powerOn() }

    public mutating func answer(_ command: [UInt8]) -> VirtualCardReply {
        if let reply = card?.answer(command) { return reply }
        guard (activation.sak ?? 0) & 0x20 != 0 else { return .answer([0x6A, 0x81]) }
        // DESFire knows ISO SELECT and has no such file; of anything else it says that it has no such command.
        return .answer(command.starts(with: [0x00, 0xA4]) ? [0x6A, 0x82] : [0x6E, 0x00])
    }
}
