// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Foundation
import Glibc
import LocalHTTP
import POSAPI
import PSPSandbox
import PaymentValues
import ReaderCore
import ReaderVirtual
import TestSupport
import Testing

@testable import TapDaemon

/// The daemon as a process whose state directory is a small file system of its own, in a mount namespace of its own.
private final class SmallDisk: Sendable {
    let folder: TestFolder
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    let client: HTTPClient

    /// Starts the daemon; afterwards the shell takes commands, each answered by a line.
    init(megabytes: Int) throws {
        folder = try TestFolder()
        client = HTTPClient(path: folder.path + "/pos.sock")
        let program = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "nfc-tapd")
        let script = """
            cd \(folder.path) && mkdir state && mount -t tmpfs -o size=\(megabytes)m,mode=0700 tmpfs state || exit 9
            '\(program.path)' --runtime-directory \(folder.path) --state-directory \(folder.path)/state 2>daemon.log &
            daemon=$!
            while read -r line; do eval "$line" >/dev/null 2>&1; echo done; done
            kill $daemon; wait $daemon
            """
        process.executableURL = URL(filePath: "/usr/bin/unshare")
        // Without root a user namespace gives the right to mount.
        process.arguments =
            (geteuid() == 0 ? [] : ["--user", "--map-root-user"])
            + ["--mount", "--propagation", "private", "sh", "-c", script]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    func end() {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    func shell(_ command: String) throws {
        try input.fileHandleForWriting.write(contentsOf: Data((command + "\n").utf8))
        _ = try output.fileHandleForReading.read(upToCount: 5)
    }

    /// Takes every block that there is.
    func fill() throws {
        try shell("dd if=/dev/zero of=state/filling bs=4096 conv=notrunc oflag=append; sync state/filling")
    }

    func free() throws { try shell("rm -f state/filling") }

    var log: String { (try? String(contentsOfFile: folder.path + "/daemon.log", encoding: .utf8)) ?? "" }

    func status() async throws -> Status {
        let answer = try await client.send(HTTPClientRequest(.get, "/v1/status"), answerWithin: hangLimit)
        return try WireJSON.decode(Status.self, from: answer.body)
    }

    func isReady() async -> Bool { (try? await status().ready) ?? false }

    func post(_ value: Int64, wait: Int) async throws -> Answer {
        let fields: HTTPFields = [
            "Content-Type": "application/json", "Idempotency-Key": UUID().uuidString, "Prefer": "wait=\(wait)",
        ]
        let body = Array(purchase(value, more: #","deadline":60"#).utf8)
        return Answer(
            try await client.send(
                HTTPClientRequest(.post, "/v1/transactions", fields: fields, body: body), answerWithin: hangLimit))
    }

    func reader(_ command: String) async throws {
        let reply = try VirtualReaderSocket.send(
            command, to: folder.path + "/reader.sock", until: monotonicNow().advanced(byMilliseconds: 60_000))
        try #require(reply.hasPrefix("ok"), "\(reply)")
    }

    func armed() async throws {
        try await eventually("an armed lane") { try await self.status().lanes.first?.holder?.until != nil }
    }
}

@Suite("A9 a full disk", .timeLimit(.minutes(10)))
struct FullDiskTests {
    private func withDisk(_ megabytes: Int = 12, _ body: (SmallDisk) async throws -> Void) async throws {
        let disk = try SmallDisk(megabytes: megabytes)
        defer { disk.end() }
        try await withSandbox(in: disk.folder) { _ in
            try await eventually("a ready daemon") { await disk.isReady() }
            do { try await body(disk) } catch {
                Issue.record("\(disk.log.suffix(2_000))")
                throw error
            }
        }
    }

    @Test(
        "A9 A sale that is armed while the disk becomes full is paid with the room that is kept for it; no other begins"
    )
    func reserve() async throws {
        // With plenty of room at first, so that nothing but a look at the disk says that it is full.
        try await withDisk(48) { disk in
            async let answer = disk.post(1_250, wait: 60)
            try await disk.armed()
            try disk.fill()
            try await disk.reader("present visa")
            let paid = try await answer.transaction()
            #expect(paid.state == .approved, "\(paid.state) \(paid.error?.code ?? "")")
            try await disk.reader("remove")
            try await eventually("a daemon that says what it cannot do") { try await !disk.status().ready }
            let status = try await disk.status()
            #expect(status.journal?.writable == false && status.journal?.error?.code == "storage.full")
            let words = "free space on its disk"
            #expect(disk.log.contains("journal cannot be written") && disk.log.contains(words))
            #expect(status.journal?.cause?.contains(words) == true)
            try disk.free()
            try await eventually("a ready daemon again") { await disk.isReady() }
            #expect(disk.log.contains("journal can be written again"))
        }
    }

    @Test(
        "A9 Where not even that room is left the sale ends, and till, events and log hear why; it is in the journal later"
    )
    func nothingLeft() async throws {
        try await withDisk { disk in
            let events = try await disk.client.events(
                HTTPClientRequest(.get, "/v1/events"), answerWithin: hangLimit)
            async let answer = disk.post(1_250, wait: 60)
            try await disk.armed()
            // As often as the daemon gives room back, somebody else takes it.
            let full = #"for _ in $(seq 6000); do [ "$(stat -f -c %a state)" = 0 ] && break; sleep 0.01; done"#
            try disk.shell("(while [ ! -e stop ]; do cat /dev/zero >>state/filling; sleep 0.01; done) & \(full)")
            try disk.shell("rm -f state/journal.reserve; sleep 0.5; \(full)")
            try await disk.reader("present visa")
            let ended = try await answer.transaction()
            #expect(ended.state == .failed && ended.error?.code == "storage.full", "\(ended.state)")
            #expect(disk.log.contains("journal not written"))
            // It is tried every second, and said once: the log may be on the same disk.
            try await Task.sleep(for: .seconds(3))
            #expect(disk.log.components(separatedBy: "journal not written").count == 2)
            var told = ""
            for try await event in events where event.name == "read.notCompleted" {
                told = event.data
                break
            }
            #expect(told.contains("storage.full") && told.contains(ended.id.text))
            #expect(try await disk.post(100, wait: 0).error().code == "storage.full")
            try disk.shell("touch stop; sleep 0.2; rm -f state/filling")
            try await eventually("a ready daemon again") { await disk.isReady() }
            try await eventually("the end in the journal") {
                try disk.shell("sqlite3 -readonly state/journal.sqlite 'SELECT state FROM payment' >said")
                return try String(contentsOfFile: disk.folder.path + "/said", encoding: .utf8).contains("failed")
            }
        }
    }
}
