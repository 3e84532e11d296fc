// SPDX-License-Identifier: Apache-2.0

/// Sentences of a page or a message, without code: a span of code and a link's address count as one word and as none.
enum Prose {
    /// The house's rule is thirty; what is refused is five more.
    static let mostWords = 35

    /// The paragraphs of a Markdown page, each with the number of its first line: items of lists and parts of a table's cells are
    /// paragraphs of their own; headings and blocks of code are none.
    static func paragraphs(_ page: String) -> [(line: Int, text: String)] {
        var found: [(line: Int, text: String)] = []
        var open: (line: Int, text: String)?
        var isFenced = false
        func close() {
            if let open { found.append(open) }
            open = nil
        }
        for (index, line) in page.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            var text = line.drop { $0 == " " }
            if text.hasPrefix("```") {
                isFenced.toggle()
                close()
            } else if isFenced {
                continue
            } else if text.isEmpty || text.hasPrefix("#") {
                close()
            } else if text.hasPrefix("|") {
                close()
                // A cell has no room for a list but between semicolons.
                for part in text.replacing("; ", with: "|").split(separator: "|") {
                    found.append((index + 1, String(part)))
                }
            } else if open == nil, line.hasPrefix("    "), item(text) == nil {
                // An indented block is code.
                continue
            } else {
                if let rest = item(text) {
                    close()
                    text = rest
                }
                if let begun = open {
                    open = (begun.line, "\(begun.text) \(text)")
                } else {
                    open = (index + 1, String(text))
                }
            }
        }
        close()
        return found
    }

    /// What follows the mark of a list's item; `nil` where the line has none.
    private static func item(_ line: Substring) -> Substring? {
        let mark = line.prefix { $0 != " " }
        let isNumber = mark.count > 1 && mark.last == "." && mark.dropLast().allSatisfy(\.isNumber)
        return isNumber || ["-", "*", "+"].contains(mark) ? line.dropFirst(mark.count).drop { $0 == " " } : nil
    }

    /// The paragraph with `Code` for each span of code, the text of each link alone, and a line's break as a full stop.
    private static func plain(_ paragraph: String) -> [Substring] {
        var kept: [UInt8] = []
        let bytes = Array(paragraph.replacing("<br>", with: ". ").utf8)
        var next = 0
        while next < bytes.count {
            let byte = bytes[next]
            if byte == UInt8(ascii: "`"), let end = bytes[(next + 1)...].firstIndex(of: byte) {
                kept += Array("Code".utf8)
                next = end + 1
            } else if byte == UInt8(ascii: "]"), next + 1 < bytes.count, bytes[next + 1] == UInt8(ascii: "("),
                let end = bytes[next...].firstIndex(of: UInt8(ascii: ")"))
            {
                next = end + 1
            } else {
                if byte != UInt8(ascii: "[") { kept.append(byte) }
                next += 1
            }
        }
        return String(decoding: kept, as: UTF8.self).split { $0 == " " || $0 == "\n" }
    }

    /// The sentences of a paragraph: each ends with a full stop, a question or an exclamation mark before a word that begins with a
    /// capital letter or a digit.
    static func sentences(_ paragraph: String) -> [String] {
        let words = plain(paragraph)
        var found: [String] = []
        var sentence: [Substring] = []
        for (index, word) in words.enumerated() {
            sentence.append(word)
            let end = word.last { !")”\"*_]".contains($0) }
            let follows = words.dropFirst(index + 1).first?.first { !"(“\"*_[".contains($0) }
            if let end, ".!?".contains(end), follows?.isUppercase == true || follows?.isNumber == true {
                found.append(sentence.joined(separator: " "))
                sentence = []
            }
        }
        if !sentence.isEmpty { found.append(sentence.joined(separator: " ")) }
        return found
    }

    static func words(_ sentence: String) -> Int {
        sentence.split(separator: " ").count { word in word.contains { $0.isLetter || $0.isNumber } }
    }

    /// The sentences of a paragraph that have too many words.
    static func long(_ paragraph: String) -> [String] {
        guard words(paragraph) > mostWords else { return [] }
        return sentences(paragraph).filter { words($0) > mostWords }
    }
}
