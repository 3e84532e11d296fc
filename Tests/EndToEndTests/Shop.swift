// SPDX-License-Identifier: Apache-2.0
import Foundation
import Linux
import TestSupport

/// Sandbox adapter and daemon in a folder of their own, as a shop runs them.
///
/// The folder is kept under `NFC_TAP_ARTIFACTS` where that is set: the whole test run's logs and journals are searched for
/// card numbers afterwards.
final class Shop {
    let folder: URL
    private var sandbox: Process?
    private var daemon: Process?
    private var others: [Process] = []
    private let keepsFolder: Bool
    private let daemonArguments: [String]
    private let environment: [String: String]

    var posSocket: String { folder.appending(path: "pos.sock").path }
    var pspSocket: String { folder.appending(path: "psp.sock").path }
    var readerSocket: String { folder.appending(path: "reader.sock").path }

    var daemonProcess: Int32? { daemon?.processIdentifier }

    /// - Parameter configuration: FOLDER in it stands for the shop's own.
    init(
        reader: String? = nil, environment: [String: String] = [:], sandboxArguments: [String] = [],
        startsSandbox: Bool = true, configuration: String? = nil
    ) throws {
        // Short, because a socket's path has 107 bytes at most.
        let base = ProcessInfo.processInfo.environment["NFC_TAP_ARTIFACTS"].map { URL(filePath: $0) }
        keepsFolder = base != nil
        folder = (base ?? FileManager.default.temporaryDirectory).appending(path: "s\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        self.environment = environment
        var arguments = [
            "--runtime-directory", folder.path, "--state-directory", folder.appending(path: "state").path,
        ]
        if let reader { arguments += ["--reader", reader] }
        if let configuration {
            let file = folder.appending(path: "nfc-tapd.toml")
            try Data(configuration.replacingOccurrences(of: "FOLDER", with: folder.path).utf8).write(to: file)
            arguments += ["--config", file.path]
        }
        daemonArguments = arguments
        if startsSandbox { try startSandbox(sandboxArguments) }
        try startDaemon()
    }

    deinit {
        let processes = [daemon, sandbox].compactMap { $0 } + others
        // All before any is waited for: Foundation notices the end of one only when those started after it have ended
        // too, and `waitUntilExit` returns on no other thread than the one that started the process.
        for process in processes where process.isRunning { process.terminate() }
        for process in processes { while process.isRunning { usleep(2_000) } }
        if !keepsFolder { try? FileManager.default.removeItem(at: folder) }
    }

    func startSandbox(_ arguments: [String] = []) throws {
        sandbox = try Program.sandbox.launch(["--sandbox", "--socket", pspSocket] + arguments, in: folder)
        try appears(pspSocket)
    }

    func stopSandbox() {
        sandbox?.terminate()
        sandbox?.waitUntilExit()
    }

    func startDaemon() throws {
        daemon = try Program.daemon.launch(daemonArguments, in: folder, environment: environment)
        try appears(posSocket)
    }

    /// Ends another program with the shop.
    func keep(_ process: Process) { others.append(process) }

    /// Ends the daemon without a word: what it has written is kept.
    func killDaemon(with signal: Int32 = SIGKILL) {
        if let daemon { kill(daemon.processIdentifier, signal) }
        daemon?.waitUntilExit()
    }

    /// Waits until a lane says that it can take a card.
    func awaitReader() throws {
        try eventually("a ready lane") {
            let status = try self.get("/v1/status")
            let lanes = status["lanes"] as? [[String: Any]] ?? []
            return lanes.contains { $0["state"] as? String == "ready" }
        }
    }

    /// Tells the virtual reader what to do.
    func card(_ command: String) throws {
        let result = try Program.tap.run(
            ["virtual", "--control", readerSocket] + command.split(separator: " ").map(String.init), in: folder)
        guard result.status == 0 else { throw Trouble.refused(result.errors) }
    }

    /// `nfc-tap pay … --json`.
    func pay(_ amount: String, _ more: [String] = []) throws -> Payment {
        let words = amount.split(separator: " ").map(String.init)
        let result = try Program.tap.run(["pay"] + words + ["--socket", posSocket, "--json"] + more, in: folder)
        let json = try? JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any]
        return Payment(status: result.status, transaction: json ?? [:], errors: result.errors)
    }

    /// `nfc-tap loyalty … --json`.
    func readPasses(_ more: [String] = []) throws -> Payment {
        let result = try Program.tap.run(["loyalty", "--socket", posSocket, "--json"] + more, in: folder)
        let json = try? JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any]
        return Payment(status: result.status, transaction: json ?? [:], errors: result.errors)
    }

    /// Asks with curl, as any language would.
    func curl(_ arguments: [String], socket: String? = nil) throws -> String {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/curl")
        process.arguments = ["-sS", "--max-time", "60", "--unix-socket", socket ?? posSocket] + arguments
        process.standardOutput = output
        try process.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        let text = String(decoding: data, as: UTF8.self)
        try (text + "\n").append(to: folder.appending(path: "curl.log"))
        return text
    }

    func get(_ path: String, socket: String? = nil) throws -> [String: Any] {
        let text = try curl(["http://localhost\(path)"], socket: socket)
        return try (JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]) ?? [:]
    }

    /// The sandbox's books.
    func ledger() throws -> [String: Any] { try get("/debug/ledger", socket: pspSocket) }

    func ledgerEntries() throws -> [[String: Any]] { try ledger()["transactions"] as? [[String: Any]] ?? [] }

    /// The file is there a moment before somebody listens, and its owner may open it at once.
    private func appears(_ socket: String) throws {
        try eventually(socket) {
            guard let address = UnixAddress(path: socket) else { throw Trouble.refused("\(socket) is too long") }
            let probe = try Descriptor.unixStream(isBlocking: true)
            try address.connect(probe.number)
            return true
        }
    }

    func eventually(_ what: String, _ condition: () throws -> Bool) throws {
        let end = ContinuousClock.now.advanced(by: hangLimit)
        while ContinuousClock.now < end {
            if (try? condition()) == true { return }
            usleep(20_000)
        }
        throw Trouble.missing(what)
    }
}

struct Payment {
    let status: Int32
    let transaction: [String: Any]
    let errors: String

    var state: String? { transaction["state"] as? String }
    var outcome: String? { (transaction["result"] as? [String: Any])?["outcome"] as? String }
    var errorCode: String? { (transaction["error"] as? [String: Any])?["code"] as? String }
}

enum Trouble: Error {
    case missing(String)
    case refused(String)
}

extension String {
    fileprivate func append(to file: URL) throws {
        if !FileManager.default.fileExists(atPath: file.path) {
            _ = FileManager.default.createFile(atPath: file.path, contents: nil)
        }
        let handle = try FileHandle(forWritingTo: file)
        try handle.seekToEnd()
        try handle.write(contentsOf: Data(utf8))
        try handle.close()
    }
}
