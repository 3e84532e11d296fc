// SPDX-License-Identifier: Apache-2.0
/// base64url without padding (RFC 4648 §5, RFC 7515 §2).
package enum Base64URL {
    package static func encode(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.underestimatedCount * 4 + 2) / 3)
        var pending: UInt32 = 0
        var bits: UInt32 = 0
        for byte in bytes {
            pending = pending << 8 | UInt32(byte)
            bits += 8
            while bits >= 6 {
                bits -= 6
                text.append(letter(pending >> bits & 0x3F))
            }
        }
        if bits > 0 { text.append(letter(pending << (6 - bits) & 0x3F)) }
        return text
    }

    package static func string(_ bytes: some Sequence<UInt8>) -> String {
        String(decoding: encode(bytes), as: UTF8.self)
    }

    /// The bytes that `text` spells, or `nil` for a foreign character, padding, a length no bytes have, or bits set
    /// after the last byte: one text for one value, so that nothing can be altered unseen.
    package static func decode(_ text: some Sequence<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.underestimatedCount * 3 / 4)
        var decoder = Base64URLDecoder()
        for unit in text {
            guard decoder.accept(unit) else { return nil }
            if let byte = decoder.next() { bytes.append(byte) }
        }
        return decoder.isComplete ? bytes : nil
    }

    private static func letter(_ value: UInt32) -> UInt8 {
        let value = UInt8(truncatingIfNeeded: value)
        return switch value {
        case 0..<26: 0x41 + value
        case 26..<52: 0x61 + (value - 26)
        case 52..<62: 0x30 + (value - 52)
        case 62: 0x2D
        default: 0x5F
        }
    }
}
