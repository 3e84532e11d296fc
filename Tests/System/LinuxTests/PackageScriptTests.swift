// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// Scripts of the build and of the payment service's package, run as make and dpkg run them.
@Suite(.serialized) struct PackageScriptTests {
    private func run(
        _ shell: String, _ arguments: [String], _ environment: [String: String]
    ) throws -> (status: Int32, said: String) {
        let process = Process()
        process.executableURL = URL(filePath: shell)
        process.arguments = arguments
        process.environment = ["PATH": "/usr/bin:/bin"].merging(environment) { _, own in own }
        let pipe = Pipe()
        process.standardError = pipe
        process.standardOutput = pipe
        try process.run()
        let said = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: said, as: UTF8.self))
    }

    @Test("D10: a build without a toolchain says where one is to be had")
    func toolchain() throws {
        let answer = try run(
            "/bin/bash", [Checkout.file("scripts/build.sh").path], ["SWIFT": "no-such-toolchain"])
        #expect(answer.status == 69)
        #expect(answer.said.contains("https://www.swift.org/install/linux/"))
        #expect(!answer.said.contains("build.log"))
        #expect(try Checkout.text("README.md").contains("(https://www.swift.org/install/linux/)"))
    }

    @Test("D13: a purge takes the replicas that were enabled, and leaves the PIN of the token")
    func purge() throws {
        let root = FileManager.default.temporaryDirectory.appending(path: "switch-\(UUID().uuidString.prefix(8))")
        defer { try? FileManager.default.removeItem(at: root) }
        let system = "etc/systemd/system"
        let gone = [
            "\(system)/multi-user.target.wants/nfc-tap-switch@1.service",
            "\(system)/timers.target.wants/nfc-tap-switch-day.timer", "run/nfc-tap-switch/1.sock",
        ]
        let kept = ["etc/nfc-tap-switch/token-pin", "\(system)/multi-user.target.wants/haproxy.service"]
        for path in gone + kept {
            let file = root.appending(path: path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data().write(to: file)
        }
        let script = Checkout.file("packaging/switch/debian/nfc-tap-switch.postrm").path
        for _ in 1...2 {
            let answer = try run("/bin/sh", [script, "purge"], ["DPKG_ROOT": root.path])
            #expect(answer.status == 0 && answer.said.isEmpty, "\(answer.said)")
        }
        for path in gone {
            #expect(!FileManager.default.fileExists(atPath: root.appending(path: path).path), "\(path)")
        }
        for path in kept { #expect(FileManager.default.fileExists(atPath: root.appending(path: path).path), "\(path)") }
    }
}
