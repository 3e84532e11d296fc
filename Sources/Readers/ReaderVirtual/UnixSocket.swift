// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Glibc
import Linux
import ReaderCore

/// A stream socket of the Unix domain that closes itself.
struct UnixSocket: ~Copyable {
    private let socket: Descriptor

    var descriptor: Int32 { socket.number }

    init(accepted descriptor: Int32) { socket = Descriptor(owning: descriptor) }

    /// - Parameter path: where it is going to be used, for errors.
    init(for path: String) throws(VirtualSocketError) {
        socket = try UnixSocket.calling("socket", path, try Descriptor.unixStream())
    }

    /// Binds to `path` for the owner alone and listens. A socket file that nobody serves is replaced.
    func listen(at path: String) throws(VirtualSocketError) {
        let address = try UnixSocket.address(path)
        try UnixSocket.removeStale(path)
        try UnixSocket.calling("bind", path, try address.bind(descriptor))
        // Nobody can connect before listen, so that the mode is in force from the start.
        try UnixSocket.calling("chmod", path, try FileSystem.setMode(0o600, of: path))
        guard Glibc.listen(descriptor, 8) == 0 else { throw .system(call: "listen", at: path, errno: errno) }
    }

    func connect(to path: String) throws(VirtualSocketError) {
        let address = try UnixSocket.address(path)
        try UnixSocket.calling("connect", path, try address.connect(descriptor))
    }

    /// Connects as soon as the server's queue has a place: a Unix socket that is full refuses at once (EAGAIN, connect(2)).
    ///
    /// - Throws: `.noAnswer` where it is full until `deadline`.
    func connect(to path: String, until deadline: TapInstant) throws(VirtualSocketError) {
        while true {
            do throws(VirtualSocketError) { return try connect(to: path) } catch {
                guard error == .system(call: "connect", at: path, errno: EAGAIN) else { throw error }
                guard monotonicNow() < deadline else { throw .noAnswer }
                usleep(10_000)
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

    private static func removeStale(_ path: String) throws(VirtualSocketError) {
        guard let status = try? FileStatus(of: path, followsLink: false) else { return }
        guard status.kind == .socket else { throw .notASocket(path) }
        let probe = try UnixSocket(for: path)
        do throws(VirtualSocketError) {
            try probe.connect(to: path)
        } catch {
            // A server listens whose queue is full.
            if error == .system(call: "connect", at: path, errno: EAGAIN) { throw .inUse(path) }
            guard error == .system(call: "connect", at: path, errno: ECONNREFUSED) else { throw error }
            try? FileSystem.remove(path)
            return
        }
        throw .inUse(path)
    }

    private static func address(_ path: String) throws(VirtualSocketError) -> UnixAddress {
        guard let address = UnixAddress(path: path) else { throw .pathTooLong(path) }
        return address
    }

    private static func calling<Result: ~Copyable>(
        _ call: String, _ place: String, _ body: @autoclosure () throws(SystemError) -> Result
    ) throws(VirtualSocketError) -> Result {
        do throws(SystemError) { return try body() } catch { throw .system(call: call, at: place, errno: error.code) }
    }
}
