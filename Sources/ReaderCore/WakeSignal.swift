public import CardBytes
import Glibc

/// Ends a wait on another thread at once. A signal given before the wait begins is not lost.
///
/// A pair of connected sockets under poll(2): the only portable wait that also watches other descriptors. One thread
/// waits at a time; any thread may signal.
public struct WakeSignal: ~Copyable, Sendable {
    /// Readable as soon as a signal is pending; for a poll(2) of the caller's own, who then calls `clear`.
    public let descriptor: Int32
    private let sender: Int32

    /// - Throws: `.faulty` with errno where the process has no descriptor left.
    public init() throws(ReaderError) {
        var pair: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        guard unsafe socketpair(AF_UNIX, type, 0, &pair) == 0 else { throw .faulty(code: Int64(errno)) }
        descriptor = pair[0]
        sender = pair[1]
    }

    /// Wakes the waiter, or the next one. Never blocks: a full socket holds a signal already.
    public func signal() {
        var byte: UInt8 = 0
        _ = unsafe send(sender, &byte, 1, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
    }

    /// Forgets pending signals.
    public func clear() {
        var bytes = [UInt8](repeating: 0, count: 64)
        while unsafe recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT)) == bytes.count {}
    }

    /// Blocks until a signal or `deadline`, whichever comes first. May wake without reason: check the condition again.
    public func wait(until deadline: TapInstant) {
        var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        if unsafe poll(&watched, 1, pollTimeout(until: deadline)) > 0 { clear() }
    }

    deinit {
        _ = Glibc.close(descriptor)
        _ = Glibc.close(sender)
    }
}

/// Milliseconds until `deadline` for poll(2), rounded up so that a wait never ends early; at most one hour.
public func pollTimeout(until deadline: TapInstant) -> Int32 {
    let nanoseconds = deadline.nanoseconds(since: monotonicNow())
    let milliseconds = nanoseconds / 1_000_000 + (nanoseconds.isMultiple(of: 1_000_000) ? 0 : 1)
    return Int32(clamping: min(milliseconds, 3_600_000))
}
