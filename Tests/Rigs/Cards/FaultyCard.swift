// SPDX-License-Identifier: Apache-2.0
public import CardBytes
public import CardSim

/// A card that does something else than answer, once: at the command of a number, counted since it exists. What the reader
/// answers by itself does not count.
public struct FaultyCard: VirtualCard {
    public enum Fault: Hashable, Sendable {
        case leaves
        /// No bytes, half a status word.
        case nothing, half
        /// No TLV that ends, with a good status word.
        case garbage
        case status(UInt16)
        case slow(milliseconds: UInt64)
        /// No answer for as long as anybody would wait.
        case silence
        /// Every command is answered with nothing until that many milliseconds after the first one: a card at the edge of the
        /// field that comes closer.
        case edge(milliseconds: UInt64)
    }

    private var card: any VirtualCard
    private let fault: Fault
    private let number: Int
    private var commands = 0
    private var begin: TapInstant?

    public init(_ card: any VirtualCard, _ fault: Fault, at number: Int = 1) {
        (self.card, self.fault, self.number) = (card, fault, number)
    }

    public var activation: CardActivation { card.activation }

    public mutating func powerOn() { card.powerOn() }

    public mutating func answer(_ command: [UInt8]) -> VirtualCardReply {
        guard command.first != 0xFF else { return card.answer(command) }
        commands += 1
        if case .edge(let milliseconds) = fault {
            let begin = begin ?? rigNow()
            self.begin = begin
            return rigNow() < begin.advanced(byMilliseconds: milliseconds) ? .answer([]) : card.answer(command)
        }
        guard commands == number else { return card.answer(command) }
        switch fault {
        case .leaves: return .gone
        case .nothing: return .answer([])
        case .half: return .answer([0x90])
        case .garbage: return .answer([0x6F, 0xFF, 0x84, 0x00, 0x90, 0x00])
        case .status(let status): return .answer([UInt8(status >> 8), UInt8(status & 0xFF)])
        case .slow(let milliseconds):
            guard case .answer(let bytes) = card.answer(command) else { return .gone }
            return .late(bytes, milliseconds: milliseconds)
        case .silence: return .late([0x90, 0x00], milliseconds: 120_000)
        case .edge: return card.answer(command)
        }
    }
}
