import Glibc
import Synchronization

/// The socket under a PC/SC context. libpcsclite has no time limit for any call but one and no way to end it; closing
/// the socket's two directions makes a stuck call return at once, and pcscd clean up behind it.
final class ServiceLink: Sendable {
    private let descriptor: Int32
    private let inode: UInt
    /// One context at a time comes into being, so that its connection is the one that nobody knows yet.
    private static let establishing = Mutex(())
    private static let known = Mutex<Set<UInt>>([])

    private init(descriptor: Int32, inode: UInt) {
        self.descriptor = descriptor
        self.inode = inode
    }

    /// Runs `establish`, which opens exactly one connection to pcscd, and says which it was.
    ///
    /// - Returns: `nil` in place of the link where it cannot be told.
    static func tracking<Value, Failure: Error>(
        _ establish: () throws(Failure) -> Value
    ) throws(Failure) -> (Value, ServiceLink?) {
        try establishing.withLock { (_) throws(Failure) in
            let value = try establish()
            // A cancel on another thread has a connection of its own for a moment: look again until it is gone.
            for _ in 0..<50 {
                let candidates = unclaimed()
                if candidates.count == 1, let found = candidates.first {
                    known.withLock { known in _ = known.insert(found.inode) }
                    return (value, ServiceLink(descriptor: found.descriptor, inode: found.inode))
                }
                usleep(1_000)
            }
            return (value, nil)
        }
    }

    /// Ends every connection that no context owns yet: one that is stuck in being established.
    static func severUnclaimed() {
        for connection in unclaimed() { _ = shutdown(connection.descriptor, Int32(SHUT_RDWR)) }
    }

    private static func unclaimed() -> [(descriptor: Int32, inode: UInt)] {
        connections().filter { connection in known.withLock { !$0.contains(connection.inode) } }
    }

    /// Ends the connection. The descriptor stays open until libpcsclite closes it. Only while a call on the context is
    /// under way, so that the descriptor cannot be another's by now.
    func sever() {
        guard socketInode(descriptor) == inode else { return }
        _ = shutdown(descriptor, Int32(SHUT_RDWR))
    }

    /// To be called before the context is released.
    func forget() {
        Self.known.withLock { known in _ = known.remove(inode) }
    }
}

/// All of this process's connections to pcscd's socket. The kernel hands out the lowest free descriptor, and this
/// process opens far fewer than are looked at.
private func connections() -> [(descriptor: Int32, inode: UInt)] {
    var found: [(descriptor: Int32, inode: UInt)] = []
    for descriptor in Int32(0)..<4_096 where isConnectionToService(descriptor) {
        if let inode = socketInode(descriptor) { found.append((descriptor, inode)) }
    }
    return found
}

private func isConnectionToService(_ descriptor: Int32) -> Bool {
    var address = sockaddr_un()
    let size = MemoryLayout<sockaddr_un>.size
    var length = socklen_t(size)
    let result = unsafe withUnsafeMutablePointer(to: &address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
            unsafe getpeername(descriptor, generic, &length)
        }
    }
    guard result == 0, address.sun_family == sa_family_t(AF_UNIX) else { return false }
    let path = unsafe withUnsafeBytes(of: address.sun_path) { bytes in
        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
    if path.hasSuffix("/pcscd.comm") { return true }
    guard let moved = unsafe getenv("PCSCLITE_CSOCK_NAME") else { return false }
    return unsafe path == String(cString: moved)
}

private func socketInode(_ descriptor: Int32) -> UInt? {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return nil }
    return UInt(status.st_ino)
}
