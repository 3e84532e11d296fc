// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport
import Testing

/// `nfc-tap audit` on what a daemon has written and is still writing.
struct AuditCommandTests {
    private func verify(_ shop: Shop, _ arguments: [String]) throws -> (status: Int32, report: [String: Any]) {
        let result = try Program.tap.run(["audit", "verify", "--json"] + arguments, in: shop.folder)
        let json = try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any]
        return (result.status, json ?? [:])
    }

    @Test("§10.5: the running daemon's chain holds, its export too, and a changed copy or export does not")
    func verified() throws {
        let shop = try Shop()
        try shop.awaitReader()
        try shop.card("present visa")
        #expect(try shop.pay("12.50 EUR").state == "approved")
        let journal = shop.folder.appending(path: "state/journal.sqlite")
        let running = try verify(shop, ["--file", journal.path])
        #expect(running.status == 0, "\(running.report)")
        #expect(running.report["holds"] as? Bool == true)

        let exported = try Program.tap.run(["audit", "export", "--file", journal.path], in: shop.folder)
        let file = shop.folder.appending(path: "chain.jsonl")
        try exported.output.write(to: file, atomically: true, encoding: .utf8)
        #expect(try verify(shop, ["--file", file.path]).status == 0)
        let key = shop.folder.appending(path: "state/installation.jwk").path
        #expect(try verify(shop, ["--file", file.path, "--key", key]).status == 0)

        let altered = exported.output.replacingOccurrences(of: "created purchase 1250", with: "created purchase 9250")
        try altered.write(to: file, atomically: true, encoding: .utf8)
        let found = try verify(shop, ["--file", file.path])
        #expect(found.status == 1)
        #expect((found.report["faults"] as? [String])?.first?.contains("altered") == true)

        let copy = shop.folder.appending(path: "state/copy.sqlite")
        try Peer.alter(journal.path, ".backup '\(copy.path)'")
        #expect(try verify(shop, ["--file", copy.path]).status == 0)
        try Peer.alter(copy.path, "UPDATE payment SET value = 1")
        let changed = try verify(shop, ["--file", copy.path])
        #expect(changed.status == 1)
        #expect((changed.report["faults"] as? [String])?.first?.contains("differs from the chain") == true)
    }

    @Test func `what is no chain and what is not there get exit codes of their own`() throws {
        let shop = try Shop(startsSandbox: false)
        let file = shop.folder.appending(path: "other.txt")
        try "no chain\n".write(to: file, atomically: true, encoding: .utf8)
        #expect(try Program.tap.run(["audit", "verify", "--file", file.path], in: shop.folder).status == 65)
        #expect(try Program.tap.run(["audit", "verify", "--file", "/nowhere"], in: shop.folder).status == 69)
    }

    /// ECMA-48: ESC and CSI move the cursor, set the title, answer for the person. mkfifo(3): opening waits for the other end.
    @Test("A10: what a file says sends no command to the terminal, and a pipe with a name is refused at once")
    func foreignFiles() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "a10-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let tap = folder.appending(path: "\u{1B}[2J.tap")
        for head in ["# reader \u{1B}]0;x\u{07}\u{9B}2J\n", "\u{1B}[2J \u{1B}[31m\n", "reader: \u{1B}[2J\n"] {
            try head.write(to: tap, atomically: true, encoding: .utf8)
            let result = try Program.tap.run(["explain", tap.path], in: folder)
            let shown = (result.output + result.errors).unicodeScalars
            #expect(
                !shown.contains { $0 != "\n" && $0 != "\t" && $0.properties.generalCategory == .control }, "\(head)")
        }
        let pipe = folder.appending(path: "pipe").path
        try #require(unsafe mkfifo(pipe, 0o600) == 0)
        for arguments in [
            ["explain", pipe], ["audit", "verify", "--file", pipe], ["audit", "export", "--file", pipe],
        ] {
            let result = try Program.tap.run(arguments, in: folder)
            #expect(result.status == 65, "\(arguments) \(result)")
            #expect(result.errors.contains("no regular file") && result.errors.contains("pipe it in"), "\(result)")
        }
        // Whatever a program reads as a file, by any of its options.
        let others = [
            "nfc-tap config check \(pipe)", "nfc-tapd --check --config \(pipe)",
            "nfc-tap-gateway --check --config \(pipe)",
            "nfc-tap-ecr --check --config \(pipe)", "nfc-tap-psp-sandbox --key \(pipe) --socket \(folder.path)/s",
            "nfc-tap-profile check \(pipe)", "nfc-tap-acquirer-sim book \(pipe)",
            "nfc-tap-acquirer-sim serve --packager \(pipe)",
            "nfc-tap-switch packager \(pipe)",
            "nfc-tap-switch --socket \(folder.path)/s --database x --trust-requests --test-key \(pipe)",
        ]
        for line in others {
            var words = line.split(separator: " ").map(String.init)
            words[0] = Program.folder.appending(path: words[0]).path
            let result = try Peer.run("/usr/bin/timeout", ["60"] + words)
            #expect(![0, 124].contains(result.status), "\(line): \(result)")
            #expect((result.output + result.errors).contains(pipe), "\(line): \(result)")
        }
        // 1 GiB of nothing is not read into memory.
        let large = folder.appending(path: "large.tap").path
        try #require(FileManager.default.createFile(atPath: large, contents: nil))
        try #require(unsafe truncate(large, 1 << 30) == 0)
        let result = try Program.tap.run(["explain", large], in: folder)
        #expect(result.status == 65 && result.errors.contains("longer than 16 MiB"), "\(result)")
    }

    /// The daemon's folder is the daemon's: whoever has got into it may lay links there, and root would go through them.
    @Test(
        "A7: root verifies the chain as the owner of its folder, who reads and writes no other's files",
        .enabled(if: geteuid() == 0, "needs root, to be the one who is misled"))
    func asOwner() throws {
        let shop = try Shop()
        try shop.awaitReader()
        try shop.card("present visa")
        #expect(try shop.pay("12.50 EUR").state == "approved")
        shop.killDaemon()
        let state = shop.folder.appending(path: "state")
        let journal = state.appending(path: "journal.sqlite").path
        func shell(_ command: String) throws {
            #expect(try Peer.run("/bin/sh", ["-c", command]).status == 0)
        }
        // Any user but root; others may pass through the folders above.
        try shell("chmod 755 '\(shop.folder.path)' && chown -Rh 65534:65534 '\(state.path)'")
        #expect(try verify(shop, ["--file", journal]).status == 0)
        // A key that is kept apart is root's, and read as root.
        let key = shop.folder.appending(path: "kept.jwk").path
        try shell("cp '\(state.path)/installation.jwk' '\(key)' && chmod 600 '\(key)'")
        #expect(try verify(shop, ["--file", journal, "--key", key]).status == 0)
        // A file that its owner may not read, as one that he has linked, is read for nobody.
        try shell("chown 0:0 '\(journal)' && chmod 600 '\(journal)'")
        for command in ["verify", "export"] {
            let foreign = try Program.tap.run(["audit", command, "--file", journal], in: shop.folder)
            #expect(foreign.status == 69 && foreign.output.isEmpty, "\(foreign)")
        }
    }
}
