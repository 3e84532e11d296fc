// SPDX-License-Identifier: Apache-2.0
public import Foundation
import Linux

/// A PostgreSQL server of a test's own: in a folder that goes with it, on a Unix socket alone.
public final class PrivatePostgreSQL: Sendable {
    public let folder: URL
    private static let programs = "/usr/lib/postgresql/15/bin"

    /// PostgreSQL 15 is missing, or does not start.
    public struct NotStarted: Error, CustomStringConvertible {
        public let description: String
    }

    /// Makes the folder, the cluster and a database `switch`, and starts the server.
    public init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "pg-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        if getuid() == 0 { try Self.run("/bin/chown", ["postgres", folder.path()]) }
        try asOwner("initdb", ["-D", data, "-A", "trust", "-U", "postgres", "-N"])
        let settings = """
            listen_addresses = ''
            unix_socket_directories = '\(folder.path())'
            unix_socket_permissions = 0777
            log_parameter_max_length_on_error = 0
            shared_buffers = 32MB

            """
        let file = try FileHandle(forWritingTo: URL(filePath: data + "/postgresql.conf"))
        try file.seekToEnd()
        try file.write(contentsOf: Data(settings.utf8))
        try file.close()
        try start()
        try asOwner("createdb", ["-h", folder.path(), "-U", "postgres", "switch"])
    }

    deinit {
        try? asOwner("pg_ctl", ["-D", data, "-m", "immediate", "stop"])
        try? FileManager.default.removeItem(at: folder)
    }

    public var data: String { folder.appending(path: "data").path() }

    /// In libpq's words.
    public var address: String { "host=\(folder.path()) dbname=switch user=postgres" }

    public func start() throws {
        try asOwner("pg_ctl", ["-D", data, "-w", "-l", folder.appending(path: "log").path(), "start"])
    }

    /// As if the machine had lost its power, as far as the server's own processes go.
    public func crash() throws { try asOwner("pg_ctl", ["-D", data, "-m", "immediate", "stop"]) }

    /// Runs one statement and gives what psql prints, without headings.
    @discardableResult
    public func sql(_ statement: String) throws -> String {
        try Self.run(
            "/usr/bin/psql",
            ["-qAtX", "-v", "ON_ERROR_STOP=1", "-h", folder.path(), "-U", "postgres", "switch", "-c", statement])
    }

    private func asOwner(_ program: String, _ arguments: [String]) throws {
        let path = "\(Self.programs)/\(program)"
        guard FileManager.default.isExecutableFile(atPath: path) else {
            throw NotStarted(description: "\(path) is missing: install postgresql-15")
        }
        // PostgreSQL refuses to run as root.
        if getuid() == 0 {
            try Self.run("/usr/sbin/runuser", ["-u", "postgres", "--", path] + arguments)
        } else {
            try Self.run(path, arguments)
        }
    }

    /// Not by Foundation, which takes a program for running as long as something that it has started runs.
    @discardableResult
    private static func run(_ program: String, _ arguments: [String]) throws -> String {
        let output = FileManager.default.temporaryDirectory.appending(path: "out-\(UUID().uuidString)")
        _ = FileManager.default.createFile(atPath: output.path(), contents: nil)
        defer { try? FileManager.default.removeItem(at: output) }
        let handle = try FileHandle(forWritingTo: output)
        let started = try StartedProgram(program, arguments, output: handle.fileDescriptor)
        let isDone = started.waitUntilEnded()
        try handle.close()
        let told = try String(contentsOf: output, encoding: .utf8)
        guard isDone else { throw NotStarted(description: "\(program) \(arguments): \(told)") }
        return told
    }
}
