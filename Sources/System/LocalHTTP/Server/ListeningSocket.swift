// SPDX-License-Identifier: Apache-2.0
import Glibc
package import Linux
import Synchronization

/// A listening stream socket: a Unix socket made at a path or inherited from the service manager, or one at a TCP address.
/// Closes what it holds, and removes the file it made.
public final class ListeningSocket: Sendable {
    /// The file, where this process made it.
    public let path: String?
    /// Where it listens, of a TCP address: with the port that the system chose where none was asked for.
    package let address: TCPAddress?
    private let inode: UInt64
    /// Of a TCP address: which hosts are served.
    let admits: (@Sendable (String) -> Bool)?
    private let descriptor: Mutex<Int32?>

    /// Makes a socket at `path` that nobody but its owner can open before it has the group and mode asked for.
    ///
    /// A socket file that no server answers at is removed first. The umask does not matter.
    /// - Parameters:
    ///   - mode: permission bits. Connecting needs write permission on the file and search permission on the folders.
    ///   - group: by name or number; `nil` leaves the process's group.
    /// - Throws: `ListenError` for a path, a group or a socket that cannot be used, or is in use.
    public convenience init(path: String, mode: UInt32 = 0o660, group: String? = nil) throws(ListenError) {
        guard let address = UnixAddress(path: path) else { throw .pathNotUsable(path) }
        let groupID = try group.map { name throws(ListenError) in try Self.groupID(name) }
        try Self.removeStaleSocket(at: path, address)
        let descriptor = socket(
            AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { throw .system(call: .socket, at: path, errno: errno) }
        do throws(ListenError) {
            try Self.bind(descriptor, to: address, path: path, mode: mode, group: groupID)
        } catch {
            _ = close(descriptor)
            throw error
        }
        self.init(descriptor: descriptor, path: path, inode: Self.inode(of: path) ?? 0)
    }

    /// Takes over a descriptor that listens already (socket activation) and sets its close-on-exec flag.
    ///
    /// - Throws: `ListenError.notListening` for any other descriptor.
    public convenience init(inherited descriptor: Int32) throws(ListenError) {
        guard Self.option(SO_ACCEPTCONN, of: descriptor) == 1, Self.option(SO_DOMAIN, of: descriptor) == AF_UNIX,
            Self.option(SO_TYPE, of: descriptor) == Int32(SOCK_STREAM.rawValue)
        else { throw .notListening }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        self.init(descriptor: descriptor, path: nil, inode: 0)
    }

    /// Makes a socket at a TCP address. Connections of other hosts are closed before a byte is read.
    ///
    /// - Parameter inherited: a descriptor of the service manager's that listens already, instead of a new one.
    package convenience init(
        address: TCPAddress, inherited: Int32? = nil, admitting admits: @escaping @Sendable (String) -> Bool
    ) throws(ListenError) {
        if let inherited {
            try self.init(inheritedTCP: inherited, admitting: admits)
            return
        }
        let socket = try Self.calling(.bind, "\(address)", try Descriptor.listening(at: address, isBlocking: false))
        let descriptor = fcntl(socket.number, F_DUPFD_CLOEXEC, 3)
        guard descriptor >= 0 else { throw .system(call: .socket, at: "\(address)", errno: errno) }
        self.init(descriptor: descriptor, path: nil, inode: 0, admits: admits)
    }

    /// Takes over a descriptor that listens at a TCP address already.
    package convenience init(
        inheritedTCP descriptor: Int32, admitting admits: @escaping @Sendable (String) -> Bool
    ) throws(ListenError) {
        guard Self.option(SO_ACCEPTCONN, of: descriptor) == 1 else { throw .notListening }
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        self.init(descriptor: descriptor, path: nil, inode: 0, admits: admits)
    }

    private init(
        descriptor: Int32, path: String?, inode: UInt64, admits: (@Sendable (String) -> Bool)? = nil
    ) {
        self.path = path
        address = admits == nil ? nil : TCPAddress(ofListener: descriptor)
        self.inode = inode
        self.admits = admits
        self.descriptor = Mutex(descriptor)
    }

    /// Path or address, for people.
    var place: String { path ?? address.map { "\($0)" } ?? "the inherited socket" }

    /// Hands the descriptor over; `nil` the second time.
    func take() -> Int32? {
        descriptor.withLock { descriptor in
            defer { descriptor = nil }
            return descriptor
        }
    }

    /// Who is at the other end of a new connection; `nil` for whoever is not served.
    func peer(_ connection: Int32) -> PeerCredentials? {
        guard let admits else { return PeerCredentials(socket: connection) }
        guard let host = TCPAddress.host(ofPeer: connection), admits(host) else { return nil }
        return .unknown
    }

    /// Removes the file, unless another server has put its own there meanwhile.
    func removeFile() {
        guard let path, Self.inode(of: path) == inode else { return }
        try? FileSystem.remove(path)
    }

    deinit {
        guard let descriptor = take() else { return }
        _ = close(descriptor)
        removeFile()
    }

    private static func bind(
        _ descriptor: Int32, to address: UnixAddress, path: String, mode: UInt32, group: UInt32?
    ) throws(ListenError) {
        // The mode of an unbound socket limits that of the file which bind(2) makes: nobody can connect in between.
        guard fchmod(descriptor, 0o600) == 0 else { throw .system(call: .fchmod, at: path, errno: errno) }
        try calling(.bind, path, try address.bind(descriptor))
        do throws(ListenError) {
            // Before anybody may open it: whoever can, is answered.
            guard listen(descriptor, 4_096) == 0 else { throw .system(call: .listen, at: path, errno: errno) }
            if let group { try calling(.chown, path, try FileSystem.setGroup(group, of: path)) }
            try calling(.chmod, path, try FileSystem.setMode(mode, of: path))
        } catch {
            try? FileSystem.remove(path)
            throw error
        }
    }

    private static func removeStaleSocket(at path: String, _ address: UnixAddress) throws(ListenError) {
        let status: FileStatus
        do throws(SystemError) { status = try FileStatus(of: path, followsLink: false) } catch {
            if error.code == ENOENT { return }
            throw .system(call: .stat, at: path, errno: error.code)
        }
        guard status.kind == .socket else { throw .notASocket(path) }
        let probe = try calling(.socket, path, try Descriptor.unixStream())
        var answer: Int32 = 0
        do throws(SystemError) { try address.connect(probe.number) } catch { answer = error.code }
        // EAGAIN: a server listens whose backlog is full.
        if answer == 0 || answer == EAGAIN { throw .inUse(path) }
        guard answer == ECONNREFUSED else { throw .system(call: .connect, at: path, errno: answer) }
        do throws(SystemError) { try FileSystem.remove(path) } catch {
            guard error.code == ENOENT else { throw .system(call: .unlink, at: path, errno: error.code) }
        }
    }

    private static func groupID(_ name: String) throws(ListenError) -> UInt32 {
        guard let number = UInt32(name) ?? UserDatabase.number(ofGroup: name) else { throw .unknownGroup(name) }
        return number
    }

    private static func inode(of path: String) -> UInt64? { try? FileStatus(of: path, followsLink: false).inode }

    private static func calling<Result: ~Copyable>(
        _ call: ListenError.Call, _ place: String, _ body: @autoclosure () throws(SystemError) -> Result
    ) throws(ListenError) -> Result {
        do throws(SystemError) { return try body() } catch { throw .system(call: call, at: place, errno: error.code) }
    }

    private static func option(_ name: Int32, of descriptor: Int32) -> Int32? {
        var value: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return unsafe getsockopt(descriptor, SOL_SOCKET, name, &value, &length) == 0 ? value : nil
    }
}
