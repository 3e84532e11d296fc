// SPDX-License-Identifier: Apache-2.0
import Foundation
import Journal
import TestSupport
import Testing

@Suite("A copy of the journal", .timeLimit(.minutes(5)))
struct CopyTests {
    /// fsync(2): the entry in the folder reaches the disk with a sync of the folder alone.
    @Test("W24: the copy that docs/operating/operations.md makes is whole, and on the disk with its name")
    func backup() throws {
        let folder = URL(filePath: NSTemporaryDirectory()).resolvingSymlinksInPath()
            .appending(path: "copy-\(UUID().uuidString.prefix(8))")
        for name in ["lib", "backups"] {
            try FileManager.default.createDirectory(
                at: folder.appending(path: name), withIntermediateDirectories: true)
        }
        defer { try? FileManager.default.removeItem(at: folder) }
        let page = try Checkout.text("docs/operating/operations.md")
        let section = try #require(page.range(of: "\n## Backup\n"))
        let blocks = page[section.upperBound...].components(separatedBy: "```\n")
        let commands = try #require(blocks.dropFirst().first)
            .replacingOccurrences(of: "/var/lib/nfc-tap", with: folder.path + "/lib")
            .replacingOccurrences(of: "/var/backups", with: folder.path + "/backups")
        let journal = try Journal(directory: folder.path + "/lib")
        let log = try DiskLog()
        defer { log.remove() }
        let surroundings = ProcessInfo.processInfo.environment.merging(log.environment) { $1 }
        let copying = try Peer.run("/bin/sh", ["-e", "-c", commands], environment: surroundings)
        #expect(copying.status == 0, "\(copying.said)")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/backups")
        let copy = folder.path + "/backups/" + (names.first ?? "")
        #expect(names.count == 1 && copy.hasSuffix(".sqlite"))
        #expect(try log.lines().suffix(2) == ["sync \(copy)", "sync \(folder.path)/backups"])
        // It opens as a journal, with the name of this one.
        try FileManager.default.createDirectory(atPath: folder.path + "/other", withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: copy, toPath: folder.path + "/other/journal.sqlite")
        #expect(try Journal(directory: folder.path + "/other").support == journal.support)
    }
}
