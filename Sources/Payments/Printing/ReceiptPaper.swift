// SPDX-License-Identifier: Apache-2.0
/// A roll of paper with a fixed number of columns: lines are centred, set in two columns, or broken between words.
///
/// A column is a character; wide characters of East Asian scripts are not told apart.
struct ReceiptPaper {
    let width: Int
    /// What the printer prints in place of a text: a letter that it lacks may become two.
    let letters: (String) -> String
    private(set) var lines: [String] = []

    init(width: Int, letters: @escaping (String) -> String = { $0 }) {
        self.width = width
        self.letters = letters
    }

    /// With no more than two line ends at a time.
    var text: String { lines.joined(separator: "\n") + "\n" }

    mutating func blank() {
        if lines.last?.isEmpty == false { lines.append("") }
    }

    mutating func rule() { lines.append(String(repeating: "-", count: width)) }

    mutating func centre(_ text: String) {
        for line in broken(text, at: width) {
            lines.append(String(repeating: " ", count: (width - line.count) / 2) + line)
        }
    }

    mutating func left(_ text: String) { lines += broken(text, at: width) }

    /// - Parameter rows: at most as wide as the paper.
    mutating func draw(_ rows: [String]) {
        lines += rows.map { String(repeating: " ", count: max(0, width - $0.count) / 2) + $0 }
    }

    /// `left` and `right` in one line if they fit; else `right` below, at the right edge.
    mutating func pair(_ left: String, _ right: String) {
        let left = printable(left)
        let right = printable(right)
        if left.count + 1 + right.count <= width {
            lines.append(left + String(repeating: " ", count: width - left.count - right.count) + right)
        } else {
            lines += broken(left, at: width)
            for line in broken(right, at: width) {
                lines.append(String(repeating: " ", count: width - line.count) + line)
            }
        }
    }

    /// Between words where possible; a word that is too long is cut.
    private func broken(_ text: String, at width: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in printable(text).split(separator: " ") {
            var word = String(word)
            if !line.isEmpty, line.count + 1 + word.count > width {
                lines.append(line)
                line = ""
            }
            while word.count > width {
                lines.append(String(word.prefix(width)))
                word = String(word.dropFirst(width))
            }
            line += (line.isEmpty ? "" : " ") + word
        }
        return line.isEmpty ? lines : lines + [line]
    }

    /// Without what a printer would obey instead of print, and without what turns the direction of writing.
    private func printable(_ text: String) -> String {
        let text = letters(text)
        return String(
            String.UnicodeScalarView(
                text.unicodeScalars.filter { scalar in
                    switch scalar.properties.generalCategory {
                    case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator:
                        false
                    case _: true
                    }
                }))
    }
}
