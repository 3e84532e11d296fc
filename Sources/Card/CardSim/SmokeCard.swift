// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// The smallest card that proves a transport: fixed answers, no cryptogram, and a private class of test instructions
/// by which a test chooses a fault.
///
/// | C-APDU | effect |
/// |---|---|
/// | `E0 01 00 00 Lc data` | all bytes from offset 5 on, then 9000 |
/// | `E0 02 hi lo` | that many bytes 00 01 02 … (modulo 256), then 9000 |
/// | `E0 03 sw1 sw2` | that status word |
/// | `E0 04 hi lo` | 9000 after that many milliseconds |
/// | `E0 05` | the card leaves the field without answering |
/// | `E0 06` | an empty R-APDU |
/// | `E0 07` | the single byte 90 |
/// | `E0 08 hi lo` | that many zero bytes without a status word |
/// | `E0 0A` | the length of the received C-APDU in four bytes, then 9000 |
///
/// Faults of a transport itself (E0 09, E0 0B, E0 20) belong to the rig that plays it; the card answers them 6D00.
public struct SmokeCard: VirtualCard {
    public let activation = CardActivation(
        technology: .typeA, uid: [0x08, 0xA1, 0xB2, 0xC3],
        answerToSelect: [0x78, 0x80, 0x80, 0x02, 0x20, 0x63, 0xCB, 0xA3, 0xA0],
        atr: [0x3B, 0x84, 0x80, 0x01, 0x77, 0x80, 0x80, 0x02, 0x70], sak: 0x20)

    public init() {}

    public mutating func powerOn() {}

    public mutating func answer(_ command: [UInt8]) -> VirtualCardReply {
        guard command.count >= 2 else { return .answer(StatusWord.wrongLength.bytes) }
        if command[0] == 0xE0 { return testInstruction(command) }
        if let answer = activation.answer(toPseudoAPDU: command) { return .answer(answer) }
        guard let apdu = try? CommandAPDU(command) else { return .answer(StatusWord.wrongLength.bytes) }
        return .answer(answer(apdu).bytes)
    }

    private func answer(_ command: CommandAPDU) -> ResponseAPDU {
        switch (command.cla, command.ins) {
        case (0x00, 0xA4):
            switch Hex.string(command.data) {
            case "325041592E5359532E4444463031": SmokeCard.directory
            case "A0000000031010": SmokeCard.application
            default: ResponseAPDU(status: .fileNotFound)
            }
        case (0x80, 0xA8): SmokeCard.options
        case (0x00, 0xB2):
            command.p1 == 0x01 && command.p2 == 0x0C
                ? SmokeCard.record : ResponseAPDU(status: .recordNotFound)
        default: ResponseAPDU(status: .instructionNotSupported)
        }
    }

    private func testInstruction(_ command: [UInt8]) -> VirtualCardReply {
        let high = command.count > 2 ? command[2] : 0
        let low = command.count > 3 ? command[3] : 0
        let count = Int(high) << 8 | Int(low)
        let success = StatusWord.success.bytes
        return switch command[1] {
        case 0x01: .answer(Array(command.dropFirst(5)) + success)
        case 0x02: .answer((0..<count).map { UInt8(truncatingIfNeeded: $0) } + success)
        case 0x03: .answer([high, low])
        case 0x04: .late(success, milliseconds: UInt64(count))
        case 0x05: .gone
        case 0x06: .answer([])
        case 0x07: .answer([0x90])
        case 0x08: .answer([UInt8](repeating: 0, count: count))
        case 0x0A:
            .answer((0..<4).reversed().map { UInt8(truncatingIfNeeded: command.count >> ($0 * 8)) } + success)
        default: .answer(StatusWord.instructionNotSupported.bytes)
        }
    }

    private static let directory = fixed(
        "6F2F840E325041592E5359532E4444463031A51DBF0C1A61184F07A0000000031010870101500A54455354204445424954")
    private static let application = fixed(
        "6F268407A0000000031010A51B500A544553542044454249549F380C9F66049F02069F37045F2A02")
    private static let options = fixed("771F8202200094040801010057134761739001010010D30122010000000000000F")
    private static let record = fixed("70105A0847617390010100105F2403301231")

    private static func fixed(_ hex: String) -> ResponseAPDU {
        ResponseAPDU(data: .hex(hex), status: .success)
    }
}
