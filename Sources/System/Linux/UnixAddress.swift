// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A path as the kernel takes it (unix(7)). No abstract addresses for servers: permissions do not apply to them.
package struct UnixAddress: Sendable {
    private var storage = sockaddr_un()
    private let length: socklen_t

    /// 107 bytes and the NUL after them.
    package static let maximumPathBytes = 107

    /// `nil` where the path is empty, too long, or holds a NUL.
    package init?(path: String) {
        self.init(name: Array(path.utf8), isAbstract: false)
    }

    /// `@name` is an abstract address, as in `NOTIFY_SOCKET` (sd_notify(3)); anything else must be an absolute path.
    package init?(notifySocket: String) {
        let bytes = Array(notifySocket.utf8)
        switch bytes.first {
        case UInt8(ascii: "@"): self.init(name: [0] + bytes.dropFirst(), isAbstract: true)
        case UInt8(ascii: "/"): self.init(name: bytes, isAbstract: false)
        default: return nil
        }
    }

    private init?(name: [UInt8], isAbstract: Bool) {
        guard !name.isEmpty, name.count <= Self.maximumPathBytes, isAbstract || !name.contains(0) else { return nil }
        storage.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &storage.sun_path) { unsafe $0.copyBytes(from: name) }
        let header = MemoryLayout<sa_family_t>.size
        length = socklen_t(header + name.count + (isAbstract ? 0 : 1))
    }

    package func bind(_ socket: Int32) throws(SystemError) {
        guard unsafe withSocketAddress({ unsafe Glibc.bind(socket, $0, $1) }) == 0 else { throw .last }
    }

    package func connect(_ socket: Int32) throws(SystemError) {
        guard unsafe withSocketAddress({ unsafe Glibc.connect(socket, $0, $1) }) == 0 else { throw .last }
    }

    /// Sends one datagram.
    ///
    /// - Returns: whether all of it was taken.
    package func send(_ bytes: [UInt8], from socket: Int32, flags: Int32 = 0) -> Bool {
        let sent = unsafe withSocketAddress { address, length in
            unsafe sendto(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL) | flags, address, length)
        }
        return sent == bytes.count
    }

    /// The path at the other end of a connected socket; `nil` where it is no connected Unix socket.
    package static func path(ofPeer socket: Int32) -> String? {
        var address = sockaddr_un()
        var length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                unsafe getpeername(socket, generic, &length)
            }
        }
        guard result == 0, address.sun_family == sa_family_t(AF_UNIX) else { return nil }
        return unsafe withUnsafeBytes(of: address.sun_path) { bytes in
            unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }

    private func withSocketAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        unsafe withUnsafePointer(to: storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, length) }
        }
    }
}

/// A stream socket of the Unix domain, not bound or connected yet.
extension Descriptor {
    package static func unixStream(isBlocking: Bool = false) throws(SystemError) -> Descriptor {
        try unixSocket(Int32(SOCK_STREAM.rawValue) | (isBlocking ? 0 : Int32(SOCK_NONBLOCK.rawValue)))
    }

    package static func unixDatagram() throws(SystemError) -> Descriptor {
        try unixSocket(Int32(SOCK_DGRAM.rawValue))
    }

    private static func unixSocket(_ type: Int32) throws(SystemError) -> Descriptor {
        let number = Glibc.socket(AF_UNIX, type | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { throw .last }
        return Descriptor(owning: number)
    }
}
