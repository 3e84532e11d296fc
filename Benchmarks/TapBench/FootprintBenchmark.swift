// SPDX-License-Identifier: Apache-2.0
import Foundation
import POSAPI
import PaymentValues
import TapClient

/// What an installed daemon costs a machine: the programs on the disk, the time until it takes a sale, and its memory
/// while nothing happens.
enum FootprintBenchmark {
    private static let starts = 11
    private static let idle: useconds_t = 10_000_000
    /// Those of systemd/nfc-tapd.service that change what is measured.
    private static let unit = ["SWIFT_BACKTRACE": "enable=no"]

    static func run() async throws {
        Table.section("Footprint (release, static Swift runtime; daemon with the environment of its unit)")
        for name in ["nfc-tapd", "nfc-tap", "nfc-tap-psp-sandbox", "nfc-tap-ecr", "nfc-tap-libnfc-worker"] {
            try size(name)
        }
        try await daemon()
    }

    /// As the package installs it: without symbols.
    private static func size(_ name: String) throws {
        guard let program = Programs.path(of: name) else {
            Table.row(name, missing: "it is not built beside this program")
            return
        }
        let stripped = FileManager.default.temporaryDirectory.appending(path: "tap-bench-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: stripped) }
        try run("strip", ["-o", stripped, program])
        let attributes = try FileManager.default.attributesOfItem(atPath: stripped)
        Table.row("\(name), stripped", bytes: (attributes[.size] as? NSNumber)?.doubleValue ?? 0)
    }

    private static func run(_ tool: String, _ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/" + tool)
        process.arguments = arguments
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw BenchmarkError.failed(tool) }
    }

    private static func daemon() async throws {
        guard let program = Programs.path(of: "nfc-tapd") else {
            Table.row("nfc-tapd", missing: "it is not built beside this program")
            return
        }
        let folder = FileManager.default.temporaryDirectory.appending(path: "tap-bench-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(at: folder) }
        var ready: [Double] = []
        var taking: [Double] = []
        var memory = 0.0
        var own = 0.0
        for number in 0..<starts {
            let notified = try NotificationSocket(path: folder.appending(path: "notify.sock").path)
            let process = Process()
            process.executableURL = URL(filePath: program)
            process.arguments = ["--runtime-directory", folder.path, "--log-level", "error"]
            process.environment = ProcessInfo.processInfo.environment.merging(unit) { $1 }
                .merging(["NOTIFY_SOCKET": notified.path]) { $1 }
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            let start = Stopwatch.wallTime()
            try process.run()
            defer {
                process.terminate()
                process.waitUntilExit()
            }
            try notified.wait(for: "READY=1")
            let first = Double(Stopwatch.wallTime() - start)
            let client = try await TapClient.connect(to: folder.appending(path: "pos.sock").path)
            while try await !client.status().ready { usleep(200) }
            // The first start makes the journal.
            if number > 0 {
                ready.append(first)
                taking.append(Double(Stopwatch.wallTime() - start))
            }
            if number == starts - 1 {
                usleep(idle)
                memory = try memoryOf(process.processIdentifier, "VmRSS:")
                own = try memoryOf(process.processIdentifier, "RssAnon:")
            }
        }
        let nothing = try ProgramBenchmark.nothing()
        Table.yardstick("/bin/true, start to end", nothing)
        Table.row("nfc-tapd, start to ready as systemd is told", Reading(ready), beside: nothing)
        Table.row("nfc-tapd, start to a lane that takes a sale", Reading(taking), beside: nothing)
        try instructions(program, folder)
        Table.row("nfc-tapd, resident memory at rest, one virtual reader", bytes: memory, target: 20_000_000)
        Table.row("  of it not a copy of a file: heap, stacks, relocated data", bytes: own)
    }

    /// Of a start until its lane is prepared, as valgrind counts them: the same whatever else the machine does.
    private static func instructions(_ program: String, _ folder: URL) throws {
        let name = "nfc-tapd, instructions of a start"
        guard FileManager.default.isExecutableFile(atPath: "/usr/bin/callgrind_control") else {
            Table.row(name, missing: "valgrind is not installed")
            return
        }
        // valgrind 3.19 cannot read the debug information of swift-nio's C files and gives up.
        let (stripped, counts) = (folder.appending(path: "nfc-tapd").path, folder.appending(path: "counts").path)
        try run("strip", ["-g", "-o", stripped, program])
        let notified = try NotificationSocket(path: folder.appending(path: "notify.sock").path)
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/valgrind")
        process.arguments = [
            "--tool=callgrind", "--callgrind-out-file=\(counts)", stripped, "--runtime-directory", folder.path,
        ]
        process.environment = ProcessInfo.processInfo.environment.merging(unit) { $1 }
            .merging(["NOTIFY_SOCKET": notified.path, "SWIFT_DETERMINISTIC_HASHING": "1"]) { $1 }
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        defer {
            process.terminate()
            process.waitUntilExit()
        }
        try notified.wait(for: "READY=1")
        usleep(idle)
        try run("callgrind_control", ["-d", "\(process.processIdentifier)"])
        let lines = try String(contentsOfFile: counts + ".1", encoding: .utf8).split(separator: "\n")
        guard let line = lines.first(where: { $0.hasPrefix("summary: ") }), let count = Double(line.dropFirst(9)) else {
            throw BenchmarkError.failed("no count in \(counts).1")
        }
        Table.row(name, millions: count / 1_000_000, target: 90)
    }

    /// Bytes that the kernel counts under that name: `VmRSS:` for all resident pages, the program's own code among them,
    /// `RssAnon:` for those that are in no file.
    static func memoryOf(_ process: pid_t, _ name: String) throws -> Double {
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix(name) }
        let words = line?.split(whereSeparator: \.isWhitespace) ?? []
        guard words.count > 1, let kilobytes = Double(words[1]) else {
            throw BenchmarkError.failed("no \(name) of process \(process)")
        }
        return kilobytes * 1_024
    }
}
