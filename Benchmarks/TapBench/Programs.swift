// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A daemon and a payment service in a private folder, as processes of their own, built beside this program.
final class Programs {
    let folder: URL
    private var processes: [Process] = []

    var path: String { folder.path }
    var posSocket: String { folder.appending(path: "pos.sock").path }
    var adapterSocket: String { folder.appending(path: "psp.sock").path }
    var readerSocket: String { folder.appending(path: "reader.sock").path }

    /// As the daemon names the lanes of its command line.
    func laneName(_ lane: Int) -> String { lane == 0 ? "main" : "lane-\(lane + 1)" }

    func readerSocket(_ lane: Int) -> String { folder.appending(path: "reader-\(lane).sock").path }

    /// With so many virtual readers.
    convenience init(lanes: Int) throws {
        let name = "tap-bench-\(UUID().uuidString.prefix(8))"
        let folder = FileManager.default.temporaryDirectory.appending(path: name)
        try self.init(
            folder: folder,
            readers: (0..<lanes).map { "virtual:" + folder.appending(path: "reader-\($0).sock").path })
        for lane in 0..<lanes { try waitFor(readerSocket(lane)) }
    }

    /// With these readers, and a payment service unless the caller plays it.
    ///
    /// - Parameter files: by name, in the folder; of `nfc-tapd.toml` the daemon has its lanes.
    init(
        folder: URL? = nil, readers: [String], environment: [String: String] = [:], startsSandbox: Bool = true,
        files: [String: String] = [:]
    ) throws {
        let name = "tap-bench-\(UUID().uuidString.prefix(8))"
        self.folder = folder ?? FileManager.default.temporaryDirectory.appending(path: name)
        try FileManager.default.createDirectory(
            at: self.folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        if startsSandbox {
            try start("nfc-tap-psp-sandbox", ["--sandbox", "--socket", adapterSocket])
            try waitFor(adapterSocket)
        }
        var options = ["--runtime-directory", path, "--log-level", "error"]
        for (name, text) in files {
            let file = self.folder.appending(path: name)
            try Data(text.replacing("FOLDER", with: path).utf8).write(to: file)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
            if name == "nfc-tapd.toml" { options += ["--config", file.path, "--state-directory", path + "/state"] }
        }
        try start("nfc-tapd", options + readers.flatMap { ["--reader", $0] }, environment)
        try waitFor(posSocket)
    }

    /// Nanoseconds of processor time that the daemon has used so far.
    func daemonProcessorTime() throws -> UInt64 {
        var clock = clockid_t()
        var time = timespec()
        guard let daemon = processes.last, unsafe clock_getcpuclockid(daemon.processIdentifier, &clock) == 0,
            unsafe clock_gettime(clock, &time) == 0
        else { throw BenchmarkError.failed("no processor time of the daemon") }
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// - Parameters:
    ///   - configuration: what the daemon's begins with; empty for none, and one lane.
    ///   - lanes: so many virtual readers.
    init(configuration: String = "", lanes: Int = 1) throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "tap-bench-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let adapter = folder.appending(path: "psp.sock").path
        try start("nfc-tap-psp-sandbox", ["--sandbox", "--socket", adapter])
        try waitFor(adapter)
        var options = ["--runtime-directory", folder.path, "--log-level", "error"]
        if !configuration.isEmpty {
            let file = folder.appending(path: "nfc-tapd.toml")
            let tables = (0..<lanes).map { lane in
                "[[lane]]\nname = \"\(laneName(lane))\"\nreader = \"virtual:\(lane == 0 ? readerSocket : readerSocket(lane))\"\n"
            }
            try Data((configuration + tables.joined()).utf8).write(to: file)
            options += ["--config", file.path, "--state-directory", folder.appending(path: "state").path]
        }
        try start("nfc-tapd", options)
        try waitFor(posSocket)
        try waitFor(readerSocket)
        for lane in 1..<max(1, lanes) { try waitFor(readerSocket(lane)) }
    }

    /// Ends both and removes the folder.
    func stop() {
        for process in processes.reversed() where process.isRunning {
            process.terminate()
            process.waitUntilExit()
        }
        try? FileManager.default.removeItem(at: folder)
    }

    /// A program of this package beside this one; `nil` where it is not built.
    static func path(of name: String) -> String? {
        let path = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .appending(path: name).path
        return FileManager.default.isExecutableFile(atPath: path) ? path : nil
    }

    @discardableResult
    func start(_ name: String, _ arguments: [String], _ environment: [String: String] = [:]) throws -> pid_t {
        guard let program = Programs.path(of: name) else {
            throw BenchmarkError.missing("\(name) is not built beside this program")
        }
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        processes.append(process)
        return process.processIdentifier
    }

    private func waitFor(_ socket: String) throws {
        let deadline = Stopwatch.wallTime() + 120_000_000_000
        while Stopwatch.wallTime() < deadline {
            if FileManager.default.fileExists(atPath: socket) { return }
            usleep(5_000)
        }
        throw BenchmarkError.failed("no \(socket) after two minutes")
    }
}
