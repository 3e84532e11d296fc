// SPDX-License-Identifier: Apache-2.0
import Glibc
import Linux
import Synchronization

/// The socket under a PC/SC context. libpcsclite has no time limit for any call but one and no way to end it; closing
/// the socket's two directions makes a stuck call return at once, and pcscd clean up behind it.
struct ServiceLink: Sendable {
    private let descriptor: Int32
    private let inode: UInt
    /// One context at a time comes into being, so that its connection is the one that was not there before.
    private static let establishing = Mutex(())
    /// The connections from before the context that comes into being now.
    private static let earlier = Mutex<Set<UInt>?>(nil)

    /// Runs `establish`, which opens exactly one connection to pcscd, and says which it was.
    ///
    /// - Returns: `nil` in place of the link where it cannot be told.
    static func tracking<Value, Failure: Error>(
        _ establish: () throws(Failure) -> Value
    ) throws(Failure) -> (Value, ServiceLink?) {
        try establishing.withLock { (_) throws(Failure) in
            let before = Set(connections().map(\.inode))
            earlier.withLock { $0 = before }
            defer { earlier.withLock { $0 = nil } }
            let value = try establish()
            // A cancel on another thread has a connection of its own for a moment: look again until it is gone.
            for _ in 0..<50 {
                if let found = newConnection(since: before) {
                    return (value, ServiceLink(descriptor: found.descriptor, inode: found.inode))
                }
                usleep(1_000)
            }
            return (value, nil)
        }
    }

    /// Ends the connection of the context that is stuck in coming into being.
    static func severUnfinished() {
        guard let before = earlier.withLock({ $0 }) else { return }
        let new = connections().filter { !before.contains($0.inode) }
        let named = new.filter(\.isNamedAsService)
        for connection in !named.isEmpty ? named : new.count == 1 ? new : [] {
            _ = shutdown(connection.descriptor, Int32(SHUT_RDWR))
        }
    }

    /// The connection to pcscd that was not there before; `nil` where it cannot be told.
    ///
    /// The kernel tells the name that the other end was bound to, and libpcsclite may have come to it by another: through a link,
    /// a mount, or a socket unit with a path of its own. A connection of another name is the one if there is no other new one.
    private static func newConnection(since before: Set<UInt>) -> Connection? {
        let new = connections().filter { !before.contains($0.inode) }
        let named = new.filter(\.isNamedAsService)
        let candidates = named.isEmpty ? new : named
        return candidates.count == 1 ? candidates.first : nil
    }

    /// Ends the connection. The descriptor stays open until libpcsclite closes it with the context: only while the
    /// context lives, so that the descriptor cannot be another's by now.
    func sever() {
        guard socketInode(descriptor) == inode else { return }
        _ = shutdown(descriptor, Int32(SHUT_RDWR))
    }
}

private struct Connection {
    let descriptor: Int32
    let inode: UInt
    /// The other end has pcscd's name.
    let isNamedAsService: Bool
}

/// All of this process's connections to a listening Unix socket: one end of a pair, and what was accepted, has no name at its
/// other end. The kernel hands out the lowest free descriptor, and this process opens far fewer than are looked at.
private func connections() -> [Connection] {
    var found: [Connection] = []
    for descriptor in Int32(0)..<4_096 {
        guard let path = UnixAddress.path(ofPeer: descriptor), !path.isEmpty, let inode = socketInode(descriptor) else {
            continue
        }
        let isNamed = path.hasSuffix("/pcscd.comm") || path == Environment.value("PCSCLITE_CSOCK_NAME")
        found.append(Connection(descriptor: descriptor, inode: inode, isNamedAsService: isNamed))
    }
    return found
}

private func socketInode(_ descriptor: Int32) -> UInt? {
    guard let status = try? FileStatus(of: descriptor), status.kind == .socket else { return nil }
    return UInt(status.inode)
}
