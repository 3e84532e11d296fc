// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// From a rule of docs/internals/conformance.md to its line: the clause or the number that names the rule stands at the code.
@Suite("Clauses at the code")
struct ClauseTests {
    private static let root: URL = {
        var folder = URL(fileURLWithPath: #filePath)
        for _ in 0..<3 { folder.deleteLastPathComponent() }
        return folder
    }()

    /// The sections whose rules belong to code here.
    private static let sections = ["Entry Point", "Kernel ", "Decisions", "Offline data authentication"]

    /// Clauses of books (`3.1.1.5`), states of kernel 2 (`S456`), numbers of this project (`K4-1`).
    private func names(in text: some StringProtocol) -> Set<String> {
        let pattern = /K[4-7]-\d+|(?:\d+\.)+\d+|\bS\d+R?\b/.wordBoundaryKind(.simple)
        return Set(String(text).matches(of: pattern).map { String($0.0) })
    }

    /// The first cells of the rules that are done, wholly or in part.
    private func rules() throws -> [String] {
        let text = try String(contentsOf: Self.root.appending(path: "docs/internals/conformance.md"), encoding: .utf8)
        var isWanted = false
        var rules: [String] = []
        for line in text.split(separator: "\n") {
            if line.hasPrefix("## ") {
                isWanted = Self.sections.contains { line.dropFirst(3).hasPrefix($0) }
            }
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard isWanted, line.hasPrefix("|"), cells.count > 1 else { continue }
            if cells[1].hasPrefix("yes") || cells[1].hasPrefix("part") { rules.append(cells[0]) }
        }
        return rules
    }

    private func sources() throws -> [(file: String, text: String)] {
        try ["Sources/Card/EMV", "Sources/Card/EMVCrypto"].flatMap { folder in
            let files = FileManager.default.enumerator(
                at: Self.root.appending(path: folder), includingPropertiesForKeys: nil)
            var found: [(file: String, text: String)] = []
            for case let file as URL in try #require(files) where file.pathExtension == "swift" {
                found.append((file.lastPathComponent, try String(contentsOf: file, encoding: .utf8)))
            }
            return found
        }
    }

    @Test func `every clause that a rule names stands at the code`() throws {
        let known = try sources().reduce(into: Set<String>()) { $0.formUnion(names(in: $1.text)) }
        var count = 0
        for rule in try rules() {
            for name in names(in: rule) {
                #expect(known.contains(name), "\(name) of \"\(rule)\" stands nowhere in the sources")
                count += 1
            }
        }
        #expect(count > 60)
    }

    @Test func `every number of this project that the code names is a rule`() throws {
        let listed = try rules().reduce(into: Set<String>()) { $0.formUnion(names(in: $1)) }
        var count = 0
        for (file, text) in try sources() {
            for name in names(in: text) where name.hasPrefix("K") {
                #expect(listed.contains(name), "\(file) names \(name), which is no rule")
                count += 1
            }
        }
        #expect(count > 28)
    }
}
