// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Wakes a thread that waits with a deadline: a socket pair, because it needs no memory shared between threads.
///
/// Deadlines are those of `MachineClock.awake`.
package final class WakeSignal: Sendable {
    private let receiving: Int32
    private let sending: Int32

    /// Readable while a signal is pending: for a poll(2) that watches other descriptors too. Take it with `clear`.
    package var descriptor: Int32 { receiving }

    /// - Throws: where the process has no file descriptors left.
    package init() throws(SystemError) {
        var pair: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        guard unsafe socketpair(AF_UNIX, kind, 0, &pair) == 0 else { throw .last }
        receiving = pair[0]
        sending = pair[1]
    }

    deinit {
        _ = Glibc.close(receiving)
        _ = Glibc.close(sending)
    }

    /// Ends the current wait, or the next one. Signals that nobody has seen yet count as one.
    package func signal() {
        var byte: UInt8 = 1
        // A full buffer means that a signal is pending already.
        _ = unsafe send(sending, &byte, 1, Int32(MSG_NOSIGNAL))
    }

    /// Waits for a signal and takes it.
    ///
    /// - Parameter nanoseconds: `nil` waits for ever.
    /// - Returns: whether there was one before then.
    package func wait(untilNanoseconds nanoseconds: UInt64? = nil) -> Bool {
        guard isSignalled(byNanoseconds: nanoseconds) else { return false }
        clear()
        return true
    }

    /// Forgets pending signals.
    package func clear() {
        var bytes = [UInt8](repeating: 0, count: 64)
        while unsafe recv(receiving, &bytes, bytes.count, 0) == bytes.count {}
    }

    /// Waits for a signal and leaves it for others to see.
    package func isSignalled(byNanoseconds nanoseconds: UInt64? = nil) -> Bool {
        while true {
            var watched = [pollfd(fd: receiving, events: Int16(POLLIN), revents: 0)]
            switch Poll.wait(&watched, untilNanoseconds: nanoseconds) {
            case .ready: return true
            case .late where nanoseconds.map({ MachineClock.awake >= $0 }) ?? false: return false
            case .late, .interrupted: continue
            case .failed: return false
            }
        }
    }
}
