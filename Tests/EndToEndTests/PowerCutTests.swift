// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@Suite("A machine that loses its power", .timeLimit(.minutes(15)))
struct PowerCutTests {
    @Test("Forty disks that a power cut may leave: what was told and asked is known, and nobody is charged twice")
    func fortyImages() throws {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "python3", Checkout.file("Tests/Checks/check-power.py").path,
            URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().path, "--count", "40",
        ]
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let said = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        let text = String(decoding: said, as: UTF8.self)
        #expect(process.terminationStatus == 0, "\(text)")
        #expect(text.contains("check-power: 40 images, 0 losses"), "\(text)")
    }
}
