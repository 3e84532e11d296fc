// SPDX-License-Identifier: Apache-2.0
import CardBytes
import StrictJSON

/// Members of a flat JSON object, written straight into secret memory. `opening` is everything up to the value:
/// comma, name and colon.
extension SecretWriter {
    mutating func member(_ opening: StaticString, number: UInt64) {
        append(text: opening)
        append(decimal: number)
    }

    /// Text that is itself no secret, escaped by RFC 8259 §7.
    mutating func member(_ opening: StaticString, text: String) {
        quoted(opening) { writer in
            for unit in text.utf8 { JSONEscape.write(unit) { writer.append($0) } }
        }
    }

    mutating func member(_ opening: StaticString, hex bytes: [UInt8]) {
        quoted(opening) { $0.append(hex: bytes.span) }
    }

    /// One character a value: 0…9 as they are, 13 as `D` (the field separator of track 2).
    mutating func member(_ opening: StaticString, digits: [UInt8]) {
        quoted(opening) { $0.append(nibbles: digits.span) }
    }

    private mutating func quoted(_ opening: StaticString, _ content: (inout SecretWriter) -> Void) {
        append(text: opening)
        append(0x22)
        content(&self)
        append(0x22)
    }

    private mutating func append(decimal number: UInt64) {
        var divisor: UInt64 = 1
        while number / divisor >= 10 { divisor *= 10 }
        while divisor > 0 {
            append(0x30 | UInt8(truncatingIfNeeded: number / divisor % 10))
            divisor /= 10
        }
    }
}
