// SPDX-License-Identifier: Apache-2.0
public import CardBytes
import Glibc
import Linux
import ReaderCore
import Synchronization

/// Serves a `VirtualReaderControl` on a Unix socket: one command a line, one answer line to each
/// (`ok`, `ok STATE` or `error REASON`). The socket file belongs to the user alone (mode 0600).
///
/// Removes the file and ends its thread when it is stopped or let go.
public final class VirtualReaderSocket: Sendable {
    public let path: String
    private let server: Server

    /// - Throws: `VirtualSocketError`; nothing is left behind then.
    public init(path: String, control: VirtualReaderControl) throws(VirtualSocketError) {
        self.path = path
        server = try Server(path: path, control: control)
        do throws(SystemError) {
            try PrivateThread.start(named: "virtual-reader") { [server] in server.run() }
        } catch {
            server.removeFile()
            throw .system(call: "pthread_create", at: path, errno: error.code)
        }
    }

    /// Ends all connections and removes the socket file; returns when that is done.
    public func stop() { server.stop() }

    deinit { stop() }

    /// Sends one command line to the reader served at `path`.
    ///
    /// - Returns: the answer line without its end.
    /// - Throws: `.noAnswer` at `deadline`, or why there is no connection.
    public static func send(
        _ line: String, to path: String, until deadline: TapInstant
    ) throws(VirtualSocketError) -> String {
        let connection = try UnixSocket(for: path)
        try connection.connect(to: path, until: deadline)
        guard connection.send(line + "\n") else { throw .noAnswer }
        var received: [UInt8] = []
        while true {
            if let end = received.firstIndex(of: UInt8(ascii: "\n")) {
                return String(decoding: received[..<end], as: UTF8.self)
            }
            guard monotonicNow() < deadline else { throw .noAnswer }
            var watched = [pollfd(fd: connection.descriptor, events: Int16(POLLIN), revents: 0)]
            _ = Poll.wait(&watched, untilNanoseconds: deadline.nanoseconds)
            guard let more = connection.receive() else { continue }
            guard !more.isEmpty else { throw .noAnswer }
            received += more
        }
    }
}

extension VirtualReaderSocket {
    /// What the thread works on.
    private final class Server: Sendable {
        /// Most connections at a time; others wait.
        private static let mostConnections = 8
        /// Nanoseconds.
        private static let pause: UInt64 = 200_000_000

        private let path: String
        private let control: VirtualReaderControl
        private let wake: WakeSignal
        private let ended: WakeSignal
        private let isStopped = Mutex(false)
        private let listener: Mutex<UnixSocket>

        init(path: String, control: VirtualReaderControl) throws(VirtualSocketError) {
            self.path = path
            self.control = control
            do throws(SystemError) {
                wake = try WakeSignal()
                ended = try WakeSignal()
            } catch {
                throw .system(call: "socketpair", at: path, errno: error.code)
            }
            let socket = try UnixSocket(for: path)
            try socket.listen(at: path)
            listener = Mutex(socket)
        }

        func stop() {
            isStopped.withLock { $0 = true }
            wake.signal()
            _ = ended.isSignalled()
        }

        func run() {
            var connections: [VirtualReaderConnection] = []
            let listening = listener.withLock { $0.descriptor }
            // Until then nobody is let in: without descriptors the listener stays readable, and nothing comes of it.
            var closedUntil: UInt64?
            while !isStopped.withLock({ $0 }) {
                var watched = [pollfd(fd: wake.descriptor, events: Int16(POLLIN), revents: 0)]
                watched += connections.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
                if connections.count < Server.mostConnections, closedUntil == nil {
                    watched.append(pollfd(fd: listening, events: Int16(POLLIN), revents: 0))
                }
                _ = Poll.wait(&watched, untilNanoseconds: closedUntil)
                if let until = closedUntil, MachineClock.awake >= until { closedUntil = nil }
                connections = connections.filter { $0.serve { control.answer(to: $0) } }
                if connections.count < Server.mostConnections, closedUntil == nil {
                    let (accepted, error) = listener.withLock { ($0.accept(), errno) }
                    if accepted >= 0 {
                        connections.append(VirtualReaderConnection(accepted))
                    } else if error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM {
                        closedUntil = MachineClock.awake + Server.pause
                    }
                }
            }
            removeFile()
            ended.signal()
        }

        func removeFile() { try? FileSystem.remove(path) }
    }
}
