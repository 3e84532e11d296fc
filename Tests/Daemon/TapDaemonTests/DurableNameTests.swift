// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// fsync(2): "Calling fsync() does not necessarily ensure that the entry in the directory containing the file has also reached disk."
@Suite("Names on the disk", .timeLimit(.minutes(5)))
struct DurableNameTests {
    /// Runs the daemon to its end; with `notifying`, a folder for the socket, it is ended once it is ready.
    private func run(_ arguments: [String], _ log: DiskLog, notifying folder: String? = nil) async throws -> Int32 {
        let manager = try folder.map { try DatagramSocket(path: $0 + "/notify") }
        let process = Process()
        process.executableURL = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
            .appending(path: "nfc-tapd")
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(log.environment) { $1 }
        if let folder { process.environment?["NOTIFY_SOCKET"] = folder + "/notify" }
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        defer { if process.isRunning { process.terminate() } }
        if let manager {
            #expect(try await manager.next()?.contains("READY=1") == true)
            process.terminate()
        }
        try await eventually("the end") { !process.isRunning }
        return process.terminationStatus
    }

    @Test("M7: the key's name is on the disk before the journal is bound to it")
    func firstStart() async throws {
        let folder = try TestFolder()
        let log = try DiskLog()
        defer { log.remove() }
        let state = folder.path + "/state"
        let place = ["--runtime-directory", folder.path, "--state-directory", state]
        #expect(try await run(place, log, notifying: folder.path) == 0)
        let lines = try log.lines()
        for name in ["installation.key", "installation.jwk", "installation.journal"] {
            #expect(lines.contains("rename \(state)/\(name).new \(state)/\(name)"), "the rig saw nothing: \(lines)")
        }
        #expect(lines.contains("sync \(state)/journal.sqlite-wal"))
        #expect(try log.uncertainNames() == [])
    }

    @Test("M7: former books have their names on the disk before new ones are begun")
    func newJournal() async throws {
        let folder = try TestFolder()
        let (first, second) = (try DiskLog(), try DiskLog())
        defer {
            first.remove()
            second.remove()
        }
        let state = folder.path + "/state"
        let place = ["--runtime-directory", folder.path, "--state-directory", state]
        #expect(try await run(place, first, notifying: folder.path) == 0)
        try FileManager.default.removeItem(atPath: state + "/installation.key")
        #expect(try await run(place + ["--new-journal"], second) == 0)
        let lines = try second.lines()
        #expect(lines.contains { $0.hasPrefix("rename \(state)/journal.sqlite \(state)/former-books-") }, "\(lines)")
        #expect(try second.uncertainNames() == [])
    }
}
