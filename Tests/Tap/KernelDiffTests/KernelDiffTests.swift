// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Foundation
import KernelDiff
import TerminalFile
import TestSupport
import Testing

@Suite("One card script before several kernels")
struct KernelDiffTests {
    private static func scripts() throws -> [CardScript] {
        try VectorFile.lines("kernel-scripts/scripts.jsonl").map { try CardScript(line: Array($0.utf8)) }
    }

    private static func configurations() throws -> [OwnKernel] {
        try Checkout.text("docs/examples/kernel-configurations.jsonl").split(separator: "\n")
            .map { try OwnKernel(line: Array($0.utf8)) }
    }

    private static func known() throws -> KnownDifferences {
        var line = 0
        return try #require(
            KnownDifferences(table: Checkout.text("Tests/Vectors/kernel-scripts/known-differences.tsv"), line: &line),
            "line \(line)")
    }

    @Test func `our configurations differ over more than fifty scripts in nothing but what is known`() throws {
        let scripts = try Self.scripts()
        let kernels = try Self.configurations()
        let known = try Self.known()
        #expect(scripts.count >= 50 && kernels.count >= 3)
        var used: Set<String> = []
        for script in scripts {
            let first = OwnKernel.plain.trace(script)
            #expect(first.lines.contains { $0.hasPrefix("O ") }, "\(script.id)")
            for kernel in kernels {
                let differences = TraceDifference.all(
                    first, kernel.trace(script), kernel: kernel.name, script: script, known: known)
                for difference in differences {
                    #expect(
                        !difference.isNew,
                        "\(script.id): \(difference.lines("nfc-tap", kernel.name).joined(separator: "\n"))")
                    used.insert(kernel.name)
                }
            }
        }
        // A configuration that never makes a difference compares nothing.
        #expect(used == Set(kernels.map(\.name)))
    }

    /// A Visa card up to GET PROCESSING OPTIONS, and then `answer`.
    private static func script(_ answer: String) throws -> CardScript {
        let directory = "6F23840E325041592E5359532E4444463031A511BF0C0E610C4F07A00000000310108701019000"
        let application = "6F1A8407A0000000031010A50F5004564953419F38069F66049F37049000"
        return try CardScript(
            line: Array(
                """
                {"id": "lost", "terminal": {"9F02": "000000001250", "9C": "00"}, "clock": "2026-11-28T10:00:00", \
                "un": ["01020304"], "card": [{"match": "00A404000E325041592E5359532E4444463031", "respond": "\(directory)"}, \
                {"match": "00A4040007A0000000031010", "respond": "\(application)"}, {"match": "80A8*", \(answer)}]}
                """.utf8))
    }

    @Test("C6: a recorded card becomes a script that plays as it did")
    func fromRecording() throws {
        for answer in [#""lose": "transmission""#, #""respond": "6985""#, #""respond": "800600800801010090009000""#] {
            let script = try Self.script(answer)
            let first = OwnKernel.plain.trace(script)
            var exchanges: [(command: [UInt8], answer: CardScript.Rule.Answer)] = []
            for line in first.lines {
                guard line.hasPrefix("C ") || line.hasPrefix("R ") else { continue }
                let bytes = try Hex.bytes(line.dropFirst(2).split(separator: " ").first.map(String.init) ?? "")
                if line.hasPrefix("C ") { exchanges.append((bytes, .lost(.transmission))) }
                if line.hasPrefix("R "), let last = exchanges.indices.last {
                    exchanges[last].answer = .response(try ResponseAPDU(bytes))
                }
            }
            let line = RecordedScript.line(
                id: "x\"\n\\", script.transaction, unpredictableNumbers: script.unpredictableNumbers, exchanges)
            #expect(!line.contains("\n"))
            let again = try CardScript(line: Array(line.utf8))
            #expect(again.id == "x___" && again.transaction == script.transaction)
            #expect(OwnKernel.plain.trace(again).lines == first.lines, "\(script.id)")
        }
    }

    /// A row without its difference would hide the next one.
    @Test func `every row of the table of known differences is a difference that there is`() throws {
        let rows = try Checkout.text("Tests/Vectors/kernel-scripts/known-differences.tsv").split(separator: "\n")
            .filter { !$0.hasPrefix("#") }.map { $0.split(separator: "\t").map(String.init) }
        let known = try Self.known()
        let configurations = try Self.configurations()
        let outside = OutsideKernel(path: Checkout.file("docs/examples/kernel.py").path)
        var found: [(kernel: String, script: String, field: String)] = []
        for script in try Self.scripts() {
            let first = OwnKernel.plain.trace(script)
            var others = configurations.map { ($0.name, $0.trace(script)) }
            // The example is a kernel 3.
            if script.id.hasPrefix("k3") { others.append((outside.name, outside.trace(script))) }
            for (name, trace) in others {
                found += TraceDifference.all(first, trace, kernel: name, script: script, known: known)
                    .map { (name, script.id, $0.field) }
            }
        }
        #expect(rows.count >= 10)
        for row in rows {
            try #require(row.count == 4)
            let isMet = found.contains { kernel, script, field in
                let isField = row[2].hasSuffix("*") ? field.hasPrefix(row[2].dropLast()) : field == row[2]
                return (row[0] == "*" || row[0] == kernel) && (row[1] == "*" || row[1] == script) && isField
            }
            #expect(isMet, "\(row)")
        }
    }

    @Test func `a difference that no table knows is new`() throws {
        let script = try #require(Self.scripts().first { $0.id == "k2_script-001" })
        let other = OwnKernel(name: "other", changes: [])
        let first = OwnKernel.plain.trace(script)
        #expect(TraceDifference.all(first, other.trace(script), kernel: "other", script: script, known: .none).isEmpty)
        let changed = KernelTrace(lines: first.lines.map { $0.replacing("1F0302", with: "020302") })
        let found = TraceDifference.all(first, changed, kernel: "other", script: script, known: .none)
        #expect(!found.isEmpty && found.allSatisfy(\.isNew))
        #expect(found.contains { $0.field == "T.9F34" && $0.first == "1F0302" && $0.other == "020302" })
    }

    @Test func `Le and the order of objects are no difference, and account data are not shown`() {
        let left = KernelTrace(lines: ["C 80A8000002830000", "D 5A=4761739001010010 9F34=1F0302", "T - 1F0302"])
        let right = KernelTrace(lines: ["C 80A80000028300", "D 9F34=1F0302 5A=4761739001010028", "T - 1F0302"])
        #expect(left.fields().map(\.name) == ["C1", "D.5A", "D.9F34", "T.TVR", "T.9F34"])
        let script = try? CardScript(
            line: Array(#"{"id":"a","clock":"2026-06-01T12:00:00","un":[],"terminal":{},"card":[]}"#.utf8))
        guard let script else {
            Issue.record("a script without rules is one")
            return
        }
        let found = TraceDifference.all(left, right, kernel: "x", script: script, known: .none)
        #expect(found.map(\.field) == ["D.5A"])
        #expect(!found.flatMap { $0.lines("a", "b") }.joined().contains("476173"))
    }

    @Test func `a pattern fits with and without Le, any digit and any rest`() throws {
        let command = try Hex.bytes("80A8000002830000")
        for text in ["80A8000002830000", "80A80000028300", "80A8*", "80a8????02830000"] {
            #expect(try #require(CommandPattern(text)).matches(command), "\(text)")
        }
        for text in ["80A80000028301", "80A80000", "00A4*"] {
            #expect(try !#require(CommandPattern(text)).matches(command), "\(text)")
        }
        #expect(CommandPattern("80A") == nil && CommandPattern("xyz*") == nil)
    }

    @Test(arguments: [
        (#"{"id":"a"}"#, "terminal"), (#"{"id":"a","x":1}"#, "x"),
        (#"{"id":"a","clock":"today","un":[],"terminal":{},"card":[]}"#, "clock"),
        (#"{"id":"a","clock":"2026-06-01T12:00:00","un":["01"],"terminal":{},"card":[]}"#, "un[0]"),
        (#"{"id":"a","clock":"2026-06-01T12:00:00","un":[],"terminal":{"9F":"00"},"card":[]}"#, "terminal.9F"),
        (#"{"id":"a","clock":"2026-06-01T12:00:00","un":[],"terminal":{},"card":[{"match":"8"}]}"#, "card[0].match"),
    ])
    func `a script that cannot be read names its member`(line: String, member: String) {
        do {
            _ = try CardScript(line: Array(line.utf8))
            Issue.record("read: \(line)")
        } catch {
            #expect(error.field == member)
        }
    }

    // MARK: Programs of others

    @Test func `the example of an outside kernel differs from ours in what the document says, and in nothing else`()
        throws
    {
        let outside = OutsideKernel(path: Checkout.file("docs/examples/kernel.py").path)
        let known = try Self.known()
        let document = try Checkout.text("docs/internals/kernel-diff.md")
        var different: [String] = []
        for script in try Self.scripts() where script.id.hasPrefix("k3") {
            let found = TraceDifference.all(
                OwnKernel.plain.trace(script), outside.trace(script), kernel: outside.name, script: script,
                known: known)
            for difference in found where difference.isNew {
                Issue.record("\(script.id): \(difference.lines("nfc-tap", outside.name).joined(separator: "\n"))")
            }
            if !found.isEmpty { different.append(script.id) }
        }
        #expect(!different.isEmpty)
        for script in different { #expect(document.contains(script), "\(script)") }
    }

    @Test func `the document shows the difference that it follows as the program prints it, new and known`() throws {
        let script = try #require(Self.scripts().first { $0.id == "k3_script-016" })
        let outside = OutsideKernel(path: Checkout.file("docs/examples/kernel.py").path)
        let document = try Checkout.text("docs/internals/kernel-diff.md")
        for known in [KnownDifferences.none, try Self.known()] {
            let found = TraceDifference.all(
                OwnKernel.plain.trace(script), outside.trace(script), kernel: outside.name, script: script,
                known: known)
            let lines =
                ["\(script.id), \(outside.name):"]
                + found.flatMap { $0.lines(OwnKernel.plain.name, outside.name) }
            #expect(lines.count == 4)
            #expect(document.contains(lines.joined(separator: "\n")), "\(lines)")
        }
    }

    @Test func `a program that cannot be started, fails or prints nonsense is a trace with a complaint`() throws {
        let script = try #require(Self.scripts().first)
        for path in ["/nowhere/kernel", "/bin/false"] {
            #expect(OutsideKernel(path: path).trace(script).lines.contains { $0.hasPrefix("E ") }, "\(path)")
        }
        // cat gives the script back: no line of a trace, so that everything differs.
        let found = TraceDifference.all(
            OwnKernel.plain.trace(script), OutsideKernel(path: "/bin/cat").trace(script), kernel: "cat",
            script: script, known: .none)
        #expect(found.contains { $0.field == "outcome" && $0.other == nil })
    }
}
