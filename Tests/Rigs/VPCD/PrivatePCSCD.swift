// SPDX-License-Identifier: Apache-2.0
import CardBytes
public import Foundation
import ReaderCore

/// The unmodified pcscd with vpcd's readers, beside this process: pcscd has namespaces of its own, this process reaches
/// its socket through procfs and its ports by threads that enter its network.
///
/// Needs root. Without it, run the whole command inside `with-private-pcscd.sh`.
public final class PrivatePCSCD {
    /// One stanza of pcscd's configuration. Of vpcd's it makes two readers, `NAME 00 00` on `port` and `NAME 00 01` on the
    /// next; of ours as many as an `IFDReader` has slots.
    public struct Stanza: Sendable {
        public var name: String
        public var port: UInt16
        /// Of an `IFDReader`; `nil` for vpcd.
        var socket: String?

        public init(name: String, port: UInt16 = 35_963) {
            self.name = name
            self.port = port
        }

        init(name: String, socket: String) {
            self.init(name: name)
            self.socket = socket
        }
    }

    private let shell = Process()
    private let commands = Pipe()
    private let directory: URL

    /// What is missing on this machine; `nil` where the rig can run.
    public static let missing: String? = {
        let files = [
            ("/usr/sbin/pcscd", "pcscd"), ("/usr/lib/pcsc/drivers/serial/libifdvpcd.so", "vsmartcard-vpcd"),
            ("/usr/bin/unshare", "util-linux"), ("/usr/sbin/ip", "iproute2"),
        ]
        for (file, package) in files where !FileManager.default.fileExists(atPath: file) {
            return "Debian package \(package) is not installed"
        }
        guard geteuid() == 0 else { return "a private pcscd beside the tests needs root" }
        return run("/usr/bin/unshare", ["-mn", "true"]) == 0 ? nil : "namespaces are not permitted here"
    }()

    /// Starts pcscd and waits until it listens.
    public init(_ stanzas: [Stanza]) throws(RigError) {
        if let missing = Self.missing { throw .unavailable(missing) }
        directory = FileManager.default.temporaryDirectory.appending(path: "nfc-tap-pcscd-\(UUID().uuidString)")
        do {
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            try configure(stanzas)
            shell.executableURL = Self.script
            shell.arguments = [directory.path, "/bin/sh"]
            shell.standardInput = commands
            try shell.run()
        } catch {
            throw .unavailable("cannot start \(Self.script.path): \(error)")
        }
        // The shell reads its commands from the pipe and ends with it, and pcscd with the shell.
        tell("trap 'kill $PCSCD_PID' EXIT")
        guard waitForSocket() else { throw .unavailable("pcscd does not listen") }
    }

    deinit { stop() }

    /// For PCSCLITE_CSOCK_NAME, before the first PC/SC call.
    public var socketPath: String { "/proc/\(shell.processIdentifier)/root/run/pcscd/pcscd.comm" }

    /// Where vpcd's ports are.
    public var network: NetworkNamespace { NetworkNamespace(of: shell.processIdentifier) }

    /// Ends pcscd as a crash does: socket and pid file stay behind.
    public func kill() { signal(SIGKILL) }

    /// Ends pcscd as a service manager does, and returns once it has ended.
    public func terminate() throws(RigError) {
        guard let process else { throw .unavailable("no pcscd") }
        signal(SIGTERM)
        let deadline = rigNow().advanced(byMilliseconds: 5_000)
        while rigNow() < deadline {
            if Self.hasEnded(process) { return }
            usleep(1_000)
        }
        throw .unavailable("pcscd does not end")
    }

    /// Makes pcscd answer nobody until `thaw`. Returns once all of its threads have stopped: on a busy machine one of them
    /// may still serve a command after the signal.
    public func freeze() {
        signal(SIGSTOP)
        guard let process else { return }
        let deadline = monotonicNow().advanced(byMilliseconds: 30_000)
        while monotonicNow() < deadline, !Self.hasStopped(process) { usleep(1_000) }
    }

    public func thaw() { signal(SIGCONT) }

    /// A new pcscd after `kill` or `terminate`, with other readers where `stanzas` are given.
    public func restart(_ stanzas: [Stanza]? = nil) throws(RigError) {
        if let stanzas {
            do { try configure(stanzas) } catch { throw .unavailable("\(directory.path): \(error)") }
        }
        // The socket of the dead one must not be taken for the new one's.
        try? FileManager.default.removeItem(atPath: socketPath)
        tell("pcscd -f -c \(directory.path) --error </dev/null & PCSCD_PID=$!")
        guard waitForSocket() else { throw .unavailable("pcscd does not listen") }
    }

    public func stop() {
        guard shell.isRunning else { return }
        thaw()
        try? commands.fileHandleForWriting.close()
        shell.waitUntilExit()
        try? FileManager.default.removeItem(at: directory)
        try? FileManager.default.removeItem(atPath: directory.path + ".so")
    }

    /// The launcher beside this file.
    public static let script = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "with-private-pcscd.sh")

    /// pcscd's configuration for `stanzas`: the content of a file in CONFDIR.
    ///
    /// - Parameter driver: path of `ifd.c`'s library, for stanzas of an `IFDReader`.
    public static func configuration(_ stanzas: [Stanza], driver: String = "") -> String {
        stanzas.map { stanza in
            """
            FRIENDLYNAME "\(stanza.name)"
            DEVICENAME   /dev/null:\(stanza.socket ?? String(stanza.port))
            LIBPATH      \(stanza.socket == nil ? "/usr/lib/pcsc/drivers/serial/libifdvpcd.so" : driver)

            """
        }.joined(separator: "\n")
    }

    private func configure(_ stanzas: [Stanza]) throws {
        // Beside CONFDIR: whatever lies in it is read as stanzas.
        let driver = directory.path + ".so"
        if stanzas.contains(where: { $0.socket != nil }), !FileManager.default.fileExists(atPath: driver) {
            let source = Self.script.deletingLastPathComponent().deletingLastPathComponent().appending(
                path: "IFD/ifd.c")
            let status = Self.run(
                "/usr/bin/env",
                ["clang", "-shared", "-fPIC", "-O1", "-I/usr/include/PCSC", "-o", driver, source.path, "-lpthread"])
            guard status == 0 else { throw RigError.unavailable("clang, which the toolchain has, or libpcsclite-dev") }
        }
        try Self.configuration(stanzas, driver: driver).write(
            to: directory.appending(path: "readers"), atomically: true, encoding: .utf8)
    }

    private var process: Int32? {
        let file = "/proc/\(shell.processIdentifier)/root/run/pcscd/pcscd.pid"
        return (try? String(contentsOfFile: file, encoding: .utf8)).flatMap { Int32($0.prefix(while: \.isNumber)) }
    }

    private func signal(_ number: Int32) {
        if let process { _ = Foundation.kill(process, number) }
    }

    /// Its parent may not have noticed yet.
    private static func hasEnded(_ process: Int32) -> Bool {
        guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8) else { return true }
        return text.contains(") Z ")
    }

    private static func hasStopped(_ process: Int32) -> Bool {
        let tasks = "/proc/\(process)/task"
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? []
        return threads.allSatisfy {
            (try? String(contentsOfFile: "\(tasks)/\($0)/stat", encoding: .utf8))?.contains(") T ") ?? true
        }
    }

    private func tell(_ command: String) {
        try? commands.fileHandleForWriting.write(contentsOf: Data("\(command)\n".utf8))
    }

    private func waitForSocket() -> Bool {
        let deadline = rigNow().advanced(byMilliseconds: 5_000)
        while rigNow() < deadline {
            if FileManager.default.fileExists(atPath: socketPath) { return true }
            usleep(1_000)
        }
        return false
    }

    private static func run(_ program: String, _ arguments: [String]) -> Int32 {
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        process.standardError = FileHandle.nullDevice
        do { try process.run() } catch { return -1 }
        process.waitUntilExit()
        return process.terminationStatus
    }
}
