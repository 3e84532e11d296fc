// SPDX-License-Identifier: Apache-2.0
import Foundation
import Linux
import TestSupport
import Testing

/// The scripts of docs/service/estate.md, run as printed there, only smaller.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct EstateTests {
    /// - Returns: what it printed, and whether it ended with 0.
    private func run(_ script: String, _ arguments: [String]) throws -> (text: String, isDone: Bool) {
        try run(["\(Checkout.root.path())Tests/Checks/Estate/\(script)", SwitchRig.programs.path()] + arguments)
    }

    private func run(_ command: [String]) throws -> (text: String, isDone: Bool) {
        let output = FileManager.default.temporaryDirectory.appending(path: "estate-\(UUID().uuidString)")
        _ = FileManager.default.createFile(atPath: output.path(), contents: nil)
        defer { try? FileManager.default.removeItem(at: output) }
        let handle = try FileHandle(forWritingTo: output)
        let redirected = ["-c", "exec \"$@\" 2>&1", "start"]
        let started = try StartedProgram("/bin/bash", redirected + command, output: handle.fileDescriptor)
        let isDone = started.waitUntilEnded()
        try handle.close()
        return (try String(contentsOf: output, encoding: .utf8), isDone)
    }

    @Test func `books of switch and acquirer are the same after deaths of replicas, links and the primary`() throws {
        let (text, isDone) = try run(
            "check-estate.py",
            [
                "--tills", "20", "--taps", "160", "--shops", "2", "--kills", "6", "--fail-overs", "1", "--every", "0.7",
                "--seconds", "30", "--seed", "3",
            ])
        #expect(isDone, "\(text)")
        #expect(text.contains("| doubles, losses and other differences | 0 |"), "\(text)")
        #expect(text.contains("1 primary, standby promoted"), "\(text)")
    }

    @Test func `a virtual card pays through both proxies, the token and ISO 8583, and each stage has its time`() throws
    {
        let (text, isDone) = try run("demo-switch.py", [])
        #expect(isDone, "\(text)")
        #expect(text.contains("cryptogram verified."), "\(text)")
        let stages = text.split(separator: "\n").filter { $0.hasPrefix("| ") && $0.contains(/\| [0-9.]+ \|/) }
        #expect(stages.count == 9, "\(text)")
    }

    @Test func `every case of a host test ends as its file has it, and one that does not is told`() throws {
        let (text, isDone) = try run("host-test.py", [])
        #expect(isDone, "\(text)")
        #expect(text.contains("12 cases, 0 not as expected"), "\(text)")
        let cases = Checkout.file("docs/examples/host-test.jsonl").path()
        let wrong = FileManager.default.temporaryDirectory.appending(path: "cases-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: wrong) }
        try String(contentsOfFile: cases, encoding: .utf8).replacing("answered 51", with: "answered 52").write(
            to: wrong, atomically: true, encoding: .utf8)
        let (complaint, isWell) = try run("host-test.py", ["--cases", wrong.path(), "--only", "A02"])
        #expect(!isWell && complaint.contains("1 cases, 1 not as expected"), "\(complaint)")
    }

    @Test func `a packager is checked, and reads the messages that its documentation prints`() throws {
        let packager = Checkout.file("docs/examples/packager.json").path()
        let document = try String(contentsOf: Checkout.file("docs/service/iso8583.md"), encoding: .utf8)
        let told = try #require(document.firstMatch(of: #/ (003F[0-9A-F]+)\n(0210 .*)\n/#))
        let read = try run([SwitchRig.program, "packager", packager, "--framed", "--read", String(told.1)])
        #expect(read.isDone && read.text == told.2 + "\n", "\(read.text)")
        let table = try run([SwitchRig.program, "packager", packager])
        #expect(table.isDone && table.text.contains("49\tan3\tascii\tCurrency\n"), "\(table.text)")
        let (text, isRight) = try run([SwitchRig.program, "packager", packager, "--read", "0200 00"])
        #expect(!isRight && text.contains("bitmap"), "\(text)")
    }
}
