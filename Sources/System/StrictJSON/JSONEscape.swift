// SPDX-License-Identifier: Apache-2.0
/// Text inside a JSON string (RFC 8259 §7).
package enum JSONEscape {
    /// Hands on what stands for one byte of a text in UTF-8, byte by byte, so that a secret needs no `String`.
    package static func write(_ unit: UInt8, _ append: (UInt8) -> Void) {
        switch unit {
        case 0x22, 0x5C:
            append(0x5C)
            append(unit)
        case 0x00..<0x20:
            for unit in "\\u00".utf8 { append(unit) }
            append(digit(unit >> 4))
            append(digit(unit & 0x0F))
        default: append(unit)
        }
    }

    /// `text` between quotes.
    package static func quoted(_ text: String) -> String {
        var bytes: [UInt8] = [0x22]
        for unit in text.utf8 { write(unit) { bytes.append($0) } }
        return String(decoding: bytes + [0x22], as: UTF8.self)
    }

    private static func digit(_ nibble: UInt8) -> UInt8 { nibble < 10 ? 0x30 + nibble : 0x37 + nibble }
}
