// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@Suite("nfc-tap config check") struct ConfigCommandTests {
    @Test func `A right file ends with 0, a wrong one with 65 and the line, as the daemon would read it`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "c\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "nfc-tapd.toml")
        try Data("[[lane]]\nname = \"a\"\nreader = \"pcsc:\"\n".utf8).write(to: file)
        let right = try Program.tap.run(["config", "check", file.path], in: folder)
        #expect(right.status == 0 && right.output.contains("valid, test mode, 1 lane"))
        try Data("[[lane]]\nname = \"a\"\nreader = \"usb:1\"\n".utf8).write(to: file)
        let wrong = try Program.tap.run(["config", "check", file.path, "--json"], in: folder)
        #expect(wrong.status == 65 && wrong.output.contains(#""line":3"#))
        #expect(wrong.output.contains(#""key":"lane[0].reader""#))
    }
}
