// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// A line on which bytes go both ways: a TCP connection, or a serial port. One thread reads, another writes.
package final class ByteLine: Sendable {
    package enum Arrival: Equatable, Sendable {
        case bytes([UInt8])
        /// The other side has ended it, after it had read whatever was sent.
        case closed
        /// The line broke: what was sent last may not have been read.
        case broken
    }

    private let descriptor: Descriptor
    private let isSocket: Bool
    /// When `finish` was called, on the clock of `MachineClock.awake`; 0 before.
    private let finished = Atomic<UInt64>(0)

    /// How long what still comes is thrown away after the end. Closed with bytes unread, a connection would be reset, and
    /// what was sent last be lost.
    private static let linger: UInt64 = 2_000_000_000

    package init(socket: consuming Descriptor) {
        var isOn: Int32 = 1
        let size = socklen_t(MemoryLayout<Int32>.size)
        // Each message leaves at once; a peer that was switched off is noticed some day.
        _ = unsafe setsockopt(socket.number, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, size)
        _ = unsafe setsockopt(socket.number, SOL_SOCKET, SO_KEEPALIVE, &isOn, size)
        descriptor = socket
        isSocket = true
    }

    /// A serial port: eight bits, no parity, two stop bits, no handshake.
    ///
    /// - Parameter baud: 9600, 19200, 38400, 57600 or 115200.
    /// - Throws: `EINVAL` for another speed, `ENOTTY` for what is no serial port.
    package init(serialPort path: String, baud: Int) throws(SystemError) {
        descriptor = try Descriptor.serialPort(path, baud: baud) { settings in
            settings.c_cflag |= tcflag_t(CSTOPB)
            settings.c_cflag &= ~tcflag_t(PARENB)
        }
        isSocket = false
    }

    fileprivate static let speeds: [Int: speed_t] = [
        9_600: speed_t(B9600), 19_200: speed_t(B19200), 38_400: speed_t(B38400), 57_600: speed_t(B57600),
        115_200: speed_t(B115200),
    ]

    /// What comes next; waits for it. After `closed` or `broken` there is nothing more.
    package func receive() -> Arrival {
        while true {
            var watched = [pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)]
            let end = finished.load(ordering: .acquiring)
            if end > 0, MachineClock.awake &- end > Self.linger { return .closed }
            guard Poll.wait(&watched, untilNanoseconds: MachineClock.awake + 1_000_000_000) == .ready else { continue }
            do throws(SystemError) {
                let bytes = try descriptor.read(atMost: 4_096)
                if bytes.isEmpty { return .closed }
                if end == 0 { return .bytes(bytes) }
            } catch {
                if error.code != EAGAIN { return .broken }
            }
        }
    }

    /// Whether the other side is still there, as far as this machine has heard; `nil` if so.
    package var end: Arrival? {
        guard isSocket else { return nil }
        var byte: UInt8 = 0
        let count = unsafe recv(descriptor.number, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT))
        if count > 0 { return nil }
        if count == 0 { return .closed }
        return errno == EAGAIN || errno == EINTR ? nil : .broken
    }

    /// All of it, in one piece.
    ///
    /// - Returns: whether the system took all of it.
    package func send(_ bytes: [UInt8]) -> Bool {
        if isSocket {
            let flags = Int32(MSG_NOSIGNAL | MSG_DONTWAIT)
            return unsafe Glibc.send(descriptor.number, bytes, bytes.count, flags) == bytes.count
        }
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = Array(rest)
            let count = unsafe Glibc.write(descriptor.number, piece, piece.count)
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                var watched = [pollfd(fd: descriptor.number, events: Int16(POLLOUT), revents: 0)]
                guard Poll.wait(&watched, untilNanoseconds: MachineClock.awake + 2_000_000_000) == .ready else {
                    return false
                }
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }

    /// Breaks a connection: what was sent last may be lost, and the other side sees a reset. `receive` ends within a second.
    package func reset() {
        var none = Glibc.linger(l_onoff: 1, l_linger: 0)
        _ = unsafe setsockopt(
            descriptor.number, SOL_SOCKET, SO_LINGER, &none, socklen_t(MemoryLayout<Glibc.linger>.size))
        finished.store(1, ordering: .releasing)
    }

    /// Nothing more is sent. `receive` then ends when the other side does, or soon.
    package func finish() {
        guard finished.load(ordering: .relaxed) == 0 else { return }
        finished.store(max(1, MachineClock.awake), ordering: .releasing)
        if isSocket { _ = shutdown(descriptor.number, Int32(SHUT_WR)) }
    }
}

extension Descriptor {
    /// A serial port that carries bytes as they are, and has no owner that could hang up.
    ///
    /// - Parameter change: what its line needs besides.
    /// - Throws: `EINVAL` for another speed than those of `ByteLine`, `ENOTTY` for what is no serial port.
    static func serialPort(
        _ path: String, baud: Int, _ change: (inout termios) -> Void
    ) throws(SystemError) -> Descriptor {
        guard let speed = ByteLine.speeds[baud] else { throw SystemError(code: EINVAL) }
        let port = try Descriptor(opening: path, O_RDWR | O_NOCTTY | O_NONBLOCK)
        var settings = termios()
        guard unsafe tcgetattr(port.number, &settings) == 0 else { throw .last }
        unsafe cfmakeraw(&settings)
        settings.c_cflag |= tcflag_t(CLOCAL | CREAD)
        change(&settings)
        _ = unsafe cfsetispeed(&settings, speed)
        _ = unsafe cfsetospeed(&settings, speed)
        guard unsafe tcsetattr(port.number, TCSANOW, &settings) == 0 else { throw .last }
        return port
    }
}
