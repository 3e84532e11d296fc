// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// An NFC Forum Type 4 tag in software with one NDEF message, or a plain card with nothing but its UID.
public struct MemberTag: VirtualCard {
    public let activation: CardActivation
    /// The NDEF file: two bytes of length, then the message. Empty: no NDEF application.
    private let file: [UInt8]
    /// MLe of the capability container.
    private let maximumReadLength: UInt8
    private var selected: [UInt8]?

    /// - Parameters:
    ///   - message: up to 65,533 bytes; `nil` for a card that knows no application at all.
    ///   - uid: 4, 7 or 10 bytes.
    public init(
        message: [UInt8]?, uid: [UInt8] = [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0xF6], maximumReadLength: UInt8 = 0x3B
    ) {
        activation = CardActivation(
            technology: .typeA, uid: uid, answerToSelect: [0x78, 0x77, 0x80, 0x02],
            atr: [0x3B, 0x80, 0x80, 0x01, 0x01], sak: 0x20)
        file =
            message.map {
                [UInt8(truncatingIfNeeded: $0.count >> 8), UInt8(truncatingIfNeeded: $0.count)] + $0
            } ?? []
        self.maximumReadLength = maximumReadLength
    }

    /// A tag with one address.
    public init(uri: String) {
        self.init(message: WalletNDEF.message([WalletNDEF.record("U", format: 1, [0x04] + Array(uri.utf8))]))
    }

    public mutating func powerOn() { selected = nil }

    public mutating func answer(_ command: [UInt8]) -> VirtualCardReply {
        if let answer = activation.answer(toPseudoAPDU: command) { return .answer(answer) }
        guard let apdu = try? CommandAPDU(command), apdu.cla == 0x00 else {
            return .answer(StatusWord.wrongLength.bytes)
        }
        switch apdu.ins {
        case 0xA4 where apdu.p1 == 0x04:
            guard !file.isEmpty, apdu.data == [0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01] else {
                return .answer(StatusWord.fileNotFound.bytes)
            }
            return .answer(StatusWord.success.bytes)
        case 0xA4:
            switch apdu.data {
            case [0xE1, 0x03]: selected = container
            case [0xE1, 0x04] where !file.isEmpty: selected = file
            default: return .answer(StatusWord.fileNotFound.bytes)
            }
            return .answer(StatusWord.success.bytes)
        case 0xB0:
            let offset = Int(apdu.p1) << 8 | Int(apdu.p2)
            guard let selected, offset < selected.count else { return .answer(StatusWord.conditionsNotSatisfied.bytes) }
            return .answer(Array(selected.dropFirst(offset).prefix(apdu.le ?? 0)) + StatusWord.success.bytes)
        default:
            return .answer(StatusWord.instructionNotSupported.bytes)
        }
    }

    private var container: [UInt8] {
        let size = max(file.count, 0xFF)
        return [0x00, 0x0F, 0x20, 0x00, maximumReadLength, 0x00, 0x34, 0x04, 0x06, 0xE1, 0x04]
            + [UInt8(truncatingIfNeeded: size >> 8), UInt8(truncatingIfNeeded: size), 0x00, 0x00]
    }
}
