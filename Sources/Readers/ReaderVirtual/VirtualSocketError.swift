// SPDX-License-Identifier: Apache-2.0
import Linux

/// Why a control socket cannot be served or used.
public enum VirtualSocketError: Error, Equatable, Sendable {
    /// Longer than the 107 bytes that a Unix socket address holds.
    case pathTooLong(String)
    /// Another process serves that path.
    case inUse(String)
    /// A file that is no socket is in the way; it is left alone.
    case notASocket(String)
    /// A system call about that path failed, by errno(3).
    case system(call: String, at: String, errno: Int32)
    /// The other side closed the connection, or said nothing in time.
    case noAnswer
}

extension VirtualSocketError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .pathTooLong(let path): "socket path of \(path.utf8.count) bytes: use one of 107 or fewer"
        case .inUse(let path): "\(path) is served by another process: stop it or use another path"
        case .notASocket(let path): "\(path) is not a socket: remove it or use another path"
        case .system(_, let path, let errno): "\(path) cannot be used: \(SystemError(code: errno))"
        case .noAnswer: "no answer from the virtual reader"
        }
    }
}
