// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// One word for one thing: docs/README.md has the words, decision 166 why. What stands here had two meanings, or was the second
/// word for one of them.
@Suite("Words that do not come back")
struct WordTests {
    /// A word of code, contract or example, the one to write, and where it still may be.
    private struct Word: Sendable, CustomStringConvertible {
        let word: String
        let instead: String
        /// Beginnings of paths.
        var allowed: [String] = []

        var description: String { word }
    }

    private static let words = [
        Word(
            word: "issuer:", instead: "serviceName: an issuer is the cardholder's bank",
            allowed: ["Sources/Card/", "Sources/Service/Switch/"]),
        // The journal's columns are as they are stored.
        Word(
            word: "issuer =", instead: "service-name",
            allowed: ["Sources/Card/", "Sources/Service/Switch/", "Sources/Payments/Journal/"]),
        Word(word: "CompletionRequest", instead: "CaptureRequest"),
        // A completion of ZVT is the terminal's last message; the sandbox's file has the word of its first version.
        Word(
            word: "completion", instead: "capture",
            allowed: ["Sources/Tills/ECR/ZVT/", "Sources/Sandbox/PSPSandbox/LedgerEntry.swift"]),
        Word(word: "completions", instead: "captures"),
        // A till's machine takes back what nobody was told of, and reverses what a till asks for: its ledger keeps both words.
        Word(word: "takeBack", instead: "reverse", allowed: ["Sources/Tills/ECR/", "Sources/Tills/TillBridge/"]),
        // Journals before version 0.2.0 of the contract have it.
        Word(
            word: "takenBack", instead: "reversed",
            allowed: [
                "Sources/Tills/ECR/", "Sources/Tills/TillBridge/",
                "Sources/Payments/PaymentValues/Values/DeclineReason.swift",
            ]),
        Word(word: "DayEnd", instead: "EndOfDay"),
        // The journal's word for an entry of the audit trail.
        Word(word: "dayEnd", instead: "endOfDay", allowed: ["Sources/Payments/Journal/", "share/till/book.js"]),
        Word(word: "day-end", instead: "end-of-day"),
        Word(word: "day-ends", instead: "days", allowed: ["Sources/Payments/POSAPI/Requests/FormerPath.swift"]),
        Word(
            word: "new-books", instead: "new-journal",
            allowed: ["Sources/Payments/Journal/", "Sources/Daemon/TapDaemon/JournalAccess/JournalBinding.swift"]),
    ]

    /// What a type's name does not end with, and the kinds of name to choose from.
    private static let endings = [
        ("Books", "the store, the ledger, the journal or the table that it is"),
        ("Desk", "what it does: …Admission, …Registry, …Machine"),
        ("Wish", "…Request, or …Options for a part of one"), ("Wishes", "…Requests"),
        ("Demand", "…Request"), ("Demands", "…Requests"), ("Newcomer", "…Draft"), ("Addressee", "…Route"),
        ("Marker", "…Fingerprinter"),
    ]

    private static func words(_ word: String, in text: Data) -> Int {
        func isWord(_ byte: UInt8) -> Bool {
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == 0x5F
        }
        let wanted = Data(word.utf8)
        var (count, start) = (0, text.startIndex)
        while let hit = text.range(of: wanted, in: start..<text.endIndex) {
            let before = hit.lowerBound > text.startIndex && isWord(text[hit.lowerBound - 1])
            let after =
                hit.upperBound < text.endIndex && isWord(text[hit.upperBound]) && isWord(wanted[wanted.endIndex - 1])
            if !before, !after { count += 1 }
            start = hit.upperBound
        }
        return count
    }

    private static func files(_ folder: String, _ ends: [String]) throws -> [String] {
        let names = try FileManager.default.subpathsOfDirectory(atPath: Checkout.file(folder).path)
        return names.filter { name in ends.contains { name.hasSuffix($0) } }.map { "\(folder)/\($0)" }.sorted()
    }

    @Test func `a word is found as a word alone`() {
        let text = Data("takeBack(x) takeBackAgain /day-ends --day-end, issuer: a, issuer:b".utf8)
        #expect(Self.words("takeBack", in: text) == 1)
        #expect(Self.words("day-end", in: text) == 1 && Self.words("day-ends", in: text) == 1)
        #expect(Self.words("issuer:", in: text) == 2)
    }

    @Test func `no product, contract, page of the till or example has a word that was given up`() throws {
        let files =
            try Self.files("Sources", [".swift", ".json"]) + Self.files("share/till", [".js", ".json"])
            + Self.files("docs", [".yaml", ".toml", ".json"])
        var found: [String] = []
        var used: Set<String> = []
        for file in files {
            let text = try Data(contentsOf: Checkout.file(file))
            for word in Self.words where Self.words(word.word, in: text) > 0 {
                if let place = word.allowed.first(where: file.hasPrefix) {
                    used.insert("\(word): \(place)")
                } else {
                    found.append("\(file): \(word); write \(word.instead)")
                }
            }
        }
        #expect(files.count > 1_200)
        #expect(found == [])
        let idle = Self.words.flatMap { word in word.allowed.map { "\(word): \($0)" } }.filter { !used.contains($0) }
        #expect(idle == [], "take these places off the list")
    }

    @Test func `no type and no file has a name that says two things`() throws {
        var found: [String] = []
        for file in try SourceTree.swiftFiles() {
            let declared = file.lines.compactMap { Self.declared($0) }
            let own = file.path.split(separator: "/").last.map { String($0.prefix { $0 != "." && $0 != "+" }) }
            for name in declared + (own.map { [$0] } ?? []) {
                for (ending, instead) in Self.endings where name.hasSuffix(ending) {
                    found.append("\(file.path): \(name); say \(instead)")
                }
            }
        }
        #expect(found == [])
    }

    /// The name of the type that a line declares.
    private static func declared(_ line: Substring) -> String? {
        guard
            let keyword = ["struct ", "class ", "enum ", "actor ", "protocol ", "typealias "].first(
                where: line.contains),
            let end = line.range(of: keyword)?.upperBound,
            line.prefix(upTo: end).allSatisfy({ $0 == " " || $0.isLowercase })
        else { return nil }
        return String(line.suffix(from: end).prefix { $0.isLetter || $0.isNumber })
    }

    @Test(arguments: [
        ("struct ChargeDesk: Sendable {", "ChargeDesk"), ("    public enum Wish: Equatable {", "Wish"),
        ("package final class Books {", "Books"), ("    /// A struct Books", nil), ("let text = \"class Books\"", nil),
    ]) func `a type is known by its declaration`(line: String, name: String?) {
        #expect(Self.declared(line[...]) == name)
    }
}
