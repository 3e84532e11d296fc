// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

/// One of the package's own programs, as it was built beside the tests.
enum Program: String {
    case daemon = "nfc-tapd"
    case tap = "nfc-tap"
    case sandbox = "nfc-tap-psp-sandbox"
    case bridge = "nfc-tap-ecr"
    case gateway = "nfc-tap-gateway"
    case remote = "nfc-tap-remote"
    case profile = "nfc-tap-profile"
    case acquirer = "nfc-tap-acquirer-sim"

    /// Where all programs of the package are, those of a payment service too.
    static var folder: URL {
        ProcessInfo.processInfo.environment["NFC_TAP_BIN"].map { URL(filePath: $0) }
            ?? URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    }

    var url: URL { Self.folder.appending(path: rawValue) }

    /// Runs to its end, with what it prints kept in `folder` too.
    func run(_ arguments: [String], in folder: URL, environment: [String: String] = [:]) throws -> Finished {
        let process = Process()
        let name = "\(rawValue)-\(UUID().uuidString.prefix(8))"
        let output = folder.appending(path: "\(name).out")
        let errors = folder.appending(path: "\(name).err")
        try start(process, arguments, environment, output: output, errors: errors)
        process.waitUntilExit()
        return Finished(
            status: process.terminationStatus, bytes: try Data(contentsOf: output),
            errors: try String(contentsOf: errors, encoding: .utf8))
    }

    /// Starts it and lets it run; its output goes to files in `folder`.
    func launch(_ arguments: [String], in folder: URL, environment: [String: String] = [:]) throws -> Process {
        let process = Process()
        try start(
            process, arguments, environment, output: folder.appending(path: "\(rawValue).out"),
            errors: folder.appending(path: "\(rawValue).err"))
        return process
    }

    private func start(
        _ process: Process, _ arguments: [String], _ environment: [String: String], output: URL, errors: URL
    ) throws {
        for file in [output, errors] where !FileManager.default.fileExists(atPath: file.path) {
            _ = FileManager.default.createFile(atPath: file.path, contents: nil)
        }
        process.executableURL = url
        process.arguments = arguments
        var surroundings = ProcessInfo.processInfo.environment
        // Words are compared: whoever runs the tests may speak another language.
        for name in ["LC_ALL", "LC_MESSAGES", "LANG", "LANGUAGE"] { surroundings[name] = nil }
        process.environment = surroundings.merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try appending(output)
        process.standardError = try appending(errors)
        try process.run()
    }

    private func appending(_ file: URL) throws -> FileHandle {
        let handle = try FileHandle(forWritingTo: file)
        try handle.seekToEnd()
        return handle
    }
}

extension Program {
    /// The commands of nfc-tap, by their words, and whether each takes `--json`.
    static func commands() throws -> [(words: String, takesJSON: Bool)] {
        let dump = try tap.run(["--experimental-dump-help"], in: FileManager.default.temporaryDirectory).output
        let top = try JSONSerialization.jsonObject(with: Data(dump.utf8)) as? [String: Any]
        return leaves(top?["command"] as? [String: Any] ?? [:], [])
    }

    private static func leaves(_ command: [String: Any], _ path: [String]) -> [(words: String, takesJSON: Bool)] {
        let children = (command["subcommands"] as? [[String: Any]] ?? []).filter {
            $0["commandName"] as? String != "help"
        }
        guard children.isEmpty else {
            return children.flatMap { leaves($0, path + [$0["commandName"] as? String ?? ""]) }
        }
        let names = (command["arguments"] as? [[String: Any]] ?? []).flatMap { $0["names"] as? [[String: Any]] ?? [] }
        return [(path.joined(separator: " "), names.contains { $0["name"] as? String == "json" })]
    }
}
