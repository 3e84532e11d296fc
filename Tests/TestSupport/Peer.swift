// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// How a program has ended, and what it said.
public struct Finished: Sendable {
    public let status: Int32
    public let bytes: Data
    public let errors: String

    public init(status: Int32, bytes: Data, errors: String) {
        (self.status, self.bytes, self.errors) = (status, bytes, errors)
    }

    public var output: String { String(decoding: bytes, as: UTF8.self) }
    /// Both, the complaints last.
    public var said: String { output + errors }
}

/// A program of somebody else's making.
public enum Peer {
    /// With the clients that scripts/install-peers.sh installs.
    public static var python: String { ProcessInfo.processInfo.environment["NFC_TAP_PYTHON"] ?? "/usr/bin/python3" }

    /// Runs a program to its end.
    ///
    /// - Parameters:
    ///   - program: its path, or a name that is looked up in `PATH`.
    ///   - environment: all of it; `nil` for the test's own.
    @discardableResult
    public static func run(
        _ program: String, _ arguments: [String] = [], environment: [String: String]? = nil, input: Data = Data()
    ) throws -> Finished {
        let process = Process()
        let (given, output, errors) = (Pipe(), Pipe(), Pipe())
        let isPath = program.hasPrefix("/")
        process.executableURL = URL(filePath: isPath ? program : "/usr/bin/env")
        process.arguments = (isPath ? [] : [program]) + arguments
        if let environment { process.environment = environment }
        process.standardInput = input.isEmpty ? FileHandle.nullDevice : given
        (process.standardOutput, process.standardError) = (output, errors)
        try process.run()
        if !input.isEmpty {
            try given.fileHandleForWriting.write(contentsOf: input)
            try given.fileHandleForWriting.close()
        }
        let said = try output.fileHandleForReading.readToEnd() ?? Data()
        let complained = try errors.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return Finished(
            status: process.terminationStatus, bytes: said, errors: String(decoding: complained, as: UTF8.self))
    }

    /// What `sqlite3` says to statements, or its complaint, without the end of the last line.
    public static func sqlite(_ file: String, _ statements: String, _ options: String...) throws -> String {
        try run("/usr/bin/sqlite3", options + [file, statements]).said.trimmingCharacters(in: .newlines)
    }

    /// Changes a file by `sqlite3`, as a hand that is no daemon's does; one that is being written is waited for.
    ///
    /// - Throws: `Hung` with its complaint where it has not changed it.
    public static func alter(_ file: String, _ statements: String) throws {
        let change = try run("/usr/bin/sqlite3", [file, ".timeout 20000", statements])
        guard change.status == 0 else { throw Hung(description: "sqlite3: \(change.said)") }
    }

    /// Makes a library of C with the toolchain's compiler.
    ///
    /// - Throws: `Hung` with its complaint where there is no compiler, or the source is wrong.
    public static func compile(_ source: String, to library: String) throws {
        let compiler = try run("clang", ["-shared", "-fPIC", "-O1", "-o", library, source])
        guard compiler.status == 0 else { throw Hung(description: "clang, which the toolchain has: \(compiler.said)") }
    }
}
