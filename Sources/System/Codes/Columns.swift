// SPDX-License-Identifier: Apache-2.0
/// Columns of a terminal, or of a printer's roll: letters of East Asian scripts take two (Unicode, UAX #11).
public enum Columns {
    public static func count(_ text: some StringProtocol) -> Int { text.reduce(0) { $0 + count($1) } }

    public static func count(_ character: Character) -> Int { isMark(character) ? 0 : isWide(character) ? 2 : 1 }

    /// Of the direction of writing: an implicit mark, or an isolate's beginning or end (UAX #9).
    private static func isMark(_ character: Character) -> Bool {
        guard let scalar = character.unicodeScalars.first?.value else { return false }
        return (0x200E...0x200F).contains(scalar) || (0x2066...0x2069).contains(scalar)
    }

    /// Lines of at most `width` columns: broken between words, and between wide letters, which have no blanks between them.
    /// A word that is too long is cut.
    ///
    /// - Parameter width: at least 2.
    public static func broken(_ text: some StringProtocol, at width: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            var needsBlank = !line.isEmpty
            for part in parts(word) {
                let blank = needsBlank ? 1 : 0
                if !line.isEmpty, count(line) + blank + count(part) > width {
                    lines.append(line)
                    line = ""
                } else if needsBlank {
                    line += " "
                }
                needsBlank = false
                for character in part {
                    if count(line) + count(character) > width {
                        lines.append(line)
                        line = ""
                    }
                    line.append(character)
                }
            }
        }
        return line.isEmpty ? lines : lines + [line]
    }

    /// What stays together: a run of narrow letters, or a wide one with the signs that begin no line (JIS X 4051).
    private static func parts(_ word: some StringProtocol) -> [String] {
        var parts: [String] = []
        var isOpen = false
        for character in word {
            let isWide = isWide(character)
            if let last = parts.indices.last, endsOnly.contains(character) || (isOpen && !isWide) {
                parts[last].append(character)
            } else {
                parts.append(String(character))
            }
            isOpen = !isWide
        }
        return parts
    }

    private static let endsOnly: Set<Character> = Set("。、，．・：；？！）」』】ー…々ぁぃぅぇぉっゃゅょァィゥェォッャュョ")

    private static func isWide(_ character: Character) -> Bool {
        guard let scalar = character.unicodeScalars.first else { return false }
        return switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
            0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F,
            0x1F900...0x1F9FF, 0x20000...0x3FFFD:
            true
        case _: false
        }
    }
}
