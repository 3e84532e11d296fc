// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// The package's own scripts, run as dpkg runs them, against a journal that a daemon wrote; dpkg's DPKG_ROOT names the folder
/// that stands for the machine.
@Suite(.serialized) struct PurgeTests {
    private struct Machine {
        let root: URL
        var state: URL { root.appending(path: "var/lib/nfc-tap") }
        /// What the scripts write down: root's, not the daemon's.
        var told: URL { root.appending(path: "var/lib/nfc-tap-package") }

        init(_ journal: URL) throws {
            root = FileManager.default.temporaryDirectory.appending(path: "purge-\(UUID().uuidString.prefix(8))")
            for folder in ["var/lib", "usr/bin", "run/nfc-tap", "etc/nfc-tap"] {
                try FileManager.default.createDirectory(
                    at: root.appending(path: folder), withIntermediateDirectories: true)
            }
            try FileManager.default.copyItem(at: journal, to: root.appending(path: "var/lib/nfc-tap"))
            try FileManager.default.createSymbolicLink(
                at: root.appending(path: "usr/bin/nfc-tapd"), withDestinationURL: Program.daemon.url)
        }

        func end() { try? FileManager.default.removeItem(at: root) }

        /// - Returns: exit status, and what it said.
        func run(_ script: String, _ action: String) throws -> Finished {
            try Peer.run(
                "/bin/sh", [Checkout.file("packaging/debian/nfc-tap.\(script)").path, action],
                environment: ["PATH": "/usr/bin:/bin", "DPKG_ROOT": root.path])
        }
    }

    /// A shop's journal in which a payment is sent and not answered, or not.
    private func withMachine(
        open: Bool, endedBy signal: Int32 = SIGKILL, _ body: (Machine, String) throws -> Void
    ) throws {
        let shop = try Shop()
        try shop.awaitReader()
        try shop.card("present visa")
        // The sandbox never answers the second amount.
        let payment = open ? nil : try shop.pay("12.50 EUR")
        if open {
            let client = try Program.tap.launch(
                ["pay", "12.98", "EUR", "--socket", shop.posSocket, "--json"], in: shop.folder)
            shop.keep(client)
            try shop.eventually("a payment without an answer") {
                let journal = shop.folder.appending(path: "state/journal.sqlite").path
                return try Peer.sqlite(journal, "SELECT state FROM payment", "-readonly") == "sent"
            }
        } else {
            #expect(payment?.state == "approved")
        }
        let state = shop.folder.appending(path: "state")
        // Before the end: whoever looks into a journal that nobody has open leaves files behind.
        let id = try Peer.sqlite(state.appending(path: "journal.sqlite").path, "SELECT id FROM payment", "-readonly")
        shop.killDaemon(with: signal)
        let machine = try Machine(state)
        defer { machine.end() }
        try body(machine, id)
    }

    @Test("E8 A purge refuses while money is open, says what, and deletes all the same once a person wishes it")
    func open() throws {
        try withMachine(open: true) { machine, id in
            #expect(try machine.run("prerm", "remove").status == 0)
            for _ in 0..<2 {
                let purge = try machine.run("postrm", "purge")
                #expect(purge.status != 0)
                #expect(purge.said.contains(id) && purge.said.contains("delete-open-money"), "\(purge.said)")
                #expect(FileManager.default.fileExists(atPath: machine.state.appending(path: "journal.sqlite").path))
            }
            try Data().write(to: machine.told.appending(path: "delete-open-money"))
            #expect(try machine.run("postrm", "purge").status == 0)
            #expect(!FileManager.default.fileExists(atPath: machine.state.path))
            #expect(!FileManager.default.fileExists(atPath: machine.told.path))
        }
    }

    /// The daemon's folder, as one who has got into the daemon leaves it: links at every name that the scripts and the command could write.
    @Test(
        "A7: what root asks of the books writes through no link in the daemon's folder, and leaves no file of root's there",
        .enabled(if: geteuid() == 0, "needs root, to be the one who is misled"))
    func links() throws {
        try withMachine(open: true) { machine, id in
            let bait = machine.root.appending(path: "bait")
            for name in ["open-money", "open-money.new", "delete-open-money"] {
                try Data("untouched".utf8).write(to: machine.root.appending(path: "bait-\(name)"))
                try FileManager.default.createSymbolicLink(
                    at: machine.state.appending(path: name),
                    withDestinationURL: machine.root.appending(path: "bait-\(name)"))
            }
            try? FileManager.default.removeItem(at: machine.state.appending(path: "journal.sqlite-shm"))
            try FileManager.default.createSymbolicLink(
                at: machine.state.appending(path: "journal.sqlite-shm"), withDestinationURL: bait)
            // Any user but root; the folder's files come with it, as they are the daemon's. Others may pass through the folders above.
            try Self.shell("chmod 755 '\(machine.root.path)' && chown -Rh 65534:65534 '\(machine.state.path)'")
            #expect(try machine.run("prerm", "remove").status == 0)
            let purge = try machine.run("postrm", "purge")
            #expect(purge.status != 0, "\(purge.said)")
            for name in ["open-money", "open-money.new", "delete-open-money"] {
                let text = try String(contentsOf: machine.root.appending(path: "bait-\(name)"), encoding: .utf8)
                #expect(text == "untouched", "\(name)")
            }
            #expect(!FileManager.default.fileExists(atPath: bait.path))
            let strays = try Self.shell("find '\(machine.state.path)' -user 0")
            #expect(strays.isEmpty, "\(strays)")
            let told = try FileManager.default.attributesOfItem(atPath: machine.told.path)
            #expect(told[.ownerAccountID] as? Int == 0 && told[.posixPermissions] as? Int == 0o700)
            // Root looks as the folder's owner: what he may not read himself, as a file that he has linked, is read for nobody.
            try FileManager.default.removeItem(at: machine.state.appending(path: "journal.sqlite-shm"))
            func said() throws -> String {
                #expect(try machine.run("prerm", "remove").status == 0)
                return try String(contentsOf: machine.told.appending(path: "open-money"), encoding: .utf8)
            }
            let own = try said()
            #expect(own.contains(id), "\(own)")
            let journal = machine.state.appending(path: "journal.sqlite").path
            try Self.shell("chown 0:0 '\(journal)' && chmod 600 '\(journal)'")
            let foreign = try said()
            #expect(foreign.contains("not readable") && !foreign.contains(id), "\(foreign)")
        }
    }

    @Test(
        "D12: a purge over open money is refused where the programs cannot look, because /proc is not mounted",
        .enabled(if: geteuid() == 0, "needs root, to take /proc away"))
    func withoutProc() throws {
        try withMachine(open: true) { machine, _ in
            let script = Checkout.file("packaging/debian/nfc-tap.prerm").path
            let said = try Self.shell(
                "unshare --mount --propagation private sh -c 'mount -t tmpfs tmpfs /proc && DPKG_ROOT=\(machine.root.path) "
                    + "timeout 60 sh \(script) remove' 2>&1")
            #expect(said.contains("/proc is not mounted"), "\(said)")
            let purge = try machine.run("postrm", "purge")
            #expect(purge.status != 0 && purge.said.contains("cannot be read"), "\(purge.said)")
            #expect(FileManager.default.fileExists(atPath: machine.state.appending(path: "journal.sqlite").path))
        }
    }

    @discardableResult
    private static func shell(_ command: String) throws -> String {
        try Peer.run("/bin/sh", ["-c", command]).output.trimmingCharacters(in: .newlines)
    }

    @Test(
        "E8 Where nothing is open a purge deletes the journal, and asks nobody, however the daemon ended",
        arguments: [SIGKILL, SIGTERM])
    func settled(endedBy signal: Int32) throws {
        try withMachine(open: false, endedBy: signal) { machine, _ in
            #expect(try machine.run("prerm", "remove").status == 0)
            let purge = try machine.run("postrm", "purge")
            #expect(purge.status == 0 && purge.said.isEmpty, "\(purge.said)")
            #expect(!FileManager.default.fileExists(atPath: machine.state.path))
        }
    }

    @Test("E8 A journal that nobody has looked at, that was written since, or that cannot be read, is taken for open")
    func unknown() throws {
        try withMachine(open: false) { machine, _ in
            let journal = machine.state.appending(path: "journal.sqlite")
            #expect(try machine.run("postrm", "purge").said.contains("nobody has looked"))
            #expect(try machine.run("prerm", "remove").status == 0)
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSinceNow: 60)], ofItemAtPath: journal.path)
            #expect(try machine.run("postrm", "purge").said.contains("nobody has looked"))
            // A log that nobody has brought into the file yet would still have every page.
            try? FileManager.default.removeItem(at: machine.state.appending(path: "journal.sqlite-wal"))
            try Data(repeating: 0x41, count: 8_192).write(to: journal)
            #expect(try machine.run("prerm", "remove").status == 0)
            let purge = try machine.run("postrm", "purge")
            #expect(purge.status != 0 && purge.said.contains("cannot be read"), "\(purge.said)")
            #expect(FileManager.default.fileExists(atPath: journal.path))
        }
    }

    @Test("E8 An upgrade and a removal keep the journal, and ask nothing of it", arguments: ["upgrade", "remove"])
    func kept(action: String) throws {
        try withMachine(open: true) { machine, _ in
            for script in ["prerm", "postrm"] {
                let run = try machine.run(script, action)
                #expect(run.status == 0, "\(run.said)")
            }
            #expect(FileManager.default.fileExists(atPath: machine.state.appending(path: "journal.sqlite").path))
        }
    }
}
