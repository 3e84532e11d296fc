// SPDX-License-Identifier: Apache-2.0
/// Takes out of a text whatever could be a card number or bytes of a card. Rather too much than too little: a support
/// bundle is read by strangers.
enum Redaction {
    /// Card numbers have 12 to 19 digits (ISO/IEC 7812-1), written together or in groups.
    private static let decimalLimit = 12
    /// Shorter runs of hexadecimal digits are names and numbers of everyday.
    private static let hexadecimalLimit = 24

    static func redact(_ text: String) -> String {
        var result = ""
        var run = Run()
        var rest = text[...]
        while let first = rest.first {
            guard isWordCharacter(first) else {
                rest = rest.dropFirst()
                // One space or dash may stand between groups of one number.
                if first == " " || first == "-", run.takesGap(first) { continue }
                result += run.finished + String(first)
                run = Run()
                continue
            }
            let word = rest.prefix(while: isWordCharacter)
            rest = rest[word.endIndex...]
            if run.takesWord(word) { continue }
            result += run.finished
            run = Run()
            result += longestDecimal(word) >= decimalLimit ? "[word with a number removed]" : String(word)
        }
        return result + run.finished
    }

    private static func isWordCharacter(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber)
    }

    private static func longestDecimal(_ text: some StringProtocol) -> Int {
        text.split { !$0.isNumber }.map(\.utf8.count).max() ?? 0
    }

    /// Groups of hexadecimal digits.
    private struct Run {
        private var text = ""
        private var digits = ""
        private var gap: Character?

        mutating func takesGap(_ character: Character) -> Bool {
            guard !digits.isEmpty, gap == nil else { return false }
            gap = character
            return true
        }

        mutating func takesWord(_ word: Substring) -> Bool {
            guard word.allSatisfy(\.isHexDigit) else { return false }
            if let gap { text.append(gap) }
            gap = nil
            text += word
            digits += word
            return true
        }

        var finished: String {
            let count = digits.utf8.count
            let isSecret = longestDecimal(digits) >= decimalLimit || count >= hexadecimalLimit
            return (isSecret ? "[\(count) digits removed]" : text) + (gap.map(String.init) ?? "")
        }
    }
}
