package import CardBytes
import Glibc

/// Wakes a thread that waits with a deadline: a socket pair, because it needs no memory shared between threads.
package final class WakeSignal: Sendable {
    private let receiving: Int32
    private let sending: Int32

    /// Readable while a signal is pending: for a poll(2) that watches other descriptors too. Take it with `clear`.
    package var descriptor: Int32 { receiving }

    /// - Throws: `.faulty` with `errno` where the process has no file descriptors left.
    package init() throws(ReaderError) {
        var pair: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        guard unsafe socketpair(AF_UNIX, kind, 0, &pair) == 0 else { throw .faulty(code: Int64(errno)) }
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
    /// - Parameter deadline: `nil` waits for ever.
    /// - Returns: whether there was one before `deadline`.
    package func wait(until deadline: TapInstant? = nil) -> Bool {
        guard isSignalled(by: deadline) else { return false }
        clear()
        return true
    }

    /// Forgets pending signals.
    package func clear() {
        var bytes = [UInt8](repeating: 0, count: 64)
        while unsafe recv(receiving, &bytes, bytes.count, 0) == bytes.count {}
    }

    /// Waits for a signal and leaves it for others to see.
    package func isSignalled(by deadline: TapInstant?) -> Bool {
        while true {
            var descriptor = pollfd(fd: receiving, events: Int16(POLLIN), revents: 0)
            let count = unsafe poll(&descriptor, 1, WakeSignal.milliseconds(until: deadline))
            if count > 0 { return true }
            if count == 0, let deadline, monotonicNow() >= deadline { return false }
            if count < 0, errno != EINTR { return false }
        }
    }

    /// The time-out for poll(2), rounded up, so that a wait never ends early; in slices where `deadline` is weeks away.
    package static func milliseconds(until deadline: TapInstant?) -> Int32 {
        guard let deadline else { return -1 }
        let (sum, overflow) = deadline.nanoseconds(since: monotonicNow()).addingReportingOverflow(999_999)
        return Int32(clamping: (overflow ? .max : sum) / 1_000_000)
    }
}
