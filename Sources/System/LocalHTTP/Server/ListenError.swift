// SPDX-License-Identifier: Apache-2.0
/// Why a server cannot listen.
public enum ListenError: Error, Equatable, Sendable {
    /// More than 107 bytes, empty, or with a NUL: does not fit into `sun_path` (unix(7)).
    case pathNotUsable
    /// A server answers at this path already.
    case inUse
    /// Something other than a socket lies at the path. It is left alone.
    case notASocket
    /// The group does not exist.
    case unknownGroup(String)
    /// The inherited descriptor is no listening Unix stream socket.
    case notListening
    /// A system call failed.
    case system(call: Call, errno: Int32)

    public enum Call: String, Sendable {
        case socket, fchmod, bind, chown, chmod, listen, unlink, stat, connect
    }
}

extension ListenError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .pathNotUsable: "socket path empty or longer than 107 bytes"
        case .inUse: "another server answers at the socket path"
        case .notASocket: "file at the socket path is not a socket"
        case .unknownGroup(let name): "no group named \(name)"
        case .notListening: "inherited descriptor is not a listening Unix socket"
        case .system(let call, let errno): "\(call.rawValue) failed with error \(errno)"
        }
    }
}
