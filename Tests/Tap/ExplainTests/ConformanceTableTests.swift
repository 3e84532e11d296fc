// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import EMV
import Explain
import Foundation
import KernelDiff
import ReaderCore
import TestSupport
import Testing

/// The tables of docs/internals/conformance, each row of which is run: clause, input, expected, whether it holds, source, test.
@Suite("Conformance tables")
struct ConformanceTableTests {
    struct Row: Sendable, CustomStringConvertible {
        let file, clause, input, expected, source, test: String
        let holds: Bool

        var description: String { "\(file): \(clause), \(input)" }
    }

    private static func table(_ file: String) throws -> [[String]] {
        try Checkout.text("docs/internals/conformance/\(file)").split(separator: "\n").filter { !$0.hasPrefix("#") }
            .map { $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init) }
    }

    private static var files: [String] {
        let folder = Checkout.file("docs/internals/conformance").path
        return ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
            .filter { $0.hasSuffix(".tsv") && $0 != "books.tsv" }.sorted()
    }

    private static func rows() throws -> [Row] {
        try files.flatMap { file in
            try table(file).map { cells in
                try #require(cells.count == 6 && !cells.contains(""), "\(file): \(cells)")
                try #require(["yes", "no"].contains(cells[3]), "\(file): \(cells)")
                return Row(
                    file: file, clause: cells[0], input: cells[1], expected: cells[2], source: cells[4],
                    test: cells[5], holds: cells[3] == "yes")
            }
        }
    }

    private static let scripts: [String: CardScript] = {
        let list = (try? VectorFile.lines("kernel-scripts/scripts.jsonl").map { try CardScript(line: Array($0.utf8)) })
        return Dictionary((list ?? []).map { ($0.id, $0) }) { first, _ in first }
    }()

    /// What came of a row's input, as the fields of a trace.
    private func run(_ input: String) throws -> [String: String] {
        let words = input.split(separator: " ").map(String.init)
        let lines: [String]
        switch words.first {
        case "script":
            let script = try #require(Self.scripts[words[1]], "no script \(words[1])")
            lines = OwnKernel(name: "own", hasKeys: !words.contains("without-keys")).trace(script).lines
        case "tap":
            let run = try Recordings.run(words[1])
            try #require(run.mismatch == nil && run.unusedSteps == 0, "\(words[1]): a command differs")
            lines = OwnKernel.lines(run.trace.outcome.outcome)
        case "card":
            let card = try #require(CardCatalogue.card(named: words[1]))
            let start = TapInstant(nanoseconds: 0)
            let trace = TapTrace(
                on: SimulatedReader(card), configuration: .test,
                transaction: Transaction(
                    amount: try #require(UInt64(words[2])), currency: 978, exponent: 2, country: 276,
                    date: EMVDate(year: 2026, month: 3, day: 16), time: EMVTime(hour: 10, minute: 30, second: 0),
                    sequenceCounter: 1),
                unpredictableNumbers: .fixed([0x1234_5678]), authentication: Terminals.authentication,
                deadlines: TapDeadlines(card: start), clock: { start }, pause: { _ in }, continues: { true })
            lines = OwnKernel.lines(trace.outcome.outcome)
        case _:
            Issue.record("no input: \(input)")
            lines = []
        }
        return Dictionary(KernelTrace(lines: lines).fields().map { ($0.name, $0.value) }) { first, _ in first }
    }

    /// The first expectation that is not met: `name=value`, `name^beginning`, `name=-` for none.
    private func fault(_ row: Row) throws -> String? {
        let fields = try run(row.input)
        for expectation in row.expected.split(separator: ";") {
            let sign: Character = expectation.contains("^") ? "^" : "="
            let parts = expectation.split(separator: sign, maxSplits: 1).map(String.init)
            try #require(parts.count == 2, "\(row)")
            let found = fields[parts[0]]
            var wanted = parts[1]
            if parts[0].hasPrefix("C"), wanted != "-" {
                wanted = Hex.string(KernelTrace.withoutLe(try Hex.bytes(wanted)))
            }
            let isMet = wanted == "-" ? found == nil : sign == "^" ? found?.hasPrefix(wanted) == true : found == wanted
            if !isMet { return "\(parts[0]) is \(found ?? "absent"), not \(wanted)" }
        }
        return nil
    }

    @Test func `every row that holds is met when its input is run`() throws {
        let rows = try Self.rows()
        #expect(rows.count > 70)
        #expect(Self.files.count == 4)
        #expect(rows.count(where: \.holds) > 60)
        var mended: Set<String> = []
        for row in rows {
            let fault = try fault(row)
            if row.holds { #expect(fault == nil, "\(row): \(fault ?? "")") }
            if fault == nil, !row.holds { mended.insert(row.input) }
        }
        // What holds by now is written down with the recordings (`make bless`); a row never goes back to no by itself.
        guard Recordings.isBlessing, !mended.isEmpty else { return }
        for file in Self.files {
            let place = Checkout.file("docs/internals/conformance/\(file)")
            let lines = try Checkout.text("docs/internals/conformance/\(file)").components(separatedBy: "\n").map {
                line in
                var cells = line.components(separatedBy: "\t")
                guard cells.count == 6, mended.contains(cells[1]) else { return line }
                cells[3] = "yes"
                return cells.joined(separator: "\t")
            }
            try lines.joined(separator: "\n").write(to: place, atomically: true, encoding: .utf8)
        }
    }

    @Test func `an expectation that is wrong is found out`() throws {
        let row = try #require(
            Self.rows().first { $0.holds && $0.input.hasPrefix("script k2") && $0.expected.hasPrefix("C") })
        let wrong = Row(
            file: row.file, clause: row.clause, input: row.input,
            expected: String(row.expected.dropLast(4)) + (row.expected.hasSuffix("0000") ? "0100" : "0000"),
            source: row.source, test: row.test, holds: true)
        #expect(try fault(wrong) != nil)
        #expect(try fault(row) == nil)
    }

    @Test func `every script stands in a table, and every table names its source and a test that exists`() throws {
        let rows = try Self.rows()
        let used = Set(rows.map(\.input).filter { $0.hasPrefix("script") }.map { $0.split(separator: " ")[1] })
        #expect(used == Set(Self.scripts.keys.map { Substring($0) }))
        for row in rows { #expect(row.test == "ConformanceTableTests", "\(row)") }
    }

    @Test func `the table of books says of each kernel which version is read and whether a newer one differs`() throws {
        let rows = try Self.table("books.tsv")
        for row in rows {
            try #require(row.count == 5)
            #expect(["yes", "no", "unknown"].contains(row[3]) && !row[1].isEmpty && !row[4].isEmpty, "\(row)")
        }
        for part in ["Entry Point"] + (2...8).map({ "Kernel \($0)" }) {
            #expect(rows.count { $0[0] == part } == 1, "\(part)")
        }
        // The document repeats the table for people.
        let document = try Checkout.text("docs/internals/conformance.md")
        for row in rows { #expect(document.contains("| \(row[0]) | \(row[1]) | \(row[2]) | \(row[3]) |"), "\(row[0])") }
    }
}
