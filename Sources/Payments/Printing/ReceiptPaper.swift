// SPDX-License-Identifier: Apache-2.0
import Codes

/// A roll of paper with a fixed number of columns: lines are centred, set in two columns, or broken between words.
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
        for line in broken(text) {
            lines.append(String(repeating: " ", count: (width - Columns.count(line)) / 2) + line)
        }
    }

    mutating func left(_ text: String) { lines += broken(text) }

    /// - Parameter rows: at most as wide as the paper.
    mutating func draw(_ rows: [String]) {
        lines += rows.map { String(repeating: " ", count: max(0, width - $0.count) / 2) + $0 }
    }

    /// `left` and `right` in one line if they fit; else `right` below, at the right edge.
    mutating func pair(_ left: String, _ right: String) {
        let left = printable(left)
        let right = printable(right)
        let gap = width - Columns.count(left) - Columns.count(right)
        if gap >= 1 {
            lines.append(left + String(repeating: " ", count: gap) + right)
        } else {
            lines += Columns.broken(left, at: width)
            for line in Columns.broken(right, at: width) {
                lines.append(String(repeating: " ", count: width - Columns.count(line)) + line)
            }
        }
    }

    /// Between words where possible; a word that is too long is cut.
    private func broken(_ text: String) -> [String] { Columns.broken(printable(text), at: width) }

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
