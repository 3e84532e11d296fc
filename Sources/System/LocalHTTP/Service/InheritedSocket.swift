// SPDX-License-Identifier: Apache-2.0
import Glibc
import Linux

/// A descriptor that the service manager opened for this process (sd_listen_fds(3)).
public struct InheritedSocket: Equatable, Sendable {
    /// `FileDescriptorName=` of the socket unit; `unknown` where the manager gave none.
    public var name: String
    public var descriptor: Int32

    /// The first descriptor that is handed over: 0 to 2 are the standard streams.
    static let firstDescriptor: Int32 = 3

    /// Takes the descriptors from the environment, sets their close-on-exec flags, and removes `LISTEN_PID`,
    /// `LISTEN_FDS` and `LISTEN_FDNAMES`, so that no child believes they are its own. Call it once, before any thread
    /// is started: environment variables are not safe to change later.
    public static func takeAll() -> [InheritedSocket] {
        let sockets = parse(
            pid: Environment.value("LISTEN_PID"), count: Environment.value("LISTEN_FDS"),
            names: Environment.value("LISTEN_FDNAMES"), ownPID: getpid())
        for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] { Environment.remove(name) }
        for socket in sockets { _ = fcntl(socket.descriptor, F_SETFD, FD_CLOEXEC) }
        return sockets
    }

    /// The same without side effects. Empty where the variables are missing, damaged, or meant for another process.
    static func parse(pid: String?, count: String?, names: String?, ownPID: Int32) -> [InheritedSocket] {
        guard let pid, Int32(pid) == ownPID, let count, let number = Int32(count), (1...1024).contains(number) else {
            return []
        }
        let names = names?.split(separator: ":", omittingEmptySubsequences: false) ?? []
        return (0..<number).map { index in
            let name = names.indices.contains(Int(index)) ? String(names[Int(index)]) : "unknown"
            return InheritedSocket(name: name, descriptor: firstDescriptor + index)
        }
    }
}
