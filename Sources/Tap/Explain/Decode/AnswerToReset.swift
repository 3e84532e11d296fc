// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// ATR of ISO/IEC 7816-3 §8, as PC/SC part 3 makes it up for contactless cards.
struct AnswerToReset {
    let bytes: [UInt8]
    let interfaceBytes: [(name: String, value: UInt8)]
    let historical: Range<Int>
    let hasCheckByte: Bool

    init(_ bytes: [UInt8]) throws(DecodeError) {
        guard let convention = bytes.first else { throw .empty }
        guard convention == 0x3B || convention == 0x3F else { throw .unknownConvention(convention) }
        guard bytes.count > 1 else { throw .cutOff(part: "T0", offset: 1) }
        var interfaceBytes: [(name: String, value: UInt8)] = []
        var announced = bytes[1] >> 4
        var offset = 2
        var group = 1
        var needsCheck = false
        while announced != 0 {
            let present = announced
            announced = 0
            for (position, letter) in ["A", "B", "C", "D"].enumerated() where present & 1 << UInt8(position) != 0 {
                let name = "T\(letter)\(group)"
                guard offset < bytes.count else { throw .cutOff(part: name, offset: offset) }
                interfaceBytes.append((name, bytes[offset]))
                if letter == "D" {
                    announced = bytes[offset] >> 4
                    if bytes[offset] & 0x0F != 0 { needsCheck = true }
                }
                offset += 1
            }
            group += 1
        }
        let count = Int(bytes[1] & 0x0F)
        guard offset + count <= bytes.count else { throw .cutOff(part: "historical byte", offset: bytes.count) }
        historical = offset..<offset + count
        offset += count
        if needsCheck {
            guard offset < bytes.count else { throw .cutOff(part: "check byte TCK", offset: offset) }
            let expected = bytes[1..<offset].reduce(0, ^)
            guard bytes[offset] == expected else { throw .wrongCheckByte(offset: offset, expected: expected) }
            offset += 1
        }
        guard offset == bytes.count else { throw .trailing(offset: offset) }
        self.bytes = bytes
        self.interfaceBytes = interfaceBytes
        hasCheckByte = needsCheck
    }

    var meanings: [Meaning] {
        var meanings = [
            Meaning("TS", bytes[0] == 0x3B ? "direct convention" : "inverse convention"),
            Meaning("T0", "\(historical.count) historical bytes"),
        ]
        for byte in interfaceBytes {
            let text = Hex.string([byte.value])
            meanings.append(
                Meaning(
                    byte.name, byte.name.hasPrefix("TD") ? "\(text), protocol T=\(byte.value & 0x0F)" : text))
        }
        if !historical.isEmpty { meanings.append(Meaning("historical bytes", Hex.string(bytes[historical]))) }
        if hasCheckByte { meanings.append(Meaning("TCK", "right")) }
        meanings.append(Meaning(kind))
        return meanings
    }

    /// The layouts that readers use for contactless cards.
    private var kind: String {
        let history = Array(bytes[historical])
        guard interfaceBytes.map(\.value) == [0x80, 0x01] else { return "contact card, or a reader of its own kind" }
        if history.count == 15, history.starts(with: [0x80, 0x4F, 0x0C, 0xA0, 0x00, 0x00, 0x03, 0x06]) {
            return "contactless memory card, \(memoryCard(history)): no payment card"
        }
        if history.count == 8, history[7] & 0x0F == 0 {
            return
                "contactless card of ISO/IEC 14443-4, type B layout (application data, protocol info, MBLI) or type A"
        }
        return "contactless card of ISO/IEC 14443-4, type A layout (historical bytes of the ATS)"
    }

    private func memoryCard(_ history: [UInt8]) -> String {
        switch UInt16(history[9]) << 8 | UInt16(history[10]) {
        case 0x0001: "MIFARE Classic 1K"
        case 0x0002: "MIFARE Classic 4K"
        case 0x0003: "MIFARE Ultralight"
        case _: "name \(Hex.string(history[9...10]))"
        }
    }
}
