// SPDX-License-Identifier: Apache-2.0
import Foundation
import Linux
import TestSupport
import Testing

/// The scripts of docs/estate.md, run as printed there, only smaller.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct EstateTests {
    /// - Returns: what it printed, and whether it ended with 0.
    private func run(_ script: String, _ arguments: [String]) throws -> (text: String, isDone: Bool) {
        let output = FileManager.default.temporaryDirectory.appending(path: "estate-\(UUID().uuidString)")
        _ = FileManager.default.createFile(atPath: output.path(), contents: nil)
        defer { try? FileManager.default.removeItem(at: output) }
        let handle = try FileHandle(forWritingTo: output)
        let redirected = ["-c", "exec \"$@\" 2>&1", "start", "\(Checkout.root.path())scripts/\(script)"]
        let started = try StartedProgram(
            "/bin/bash", redirected + [SwitchRig.programs.path()] + arguments, output: handle.fileDescriptor)
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
}
