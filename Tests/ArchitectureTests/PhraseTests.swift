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

    private static func found(_ line: some StringProtocol) -> [Phrase] {
        banned.filter { String(line).range(of: $0.pattern, options: [.regularExpression, .caseInsensitive]) != nil }
    }

    /// The string literals of a line of code, its comment left out.
    static func literals(_ line: some StringProtocol) -> [String] {
        let trimmed = line.drop { $0 == " " }
        guard !trimmed.hasPrefix("//") else { return [] }
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

    private func check(_ file: String, _ lines: [String]) {
        for line in lines {
            for phrase in Self.found(line) {
                Issue.record("\(file): “\(line.prefix(120))”; instead of \(phrase.pattern) \(phrase.instead)")
            }
        }
    }

    @Test(arguments: banned) private func `each phrase is recognised in the sentence that it is banned for`(
        phrase: Phrase
    ) {
        #expect(Self.found(phrase.example).contains { $0.pattern == phrase.pattern })
        #expect(Self.found("Complete test payment; no money moves").isEmpty)
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
            check(file, texts)
        }
        #expect(files.count > 500 && literals > 5_000)
    }

    @Test func `no document, text, unit or rule says a banned phrase`() throws {
        let files =
            try Self.files("docs", [".md", ".yaml", ".toml", ".yml"])
            + Self.files("Sources/Payments/PaymentValues/Texts", [".json"])
            + Self.files("systemd", [".service", ".socket", ".conf", ".sysusers", ".tmpfiles", ".rules"])
            + Self.files("udev", [".rules", ".conf"]) + ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"]
        for file in files { check(file, try Checkout.text(file).split(separator: "\n").map(String.init)) }
        #expect(files.count > 40)
    }
}
