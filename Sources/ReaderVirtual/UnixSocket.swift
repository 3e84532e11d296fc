import CardBytes
import Glibc
import ReaderCore

/// A stream socket of the Unix domain that closes itself.
struct UnixSocket: ~Copyable {
    let descriptor: Int32

    init(accepted descriptor: Int32) { self.descriptor = descriptor }

    init() throws(VirtualSocketError) {
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        descriptor = socket(AF_UNIX, type, 0)
        guard descriptor >= 0 else { throw .system(call: "socket", errno: errno) }
    }

    /// Binds to `path` for the owner alone and listens. A socket file that nobody serves is replaced.
    func listen(at path: String) throws(VirtualSocketError) {
        try UnixSocket.removeStale(path)
        try unsafe withAddress(path) { (address, length) throws(VirtualSocketError) in
            guard unsafe bind(descriptor, address, length) == 0 else { throw .system(call: "bind", errno: errno) }
        }
        // Nobody can connect before listen, so that the mode is in force from the start.
        guard unsafe chmod(path, 0o600) == 0 else { throw .system(call: "chmod", errno: errno) }
        guard Glibc.listen(descriptor, 8) == 0 else { throw .system(call: "listen", errno: errno) }
    }

    func connect(to path: String) throws(VirtualSocketError) {
        try unsafe withAddress(path) { (address, length) throws(VirtualSocketError) in
            guard unsafe Glibc.connect(descriptor, address, length) == 0 else {
                throw .system(call: "connect", errno: errno)
            }
        }
    }

    /// The next connection, or -1 where none waits.
    func accept() -> Int32 {
        let descriptor = Glibc.accept(descriptor, nil, nil)
        guard descriptor >= 0 else { return -1 }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        return descriptor
    }

    /// Whether all of `text` went out at once; these lines always fit into an empty socket.
    func send(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return unsafe Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT)) == bytes.count
    }

    /// What has arrived; empty at the end of the stream, `nil` where nothing has come yet.
    func receive() -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 1024)
        let count = unsafe recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        if count < 0 { return errno == EAGAIN || errno == EINTR ? nil : [] }
        return Array(bytes.prefix(count))
    }

    private func withAddress(
        _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) throws(VirtualSocketError) -> Void
    ) throws(VirtualSocketError) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let name = Array(path.utf8)
        guard name.count < MemoryLayout.size(ofValue: address.sun_path) else { throw .pathTooLong(path) }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: name) }
        let length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let outcome = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                Result { () throws(VirtualSocketError) in try unsafe body(address, length) }
            }
        }
        try outcome.get()
    }

    private static func removeStale(_ path: String) throws(VirtualSocketError) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else { throw .notASocket(path) }
        let probe = try UnixSocket()
        do {
            try probe.connect(to: path)
        } catch {
            guard error == .system(call: "connect", errno: ECONNREFUSED) else { throw error }
            _ = unsafe unlink(path)
            return
        }
        throw .inUse(path)
    }

    deinit { _ = Glibc.close(descriptor) }
}
