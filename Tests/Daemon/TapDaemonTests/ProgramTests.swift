// SPDX-License-Identifier: Apache-2.0
import Codes
import Envelope
import Foundation
import Glibc
import LocalHTTP
import POSAPI
import PaymentValues
import TestSupport
import Testing

@testable import TapDaemon

@Suite("nfc-tapd as a program", .timeLimit(.minutes(5)))
struct ProgramTests {
    private static let program = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
        .appending(path: "nfc-tapd")

    fileprivate func start(
        _ arguments: [String], _ environment: [String: String] = [:]
    ) throws -> (process: Process, output: Pipe) {
        let process = Process()
        process.executableURL = Self.program
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        return (process, output)
    }

    /// Waits for the end without holding a thread that the test's own tasks need.
    fileprivate func end(_ process: Process) async throws -> Int32 {
        while process.isRunning { try await Task.sleep(for: .milliseconds(5)) }
        return process.terminationStatus
    }

    fileprivate func text(_ pipe: Pipe) -> String {
        String(decoding: pipe.fileHandleForReading.availableData, as: UTF8.self)
    }

    /// Waits until the code that only the start needed is no longer in memory: some seconds after the start.
    private func awaitRelease(by process: Process) async throws {
        func kilobytes(_ name: String) throws -> Int {
            let status = try String(contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8)
            let line = try #require(status.split(separator: "\n").first { $0.hasPrefix(name) })
            return try #require(Int(line.filter(\.isNumber)))
        }
        try await eventually("less memory") { try kilobytes("VmRSS:") + 3_000 <= kilobytes("VmHWM:") }
    }

    @Test("It says its version")
    func version() async throws {
        let (process, output) = try start(["--version"])
        #expect(try await end(process) == 0)
        #expect(text(output) == Version.text + "\n")
    }

    static let mistakes: [(arguments: [String], says: String)] = [
        (["--config", "/nowhere.toml"], "cannot be read"), (["--reader", "usb:1"], "pcsc:NAME"),
        (["--virtual-reader", "here"], "absolute path"), (["--log-level", "loud"], "warning"),
        (["--sokcet"], "--sokcet"), (["--check"], "--config"),
        (["--check", "--config", "/nowhere.toml"], "cannot be read"),
        (["--runtime-directory", "/proc/none"], "runtime directory"),
        (["--pos-socket", "/" + String(repeating: "x", count: 120)], "choose one of 1 to 107 bytes"),
    ]

    @Test("A mistake ends it with what is wrong", arguments: mistakes)
    func mistake(arguments: [String], says: String) async throws {
        let folder = try TestFolder()
        let place = arguments.contains("--runtime-directory") ? [] : ["--runtime-directory", folder.path]
        let (process, output) = try start(arguments + place)
        #expect(try await end(process) != 0)
        let said = text(output)
        #expect(said.contains(says), "\(said)")
    }

    @Test(
        "It tells the service manager when it is ready, cannot be dumped, and ends at SIGTERM with 0")
    func life() async throws {
        let folder = try TestFolder()
        let manager = try DatagramSocket(path: folder.path + "/notify")
        let (process, _) = try start(
            ["--runtime-directory", folder.path], ["NOTIFY_SOCKET": folder.path + "/notify"])
        defer { process.terminate() }
        #expect(try await manager.next()?.contains("READY=1") == true)
        let client = HTTPClient(path: folder.path + "/pos.sock")
        #expect(try await client.send(HTTPClientRequest(.get, "/v1/status"), answerWithin: hangLimit).status == 200)
        // Not dumpable: /proc/PID belongs to root, whoever started it; and no core file.
        let limits = try String(contentsOfFile: "/proc/\(process.processIdentifier)/limits", encoding: .utf8)
        let core = try #require(limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") })
        #expect(core.split(separator: " ").filter { $0 == "0" }.count == 2)
        process.terminate()
        #expect(try await end(process) == 0)
        var last = ""
        while !last.contains("STOPPING=1") { last = try #require(try await manager.next()) }
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/pos.sock"))
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/reader.sock"))
    }

    @Test(
        "Once it is ready it gives back the code that only the start needed",
        .timeLimit(.minutes(5)))
    func startCode() async throws {
        let folder = try TestFolder()
        let manager = try DatagramSocket(path: folder.path + "/notify")
        let (process, _) = try start(
            ["--runtime-directory", folder.path], ["NOTIFY_SOCKET": folder.path + "/notify"])
        defer { process.terminate() }
        #expect(try await manager.next()?.contains("READY=1") == true)
        try await awaitRelease(by: process)
    }

    @Test(
        "It locks its memory", .timeLimit(.minutes(5)),
        .enabled(if: geteuid() == 0, "only root may lock as much as it likes and look into the memory of others"))
    func locks() async throws {
        let folder = try TestFolder()
        let manager = try DatagramSocket(path: folder.path + "/notify")
        let (process, _) = try start(
            ["--runtime-directory", folder.path], ["NOTIFY_SOCKET": folder.path + "/notify"])
        defer { process.terminate() }
        #expect(try await manager.next()?.contains("READY=1") == true)
        try await awaitRelease(by: process)
        let proc = "/proc/\(process.processIdentifier)/"
        let status = try String(contentsOfFile: proc + "status", encoding: .utf8)
        let locked = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmLck:") })
        #expect(locked.split(separator: " ").dropLast().last.flatMap { Int($0.filter(\.isNumber)) } ?? 0 > 4_096)
        // While code is given back the rest is unlocked for a moment.
        try await eventually("code that is there and locked") {
            let maps = try String(contentsOfFile: proc + "smaps", encoding: .utf8).components(separatedBy: "VmFlags:")
            let code = maps.indices.dropLast().filter {
                maps[$0].contains(" r-xp ") && maps[$0].contains("/nfc-tapd\n")
            }
            return !code.isEmpty
                && code.allSatisfy { maps[$0 + 1].prefix { $0 != "\n" }.split(separator: " ").contains("lo") }
        }
    }

    @Test("SIGHUP has the configuration read again, with word to the service manager; a wrong one is refused")
    func reload() async throws {
        let folder = try TestFolder()
        let manager = try DatagramSocket(path: folder.path + "/notify")
        let file = URL(filePath: folder.path + "/nfc-tapd.toml")
        let lane = "[[lane]]\nname = \"a\"\nreader = \"virtual:\(folder.path)/reader.sock\"\n"
        try Data(lane.utf8).write(to: file)
        let (process, _) = try start(
            ["--config", file.path, "--runtime-directory", folder.path], ["NOTIFY_SOCKET": folder.path + "/notify"])
        defer { process.terminate() }
        #expect(try await manager.next()?.contains("READY=1") == true)
        let client = HTTPClient(path: folder.path + "/pos.sock")
        func status() async throws -> String {
            let answer = try await client.send(HTTPClientRequest(.get, "/v1/status"), answerWithin: hangLimit)
            return String(decoding: answer.body, as: UTF8.self)
        }
        try Data((lane + "[lane-groups]\nbar = [\"a\"]\n").utf8).write(to: file)
        kill(process.processIdentifier, SIGHUP)
        var told = ""
        while !told.contains("RELOADING=1") { told = try #require(try await manager.next()) }
        #expect(told.contains("MONOTONIC_USEC="))
        while !told.contains("READY=1") { told = try #require(try await manager.next()) }
        #expect(told.contains("STATUS=test mode"))
        #expect(try await status().contains(#""groups":["bar"]"#))
        try Data("mode = \"wrong\"\n".utf8).write(to: file)
        kill(process.processIdentifier, SIGHUP)
        told = ""
        while !told.contains("READY=1") { told = try #require(try await manager.next()) }
        #expect(told.contains("newer configuration refused"))
        #expect(try await status().contains(#""groups":["bar"]"#))
        process.terminate()
        #expect(try await end(process) == 0)
    }
}

extension ProgramTests {
    @Test("D1 Starts that come to nothing have pauses that grow, and one that lasts or ends in order begins anew")
    func pauses() async throws {
        let folder = try TestFolder()
        let manager = try DatagramSocket(path: folder.path + "/notify")
        let wrong = ["--runtime-directory", folder.path, "--config", folder.path + "/none.toml"]
        let environment = ["NOTIFY_SOCKET": folder.path + "/notify"]
        func fail() async throws -> String {
            let (process, output) = try start(wrong, environment)
            #expect(try await end(process) != 0)
            return text(output)
        }
        for _ in 0..<3 { #expect(try await !fail().contains("starts came to nothing")) }
        let fourth = try await fail()
        #expect(fourth.contains("starts came to nothing") && fourth.contains("wait=\"1.0 seconds\""), "\(fourth)")
        let fifth = try await fail()
        #expect(fifth.contains("wait=\"2.0 seconds\""), "\(fifth)")
        let (process, _) = try start(["--runtime-directory", folder.path], environment)
        #expect(try await manager.next()?.contains("READY=1") == true)
        process.terminate()
        #expect(try await end(process) == 0)
        #expect(try await !fail().contains("starts came to nothing"))
    }

    @Test("A8 A second daemon does not get in, whichever files are removed; restored books are taken again")
    func secondProcess() async throws {
        let folder = try TestFolder()
        let manager = try DatagramSocket(path: folder.path + "/notify")
        let (first, _) = try start(
            ["--runtime-directory", folder.path], ["NOTIFY_SOCKET": folder.path + "/notify"])
        #expect(try await manager.next()?.contains("READY=1") == true)
        let state = folder.path + "/state/"
        func second() async throws -> String {
            let (process, output) = try start([
                "--runtime-directory", folder.path + "/other", "--state-directory", folder.path + "/state",
            ])
            #expect(try await end(process) != 0)
            return text(output)
        }
        #expect(try await second().contains("another daemon uses the journal"))
        // What was the lock once, and whatever else can be removed, the journal itself last.
        for name in try FileManager.default.contentsOfDirectory(atPath: state).sorted(by: >) {
            try FileManager.default.moveItem(atPath: state + name, toPath: folder.path + "/" + name)
            let said = try await second()
            #expect(said.contains(state.dropLast()) || said.contains("journal"), "\(name): \(said)")
        }
        let client = HTTPClient(path: folder.path + "/pos.sock")
        try await eventually("a daemon that has lost its journal and says so") {
            let answer = try await client.send(HTTPClientRequest(.get, "/v1/status"), answerWithin: hangLimit)
            let status = try WireJSON.decode(Status.self, from: answer.body)
            return !status.ready && status.journal?.writable == false
        }
        first.terminate()
        #expect(try await end(first) == 0)
    }

    @Test("A8 The way on without a backup is a command that says what it did, and one start later all is well")
    func newJournal() async throws {
        let folder = try TestFolder()
        let place = ["--runtime-directory", folder.path]
        let manager = try DatagramSocket(path: folder.path + "/notify")
        func run() async throws {
            let (process, _) = try start(place, ["NOTIFY_SOCKET": folder.path + "/notify"])
            var told = ""
            while !told.contains("READY=1") { told = try #require(try await manager.next()) }
            process.terminate()
            #expect(try await end(process) == 0)
            while !told.contains("STOPPING=1") { told = try #require(try await manager.next()) }
        }
        try await run()
        let (whole, said) = try start(place + ["--new-journal"])
        #expect(try await end(whole) != 0)
        #expect(text(said).contains("are whole"))
        try FileManager.default.removeItem(atPath: folder.path + "/state/installation.key")
        let (refused, why) = try start(place)
        #expect(try await end(refused) != 0)
        let reason = text(why)
        #expect(reason.contains("installation.key is missing") && reason.contains("--new-journal"), "\(reason)")
        let (begun, told) = try start(place + ["--new-journal"])
        #expect(try await end(begun) == 0)
        #expect(text(told).contains("former-books-"))
        try await run()
        #expect(
            try sqlite(
                folder.path + "/state/journal.sqlite",
                "SELECT count(*) FROM audit WHERE detail LIKE 'new books by uid %'") == "1")
    }
}

extension ProgramTests {
    @Test(
        "Another mode in the file is in force after a restart: until then service manager and status name the old one")
    func mode() async throws {
        let folder = try TestFolder()
        let manager = try DatagramSocket(path: folder.path + "/notify")
        let file = URL(filePath: folder.path + "/nfc-tapd.toml")
        try Data("[[lane]]\nname = \"a\"\nreader = \"virtual:\(folder.path)/reader.sock\"\n".utf8).write(to: file)
        let (process, _) = try start(
            ["--config", file.path, "--runtime-directory", folder.path], ["NOTIFY_SOCKET": folder.path + "/notify"])
        defer { process.terminate() }
        #expect(try await manager.next()?.contains("READY=1") == true)
        let key = folder.path + "/profile.jwk"
        try Data(SigningKey().verificationKey.jwk.utf8).write(to: URL(filePath: key))
        let live =
            "mode = \"live\"\n[profile]\nkey = \"\(key)\"\n[[lane]]\nname = \"a\"\nreader = \"pcsc:none such\"\n"
        try Data(live.utf8).write(to: file)
        kill(process.processIdentifier, SIGHUP)
        var told = ""
        while !told.contains("RELOADING=1") { told = try #require(try await manager.next()) }
        while !told.contains("READY=1") { told = try #require(try await manager.next()) }
        #expect(told.contains("STATUS=test mode"), "\(told)")
        let client = HTTPClient(path: folder.path + "/pos.sock")
        let answer = try await client.send(HTTPClientRequest(.get, "/v1/status"), answerWithin: .seconds(5))
        let status = try WireJSON.decode(Status.self, from: answer.body)
        #expect(status.mode == .test && status.configuration?.needsRestart == ["mode", "profile.key"])
        process.terminate()
        #expect(try await end(process) == 0)
    }
}

/// Stands for the service manager.
final class DatagramSocket: Sendable {
    private let descriptor: Int32

    init(path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let bound = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe bind(descriptor, $0, size) }
        }
        try #require(bound == 0)
    }

    deinit { close(descriptor) }

    /// The next message but heartbeats; `nil` when none comes.
    func next() async throws -> String? {
        let deadline = ContinuousClock.now.advanced(by: hangLimit)
        var bytes = [UInt8](repeating: 0, count: 4_096)
        while ContinuousClock.now < deadline {
            let count = unsafe recv(descriptor, &bytes, bytes.count, 0)
            if count > 0 {
                let text = String(decoding: bytes.prefix(count), as: UTF8.self)
                if text != "WATCHDOG=1" { return text }
            }
            try await Task.sleep(for: .milliseconds(5))
        }
        return nil
    }
}
