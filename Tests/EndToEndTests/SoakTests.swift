// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// A short soak in every test run; `make soak` is the long one.
struct SoakTests {
    @Test("After hundreds of taps the daemon holds what it held after the first, and every tap is in the books")
    func short() throws {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "python3", Checkout.file("Tests/Checks/Soak/soak.py").path, "virtual",
            Program.daemon.url.deletingLastPathComponent().path, "--taps", "300", "--lanes", "2",
        ]
        process.standardOutput = output
        try process.run()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "\(text)")
        #expect(text.contains("| taps approved, of | 300, 300 |"), "\(text)")
    }
}
