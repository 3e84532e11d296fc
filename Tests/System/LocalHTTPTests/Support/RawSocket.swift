// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// A client that says exactly the bytes it is told to say. Blocking: use it inside `blocking`.
final class RawSocket: Sendable {
    struct Failure: Error {
        let call: String
        let code: Int32
    }

    fileprivate let descriptor: Int32
    private let isOpen = Atomic(true)

    /// Gives up a read after so many seconds: a test that waits longer has failed.
    static let patience = 20

    init(_ path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let connected = try unsafe Self.withAddress(of: path) { unsafe connect(descriptor, $0, $1) }
        guard connected == 0 else {
            let code = errno
            _ = Glibc.close(descriptor)
            throw Failure(call: "connect", code: code)
        }
        var timeout = timeval(tv_sec: Self.patience, tv_usec: 0)
        _ = unsafe setsockopt(
            descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    }

    /// Adopts a connected descriptor.
    init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { close() }

    /// Leaves, once.
    func close() {
        guard isOpen.exchange(false, ordering: .relaxed) else { return }
        _ = Glibc.close(descriptor)
    }

    /// Stops early, without an error, when the other side has closed.
    func send(_ bytes: [UInt8]) {
        var offset = 0
        while offset < bytes.count {
            let sent = unsafe bytes.withUnsafeBytes { buffer in
                unsafe Glibc.send(
                    descriptor, buffer.baseAddress?.advanced(by: offset), bytes.count - offset, Int32(MSG_NOSIGNAL))
            }
            guard sent > 0 else { return }
            offset += sent
        }
    }

    func send(_ text: String) { send(Array(text.utf8)) }

    /// "I have nothing more to say", without leaving.
    func halfClose() { _ = shutdown(descriptor, Int32(SHUT_WR)) }

    /// At most `count` bytes; `nil` at the end, on a reset, and when patience is over.
    func read(_ count: Int = 65_536) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: count)
        var got = unsafe recv(descriptor, &buffer, count, 0)
        // A process that was stopped and goes on hears of it, on a socket with a time limit.
        while got < 0, errno == EINTR { got = unsafe recv(descriptor, &buffer, count, 0) }
        return got > 0 ? Array(buffer.prefix(got)) : nil
    }

    func readToEnd() -> String {
        var all: [UInt8] = []
        while let bytes = read() { all += bytes }
        return String(decoding: all, as: UTF8.self)
    }

    /// Reads until `text` has come, and returns everything up to here.
    func read(until text: String) -> String {
        var all = ""
        while !all.contains(text), let bytes = read() { all += String(decoding: bytes, as: UTF8.self) }
        return all
    }
}

extension RawSocket {
    static func withAddress<Value>(
        of path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) throws -> Value
    ) throws -> Value {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        return try unsafe withUnsafePointer(to: address) { pointer in
            try unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                try unsafe body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    /// Whether something, or the end, can be read within so many milliseconds.
    func isReadable(within milliseconds: Int32) -> Bool {
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe Glibc.poll(&poll, 1, milliseconds) > 0
    }
}
