// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// The words of one command line, taken from the left.
struct VirtualCommandWords {
    private var rest: ArraySlice<Substring>

    init(_ line: String) {
        rest = line.split(whereSeparator: \.isWhitespace)[...]
    }

    mutating func next(_ argument: VirtualCommandError.Argument) throws(VirtualCommandError) -> String {
        guard let word = rest.popFirst() else { throw .missing(argument) }
        return String(word)
    }

    mutating func expect(_ keyword: String) throws(VirtualCommandError) {
        let word = rest.popFirst()
        guard word.map(String.init) == keyword else { throw .expected(keyword, found: word.map(String.init)) }
    }

    mutating func number(
        _ argument: VirtualCommandError.Argument, in range: ClosedRange<UInt64>
    ) throws(VirtualCommandError) -> UInt64 {
        let word = try next(argument)
        guard let number = UInt64(word), range.contains(number) else {
            throw .notInRange(word, argument, least: range.lowerBound, most: range.upperBound)
        }
        return number
    }

    mutating func statusWord() throws(VirtualCommandError) -> StatusWord {
        let word = try next(.statusWord)
        guard word.utf8.count == 4, let status = UInt16(word, radix: 16) else { throw .notAStatusWord(word) }
        return StatusWord(status)
    }

    func end(after verb: String) throws(VirtualCommandError) {
        if let word = rest.first { throw .unexpected(String(word), after: verb) }
    }
}
