// SPDX-License-Identifier: Apache-2.0
import Codes
import Digits

/// Text for a till's printer or display, in the character set that holds unless another one was agreed on.
enum ZVTText {
    private static let others: [Character: UInt8] = [
        "Ç": 0x80, "ü": 0x81, "é": 0x82, "â": 0x83, "ä": 0x84, "à": 0x85, "å": 0x86, "ç": 0x87, "ê": 0x88, "ë": 0x89,
        "è": 0x8A, "ï": 0x8B, "î": 0x8C, "ì": 0x8D, "Ä": 0x8E, "Å": 0x8F, "É": 0x90, "æ": 0x91, "Æ": 0x92, "ô": 0x93,
        "ö": 0x94, "ò": 0x95, "û": 0x96, "ù": 0x97, "ÿ": 0x98, "Ö": 0x99, "Ü": 0x9A, "á": 0xA0, "í": 0xA1, "ó": 0xA2,
        "ú": 0xA3, "ñ": 0xA4, "Ñ": 0xA5, "ß": 0xE1,
    ]

    /// CP437. What is not in it is written by the table in `Letters`: a euro sign is EUR.
    static func codePage437(_ text: String) -> [UInt8] {
        Letters.replaced(in: text) { byte(of: $0) != nil }.map { byte(of: $0) ?? UInt8(ascii: "?") }
    }

    /// A line of paper. Where a letter became two, a gap of the line is narrowed, so that it ends where it ended.
    static func line(_ text: String) -> [UInt8] {
        var bytes = codePage437(text)
        while bytes.count > text.count, let gap = widestGap(bytes) { bytes.remove(at: gap) }
        return bytes
    }

    /// - Returns: where the longest run of at least two spaces begins.
    private static func widestGap(_ bytes: [UInt8]) -> Int? {
        var widest: (start: Int, count: Int)?
        var count = 0
        for (index, byte) in bytes.enumerated() {
            count = byte == UInt8(ascii: " ") ? count + 1 : 0
            if count > max(widest?.count ?? 1, 1) { widest = (index + 1 - count, count) }
        }
        return widest?.start
    }

    private static func byte(of character: Character) -> UInt8? {
        if let ascii = character.asciiValue { return (0x20...0x7E).contains(ascii) ? ascii : nil }
        return others[character]
    }

    static func hexadecimal(_ text: String) -> [UInt8]? {
        do { return try Hex.bytes(text) } catch { return nil }
    }
}
