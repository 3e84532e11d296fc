// SPDX-License-Identifier: Apache-2.0
internal import CardBytes

/// Turns text of a pass into UTF-8 without leaving the locked memory.
enum SecretText {
    /// - Returns: `nil` for UTF-8 that is none.
    static func utf8(_ bytes: borrowing Span<UInt8>, _ range: Range<Int>) -> SecretBytes? {
        let text = copy(bytes, range)
        return text.withSpan { isUTF8($0) } ? text : nil
    }

    /// UTF-16 to UTF-8; big-endian where no byte order mark says otherwise.
    ///
    /// - Returns: `nil` for an odd number of bytes or unpaired surrogates.
    static func utf16(_ bytes: borrowing Span<UInt8>, _ range: Range<Int>) -> SecretBytes? {
        guard range.count.isMultiple(of: 2) else { return nil }
        var start = range.lowerBound
        var isLittleEndian = false
        if range.count >= 2 {
            let mark = UInt16(bytes[start]) << 8 | UInt16(bytes[start + 1])
            isLittleEndian = mark == 0xFFFE
            if mark == 0xFFFE || mark == 0xFEFF { start += 2 }
        }
        var isValid = true
        let text = SecretBytes(capacity: range.count * 2) { writer in
            var decoder = UTF16Decoder()
            for index in stride(from: start, to: range.upperBound, by: 2) {
                let unit =
                    isLittleEndian
                    ? UInt16(bytes[index + 1]) << 8 | UInt16(bytes[index])
                    : UInt16(bytes[index]) << 8 | UInt16(bytes[index + 1])
                isValid = decoder.take(unit, into: &writer) && isValid
            }
            isValid = decoder.isComplete && isValid
        }
        return isValid ? text : nil
    }

    /// The digits of packed BCD up to the filler F; `nil` for another nibble above 9.
    static func digits(_ bytes: borrowing Span<UInt8>, _ range: Range<Int>) -> SecretBytes? {
        var isValid = true
        let text = SecretBytes(capacity: range.count * 2) { writer in
            var filler = false
            for index in range {
                for nibble in [bytes[index] >> 4, bytes[index] & 0x0F] {
                    if nibble == 0x0F {
                        filler = true
                    } else if filler || nibble > 9 {
                        isValid = false
                    } else {
                        writer.append(0x30 + nibble)
                    }
                }
            }
        }
        return isValid ? text : nil
    }

    private static func isUTF8(_ bytes: borrowing Span<UInt8>) -> Bool {
        do {
            _ = try UTF8Span(validating: copy bytes)
            return true
        } catch {
            return false
        }
    }

    static func copy(_ bytes: borrowing Span<UInt8>, _ range: Range<Int>) -> SecretBytes {
        SecretBytes(capacity: range.count) { writer in
            for index in range { writer.append(bytes[index]) }
        }
    }
}

private struct UTF16Decoder {
    private var high: UInt16?

    var isComplete: Bool { high == nil }

    /// - Returns: `false` for a surrogate without its partner.
    mutating func take(_ unit: UInt16, into writer: inout SecretWriter) -> Bool {
        var value = UInt32(unit)
        if let lead = high {
            high = nil
            guard (0xDC00...0xDFFF).contains(unit) else { return false }
            value = 0x1_0000 + (UInt32(lead) - 0xD800) << 10 + (UInt32(unit) - 0xDC00)
        } else if (0xD800...0xDBFF).contains(unit) {
            high = unit
            return true
        }
        guard let scalar = Unicode.Scalar(value) else { return false }
        writer.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
        return true
    }
}
