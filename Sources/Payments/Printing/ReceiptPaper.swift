// SPDX-License-Identifier: Apache-2.0
import Codes
import PaymentValues

/// A roll of paper with a fixed number of columns: lines are centred, set in two columns, or broken between words.
///
/// In a language that is written from the right each piece of a line is an isolate (UAX #9, FSI to PDI): a sum keeps its minus in front and a
/// date its order, and columns stay columns, in whichever direction the line is shown.
struct ReceiptPaper {
    let width: Int
    private let isFromTheRight: Bool
    /// What the printer prints in place of a text: a letter that it lacks may become two.
    let letters: (String) -> String
    private(set) var lines: [String] = []

    init(width: Int, in language: Language, letters: @escaping (String) -> String = { $0 }) {
        self.width = width
        isFromTheRight = language.isFromTheRight
        self.letters = letters
    }

    /// With no more than two line ends at a time.
    var text: String { lines.joined(separator: "\n") + "\n" }

    mutating func blank() {
        if lines.last?.isEmpty == false { lines.append("") }
    }

    mutating func rule() { lines.append(String(repeating: "-", count: width)) }

    mutating func centre(_ text: String) {
        for line in broken(text) { lines.append(blanks((width - Columns.count(line)) / 2) + apart(line)) }
    }

    mutating func left(_ text: String) { lines += broken(text).map(apart) }

    /// - Parameter rows: at most as wide as the paper.
    mutating func draw(_ rows: [String]) {
        lines += rows.map { blanks((width - $0.count) / 2) + apart($0) }
    }

    /// `left` and `right` in one line if they fit; else `right` below, at the right edge.
    mutating func pair(_ left: String, _ right: String) {
        let left = printable(left)
        let right = printable(right)
        let gap = width - Columns.count(left) - Columns.count(right)
        if gap >= 1 {
            lines.append(apart(left) + blanks(gap) + apart(right))
        } else {
            lines += Columns.broken(left, at: width).map(apart)
            for line in Columns.broken(right, at: width) {
                lines.append(blanks(width - Columns.count(line)) + apart(line))
            }
        }
    }

    /// A count and a sum behind a label, each at the right edge of its column: 5 and 12 wide.
    mutating func figure(_ label: String, _ count: Int, _ sum: String = "") {
        let label = printable(label)
        let number = "\(count)"
        let sum = printable(sum)
        let used = Columns.count(label) + max(5, number.count) + max(12, Columns.count(sum))
        guard used < width else { return pair(label, "\(number)  \(sum)") }
        lines.append(
            apart(label) + blanks(width - used) + blanks(5 - number.count) + apart(number)
                + blanks(12 - Columns.count(sum)) + apart(sum))
    }

    private func blanks(_ count: Int) -> String { String(repeating: " ", count: max(0, count)) }

    private func apart(_ text: String) -> String {
        isFromTheRight && !text.isEmpty ? "\u{2068}" + text + "\u{2069}" : text
    }

    /// Between words where possible; a word that is too long is cut.
    private func broken(_ text: String) -> [String] { Columns.broken(printable(text), at: width) }

    /// Without what a printer would obey instead of print, and without what turns the direction of writing but for the mark before a value
    /// of a sentence.
    private func printable(_ text: String) -> String {
        let text = letters(text)
        return String(
            String.UnicodeScalarView(
                text.unicodeScalars.filter { scalar in
                    if isFromTheRight, scalar == "\u{200E}" { return true }
                    return switch scalar.properties.generalCategory {
                    case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator:
                        false
                    case _: true
                    }
                }))
    }
}
