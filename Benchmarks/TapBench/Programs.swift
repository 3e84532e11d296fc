import Foundation

/// A daemon and a payment service in a private folder, as processes of their own, built beside this program.
final class Programs {
    let folder: URL
    private var processes: [Process] = []

    var path: String { folder.path }
    var posSocket: String { folder.appending(path: "pos.sock").path }
    var readerSocket: String { folder.appending(path: "reader.sock").path }

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "tap-bench-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let adapter = folder.appending(path: "psp.sock").path
        try start("nfc-tap-psp-sandbox", ["--sandbox", "--socket", adapter])
        try waitFor(adapter)
        try start("nfc-tapd", ["--runtime-directory", folder.path, "--log-level", "error"])
        try waitFor(posSocket)
        try waitFor(readerSocket)
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

    private func start(_ name: String, _ arguments: [String]) throws {
        guard let program = Programs.path(of: name) else {
            throw BenchmarkError.missing("\(name) is not built beside this program")
        }
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        processes.append(process)
    }

    private func waitFor(_ socket: String) throws {
        let deadline = Stopwatch.wallTime() + 20_000_000_000
        while Stopwatch.wallTime() < deadline {
            if FileManager.default.fileExists(atPath: socket) { return }
            usleep(5_000)
        }
        throw BenchmarkError.failed("no \(socket) after 20 seconds")
    }
}
