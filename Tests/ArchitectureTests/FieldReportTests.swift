// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// Each row of docs/internals/field-reports.md has a test named after it.
struct FieldReportTests {
    /// The numbers of the table's rows, in their order: a letter and a number.
    private static func rows() throws -> [String] {
        let page = try String(contentsOf: Checkout.file("docs/internals/field-reports.md"), encoding: .utf8)
        return page.split(separator: "\n").compactMap { line in
            line.firstMatch(of: /^\| ([A-Z][0-9]+) \|/).map { String($0.1) }
        }
    }

    /// The rows that names of tests begin with, in Swift and in the pages' tests. Letters are those of the table: other tests number other things.
    private static func named() throws -> Set<String> {
        let tests = Checkout.file("Tests")
        let name = #/(?:@Test\(\s*(?:\.[^\n]*, )?"|func `|\btest\(["'`])([ABCDHKLMNPRSTW][0-9]+)[:,] /#
        var names: Set<String> = []
        for path in try FileManager.default.subpathsOfDirectory(atPath: tests.path)
        where [".swift", ".js"].contains(where: path.hasSuffix) {
            let text = try String(contentsOf: tests.appending(path: path), encoding: .utf8)
            for match in text.matches(of: name) {
                names.insert(String(match.1))
            }
        }
        return names
    }

    @Test func `a report from the field has a test named after it`() throws {
        let rows = try Self.rows()
        #expect(rows.count > 20)
        #expect(Set(rows).count == rows.count, "a number stands twice")
        let named = try Self.named()
        for row in rows where !named.contains(row) {
            Issue.record("\(row): name a test after it, or say in the page what is missing and take the row out")
        }
    }
}
