// SPDX-License-Identifier: Apache-2.0
import CardSim

/// The card's side of ISO/IEC 14443-4, for hosts that send blocks of their own (InCommunicateThru) instead of leaving them to
/// the chip. No CID, no NAD; a slow card is late instead of asking for more time.
struct PN532BlockDialogue: Equatable {
    enum Reaction: Equatable {
        case block([UInt8], milliseconds: UInt64 = 0)
        /// The card says nothing; the host's chip reports a time-out.
        case silence
        /// S(DESELECT): the card answers and halts.
        case deselected([UInt8])
        case gone
    }

    /// Table of FSDI and FSCI (ISO/IEC 14443-4 §5.1): bytes of a frame with its CRC.
    private static let frameSizes = [16, 24, 32, 40, 48, 64, 96, 128, 256]

    /// Most bytes of a block's information field that the host takes.
    private let most: Int
    /// Rule C: 1 at the activation.
    private var number: UInt8 = 1
    private var command: [UInt8] = []
    private var rest: [UInt8] = []
    private var last: [UInt8] = []

    /// - Parameter frameSize: FSDI of RATS or of ATTRIB; RFU values count as 8.
    init(frameSize: UInt8) {
        // PCB and CRC are not information.
        most = PN532BlockDialogue.frameSizes[min(Int(frameSize), 8)] - 3
    }

    mutating func receive(_ block: [UInt8], _ card: inout any VirtualCard) -> Reaction {
        guard let control = block.first else { return .silence }
        switch control {
        // I-block; 10 says that more follows.
        case 0x02, 0x03, 0x12, 0x13: return information(control, Array(block.dropFirst()), &card)
        case 0xA2, 0xA3, 0xB2, 0xB3: return acknowledgement(control)
        case 0xC2: return .deselected([0xC2])
        default: return .silence
        }
    }

    private mutating func information(
        _ control: UInt8, _ field: [UInt8], _ card: inout any VirtualCard
    ) -> Reaction {
        // Rule D: whatever the block's own number.
        number ^= 1
        command += field
        guard control & 0x10 == 0 else { return send([0xA2 | number]) }
        defer { command = [] }
        switch card.answer(command) {
        case .answer(let bytes):
            rest = bytes
            return send(next())
        case .late(let bytes, let milliseconds):
            rest = bytes
            return send(next(), milliseconds)
        case .gone: return .gone
        }
    }

    private mutating func acknowledgement(_ control: UInt8) -> Reaction {
        let isOfLastBlock = control & 1 == number
        // Rule 11.
        if isOfLastBlock { return last.isEmpty ? .silence : .block(last) }
        // Rule 12: a presence check is such an R(NAK).
        if control & 0x10 != 0 { return .block([0xA2 | number]) }
        // Rules E and 13.
        guard !rest.isEmpty else { return .silence }
        number ^= 1
        return send(next())
    }

    private mutating func next() -> [UInt8] {
        let piece = rest.prefix(most)
        rest = Array(rest.dropFirst(most))
        return [(rest.isEmpty ? 0x02 : 0x12) | number] + piece
    }

    private mutating func send(_ block: [UInt8], _ milliseconds: UInt64 = 0) -> Reaction {
        last = block
        return .block(block, milliseconds: milliseconds)
    }
}
