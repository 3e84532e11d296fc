// SPDX-License-Identifier: Apache-2.0
import Glibc
import Linux

/// Why a server cannot listen, and where.
public enum ListenError: Error, Equatable, Sendable {
    /// More than 107 bytes, empty, or with a NUL: does not fit into `sun_path` (unix(7)).
    case pathNotUsable(String)
    /// A server answers at this path already.
    case inUse(String)
    /// Something other than a socket lies at the path. It is left alone.
    case notASocket(String)
    /// The group does not exist.
    case unknownGroup(String)
    /// The inherited descriptor is no listening Unix stream socket, or the socket listens no more.
    case notListening
    /// A system call about a path or an address failed.
    case system(call: Call, at: String, errno: Int32)

    public enum Call: String, Sendable {
        case socket, fchmod, bind, chown, chmod, listen, unlink, stat, connect
    }
}

extension ListenError: CustomStringConvertible {
    /// Place, cause and what to do.
    public var description: String {
        switch self {
        case .pathNotUsable(let path):
            "\(path.debugDescription) cannot be a socket's path: choose one of 1 to 107 bytes"
        case .inUse(let path): "\(path) is another program's: stop that program, or choose another path"
        case .notASocket(let path): "\(path) is no socket: remove it, or choose another path"
        case .unknownGroup(let name): "no group is named \(name): make it with groupadd, or name another one"
        case .notListening:
            "the socket does not listen: start the program again, and its .socket unit where it has one"
        case .system(.chown, let place, EPERM):
            "\(place) cannot be given to its group: add this program's user to that group, or name another one"
        case .system(.bind, let place, EACCES) where !place.contains("/"):
            "\(place) cannot be opened: this user may not: choose a port above 1023"
        case .system(let call, let place, let errno):
            "\(place) cannot be \(call.words): \(SystemError(code: errno).remedy)"
        }
    }
}

extension ListenError.Call {
    fileprivate var words: String {
        switch self {
        case .socket, .bind, .listen: "opened"
        case .chown: "given to its group"
        case .fchmod, .chmod: "given its mode"
        case .unlink: "replaced"
        case .stat: "looked at"
        case .connect: "asked whose it is"
        }
    }
}
