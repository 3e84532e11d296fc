public import CardBytes
import Glibc

/// The machine's monotonic clock (`CLOCK_MONOTONIC`).
public func monotonicNow() -> TapInstant {
    var time = timespec()
    _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return TapInstant(nanoseconds: UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec))
}

/// Blocks the calling thread; goes on sleeping after a signal.
package func sleep(milliseconds: UInt64) {
    var rest = timespec(tv_sec: Int(milliseconds / 1_000), tv_nsec: Int(milliseconds % 1_000) * 1_000_000)
    var left = timespec()
    while unsafe nanosleep(&rest, &left) == -1, errno == EINTR { rest = left }
}
