// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// Sentences that people meet: in string literals of products, in the texts, in documents, units and rules. A comment in the
/// code is for programmers and is not looked at.
@Suite("The words of the house")
struct PhraseTests {
    /// A pattern that a reader stumbles over, what it looks like, and what to write instead.
    private struct Phrase: Sendable, CustomStringConvertible {
        let pattern: String
        let example: String
        let instead: String

        var description: String { pattern }
    }

    private static let banned = [
        Phrase(
            pattern: #"\b(that|which) (is|are|was) none\b"#, example: "Takes a payment that is none",
            instead: "say what it is: a test payment"),
        Phrase(
            pattern: #"\bwhere there (is|are) (none|one|some)\b"#, example: "the profile, where there is one",
            instead: "“if there is a profile”"),
        Phrase(
            pattern: #"\b(does|do|did) so anyway\b"#, example: "Print JSON. It does so anyway",
            instead: "“accepted for consistency”"),
        Phrase(
            pattern: #"\bfor those who always\b"#, example: "said for those who always say it", instead: "say whom"),
        Phrase(pattern: #"^Somebody does\b"#, example: "Somebody does: nothing waits", instead: "name who does it"),
        Phrase(
            pattern: #"\bthat (HTTP|this call) does not have\b"#, example: "Method that HTTP does not have",
            instead: "“Unknown HTTP method”"),
        Phrase(
            pattern: #"\bwith a time for that\b"#, example: "asked for with a time for that", instead: "name the option"
        ),
        Phrase(
            pattern: #"\bbefore the answer to the one before\b"#,
            example: "Further request before the answer to the one before it", instead: "“Pipelined request”"),
        Phrase(
            pattern: #"\bwhich (is to come|has passed)\b"#, example: "issuedAt: 2027, which is to come",
            instead: "“is in the future”, “is in the past”"),
        Phrase(
            pattern: #"\bsays whether .* is right, and what is not\b"#,
            example: "Says whether a configuration file is right, and what is not",
            instead: "“Validates … and lists every error”"),
        Phrase(
            pattern: #"\b(errno|error) \\\((code|errno|error\.code)\b"#,
            example: #"key file cannot be read: error \(errno)"#,
            instead: "the words of SystemError, with the path"),
    ]

    /// Turns that hide who does what. Decisions were written before they were refused.
    private static let turns = [
        Phrase(
            pattern: #"\bof which\b"#, example: "three lanes, of which one is free", instead: "two sentences"),
        Phrase(
            pattern: #"\bwhat (became|becomes|had become) of\b"#, example: "asks what became of it",
            instead: "“the outcome of”"),
        Phrase(
            pattern: #"\b(where there (is|are|was|were)|where none)\b"#, example: "its rules, where there are any",
            instead: "“if there is a …”"),
        Phrase(
            pattern: #"\bby (itself|themselves)\b"#, example: "an approval by itself",
            instead: "“alone”, “on its own”, “offline”, “without being asked”"),
        Phrase(
            pattern: #"\bgoes on\b"#, example: "The sale goes on", instead: "“continues”"),
        Phrase(
            pattern: #"\b(is|are) taken for\b"#, example: "An old card is taken for a new one",
            instead: "“counts as”, “is mistaken for”"),
    ]

    /// Pages with sentences that are longer than `Prose.mostWords` and wait for who reads them again. The list only shrinks.
    private static let unread: Set = [
        "docs/internals/benchmarks.md", "docs/service/estate.md", "docs/internals/measurements.md",
    ]

    /// Pages for people. Decisions are a record of their day and stay as they were written.
    private static func pages() throws -> [String] {
        try files("docs", [".md"]).filter { !$0.hasPrefix("docs/internals/decisions/") }
            + ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"]
    }

    /// All of them as one: hardly any line has one, and each by itself takes seventeen times as long.
    private static let anyPhrase = Result {
        try NSRegularExpression(
            pattern: (banned + turns).map { "(?:\($0.pattern))" }.joined(separator: "|"),
            options: [.caseInsensitive, .anchorsMatchLines])
    }

    private static func mayHave(_ text: String) throws -> Bool {
        let whole = NSRange(location: 0, length: text.utf16.count)
        return try anyPhrase.get().firstMatch(in: text, range: whole) != nil
    }

    private static func found(_ line: some StringProtocol, isRecord: Bool = false) throws -> [Phrase] {
        guard try mayHave(String(line)) else { return [] }
        return (isRecord ? banned : banned + turns).filter {
            String(line).range(of: $0.pattern, options: [.regularExpression, .caseInsensitive]) != nil
        }
    }

    /// The string literals of a line of code, its comment left out.
    static func literals(_ line: some StringProtocol) -> [String] {
        guard line.utf8.contains(UInt8(ascii: "\"")), !line.drop(while: { $0 == " " }).hasPrefix("//") else {
            return []
        }
        return String(line).matches(of: /"((?:[^"\\]|\\.)*)"/).map { String($0.output.1) }
    }

    /// Lines of a literal of several lines stand without quotes.
    private static func texts(inCode text: String) -> [String] {
        let quotes = String(repeating: "\"", count: 3)
        var isInside = false
        return text.split(separator: "\n", omittingEmptySubsequences: false).flatMap { line -> [String] in
            if line.contains(quotes) {
                isInside.toggle()
                return []
            }
            return isInside ? [String(line)] : literals(line)
        }
    }

    private static func files(_ folder: String, _ ends: [String]) throws -> [String] {
        let root = Checkout.file(folder).resolvingSymlinksInPath()
        let names = try FileManager.default.subpathsOfDirectory(atPath: root.path)
        return names.filter { name in ends.contains { name.hasSuffix($0) } }.map { "\(folder)/\($0)" }.sorted()
    }

    private func check(_ file: String, _ lines: [String]) throws {
        guard try Self.mayHave(lines.joined(separator: "\n")) else { return }
        for line in lines {
            for phrase in try Self.found(line, isRecord: file.hasPrefix("docs/internals/decisions/")) {
                Issue.record("\(file): “\(line.prefix(120))”; instead of \(phrase.pattern) \(phrase.instead)")
            }
        }
    }

    @Test(arguments: banned + turns) private func `each phrase is recognised in the sentence that it is banned for`(
        phrase: Phrase
    ) throws {
        #expect(try Self.found(phrase.example).contains { $0.pattern == phrase.pattern })
        #expect(try Self.mayHave("One line\n\(phrase.example)\nand another"))
        #expect(try Self.found("Complete test payment; no money moves").isEmpty)
    }

    @Test func `literals are found, comments are not`() {
        #expect(Self.literals(#"        case .a: "one" + "two \"three\"" // four"#) == ["one", #"two \"three\""#])
        #expect(Self.literals(#"    /// "a payment that is none""#).isEmpty)
    }

    @Test func `no program says a banned phrase`() throws {
        let files = try Self.files("Sources", [".swift"])
        var literals = 0
        for file in files {
            let texts = Self.texts(inCode: try Checkout.text(file))
            literals += texts.count
            try check(file, texts)
        }
        #expect(files.count > 500 && literals > 5_000)
    }

    @Test func `no document, text, unit or rule says a banned phrase`() throws {
        let files =
            try Self.files("docs", [".md", ".yaml", ".toml", ".yml"])
            + Self.files("Sources/Payments/CTexts", [".json"])
            + Self.files("systemd", [".service", ".socket", ".conf", ".sysusers", ".tmpfiles", ".rules"])
            + Self.files("udev", [".rules", ".conf"]) + ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"]
        for file in files { try check(file, try Checkout.text(file).split(separator: "\n").map(String.init)) }
        #expect(files.count > 40)
    }

    @Test func `no sentence of a page has more than thirty-five words`() throws {
        var paragraphs = 0
        for page in try Self.pages() {
            let text = Prose.paragraphs(try Checkout.text(page))
            paragraphs += text.count
            let long = text.flatMap { paragraph in Prose.long(paragraph.text).map { (paragraph.line, $0) } }
            guard !Self.unread.contains(page) else {
                #expect(!long.isEmpty, "\(page) has been read: take it off the list")
                continue
            }
            for (line, sentence) in long {
                Issue.record(
                    "\(page):\(line): \(Prose.words(sentence)) words: “\(sentence)”; make two of it, or a list")
            }
        }
        #expect(paragraphs > 3_000)
    }

    @Test func `no sentence of a message or of a help text has more than thirty-five words`() throws {
        var messages = 0
        // The tables of codes are no sentences.
        for file in try Self.files("Sources", [".swift"]) where !file.hasPrefix("Sources/System/Codes/") {
            let source = try Checkout.text(file)
            // What has several lines elsewhere is SQL or a table.
            let help = file.hasPrefix("Sources/Programs/") ? Self.blocks(inCode: source) : []
            let texts = Self.messages(inCode: source) + help
            messages += texts.count
            for sentence in texts.flatMap(Prose.long) {
                Issue.record("\(file): \(Prose.words(sentence)) words: “\(sentence)”; make two of it")
            }
        }
        #expect(messages > 5_000)
        for file in try Self.files("Sources/Payments/CTexts", ["en.json"]) {
            let texts = try JSONSerialization.jsonObject(with: Data(contentsOf: Checkout.file(file))) as? [String: Any]
            #expect((texts?.count ?? 0) > 300)
            for case (let key, let text as String) in texts ?? [:] {
                for sentence in Prose.long(text) { Issue.record("\(file): \(key): “\(sentence)”; make two of it") }
            }
        }
    }

    /// The literals of lines of code, those together that `+` at a line's beginning joins.
    private static func messages(inCode text: String) -> [String] {
        let quotes = String(repeating: "\"", count: 3)
        var isInside = false
        var found: [String] = []
        for line in text.split(separator: "\n") {
            if line.contains(quotes) { isInside.toggle() }
            guard !isInside, !line.contains(quotes), line.contains("\"") else { continue }
            let here = literals(line)
            if line.drop(while: { $0 == " " }).hasPrefix("+ \""), let last = found.popLast(), let first = here.first {
                found += [last + first] + here.dropFirst()
            } else {
                found += here
            }
        }
        return found
    }

    /// The paragraphs of literals of several lines.
    private static func blocks(inCode text: String) -> [String] {
        let parts = text.components(separatedBy: String(repeating: "\"", count: 3))
        return parts.indices.filter { !$0.isMultiple(of: 2) }.flatMap { index in
            parts[index].replacing("\\\n", with: "").components(separatedBy: "\n")
        }
    }

    @Test func `a long sentence is found in a paragraph, a list, a table and a help text, and code counts as a word`() {
        let long = "A sentence " + String(repeating: "word ", count: Prose.mostWords - 2)
        #expect(Prose.long(long + "ends. Another one. And `a b c d e f` in code.").count == 1)
        #expect(Prose.long(long).isEmpty)
        let page =
            "# \(long) more\n\n- \(long)\n  more\n- short\n\n| a | \(long) more |\n\n```\n\(long) more\n```\n\n    \(long) more\n"
        let paragraphs = Prose.paragraphs(page)
        #expect(paragraphs.map(\.line) == [3, 5, 7, 7])
        #expect(paragraphs.flatMap { Prose.long($0.text) }.count == 2)
        #expect(Prose.long("See [\(long)](a/page.md#with a place) more.").count == 1)
        #expect(Prose.words("See [it](a/page.md), `and that` – now") == 5)
        #expect(Prose.sentences("See [it](a page.md), `and that` – now. Then 3.5 mm. *End*.").count == 3)
        let code = "    let a = \"\(long)\"\n        + \"more words\"\n"
        #expect(Self.messages(inCode: code).flatMap(Prose.long).count == 1)
        let quotes = String(repeating: "\"", count: 3)
        let help = "    let a = \(quotes)\n        \(long) \\\n        more\n\n        \(long)\n        \(quotes)\n"
        #expect(Self.blocks(inCode: help).flatMap(Prose.long).count == 1)
    }
}
