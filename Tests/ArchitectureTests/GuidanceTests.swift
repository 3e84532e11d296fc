// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// docs/internals/guidance.md has each row of the guidance once, and names tests that exist.
struct GuidanceTests {
    private struct Row {
        var number: Int
        var tests: [String]
        var state: String
    }

    private static func rows() throws -> [Row] {
        let page = try String(contentsOf: Checkout.file("docs/internals/guidance.md"), encoding: .utf8)
        return page.split(separator: "\n").compactMap { line in
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count == 5, let number = Int(cells[0]) else { return nil }
            return Row(
                number: number, tests: cells[3].matches(of: /`([^`]+)`/).map { String($0.1) }, state: cells[4])
        }
    }

    @Test func `each of the 61 rows stands once, with its state`() throws {
        let rows = try Self.rows()
        #expect(rows.map(\.number) == Array(1...61))
        for row in rows {
            #expect(row.state.wholeMatch(of: /done|(?:partly|not): .+/) != nil, "row \(row.number)")
            #expect(!row.tests.isEmpty || row.state.hasPrefix("not: "), "row \(row.number)")
        }
    }

    @Test func `each row names tests that exist`() throws {
        let folder = Checkout.file("Tests")
        var names: Set<String> = []
        var browser = ""
        for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
            names.insert("Tests/\(path)")
            let file = URL(filePath: path).lastPathComponent
            if file.hasSuffix(".swift") { names.insert(String(file.dropLast(6))) }
            if path.hasPrefix("Browser/"), path.hasSuffix(".py") {
                browser += try String(contentsOf: folder.appending(path: path), encoding: .utf8)
            }
        }
        for row in try Self.rows() {
            for test in row.tests where !names.contains(test) {
                let number = test.dropFirst("test_".count)
                let isThere = browser.contains(try Regex("def test_(?:r[0-9]+_)*\(number)_"))
                #expect(test.hasPrefix("test_r") && isThere, "row \(row.number): no test \(test)")
            }
        }
    }
}
