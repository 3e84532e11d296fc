// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// docs/internals/conformance.md names tests; they have to exist.
@Suite("Conformance document")
struct ConformanceDocumentTests {
    /// The text of every test file by its suite's name; suites of the same name together.
    private func suites() throws -> [String: String] {
        var suites: [String: String] = [:]
        let tests = Checkout.file("Tests")
        let files = try #require(FileManager.default.enumerator(at: tests, includingPropertiesForKeys: nil))
        for case let file as URL in files where file.pathExtension == "swift" {
            let name = file.deletingPathExtension().lastPathComponent
            suites[name, default: ""] += try String(contentsOf: file, encoding: .utf8)
        }
        return suites
    }

    /// The cells of the document's tables, cut at semicolons: `Suite › test …, test …`.
    private func references() throws -> [String] {
        let document = Checkout.file("docs/internals/conformance.md")
        let text = try String(contentsOf: document, encoding: .utf8)
        return text.split(separator: "\n").filter { $0.hasPrefix("|") }.flatMap { $0.split(separator: "|") }
            .flatMap { $0.split(separator: ";") }.map { $0.trimmingCharacters(in: .whitespaces) }
    }

    @Test func `every suite and every test that the document names exists`() throws {
        let suites = try suites()
        var named = 0
        for reference in try references() where reference.contains(" › ") {
            let parts = reference.components(separatedBy: " › ")
            let suite = try #require(suites[parts[0]], "\(parts[0]) is no test file")
            // Names are cut off by an ellipsis; what follows it is another name or a remark.
            let names = parts[1].components(separatedBy: "…").map {
                $0.trimmingCharacters(in: CharacterSet(charactersIn: " ,"))
            }
            for name in names where !name.isEmpty && !name.hasPrefix("(") {
                for piece in name.hasPrefix("2E") ? name.components(separatedBy: ", ") : [name] {
                    let text = piece.components(separatedBy: " (")[0]
                    #expect(suite.contains(text), "\(parts[0]) has no test \(text)")
                    named += 1
                }
            }
        }
        #expect(named > 80)
    }
}
