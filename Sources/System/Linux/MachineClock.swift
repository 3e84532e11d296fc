// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// The machine's clocks that nobody sets, in nanoseconds since its start.
package enum MachineClock {
    /// Without the time the machine was suspended (`CLOCK_MONOTONIC`).
    package static var awake: UInt64 { read(CLOCK_MONOTONIC) }

    /// With the time it was suspended (`CLOCK_BOOTTIME`).
    package static var all: UInt64 { read(CLOCK_BOOTTIME) }

    /// What this process has used of the processors (`CLOCK_PROCESS_CPUTIME_ID`).
    package static var processor: UInt64 { read(CLOCK_PROCESS_CPUTIME_ID) }

    /// Whether the machine's clock follows a time service: what the kernel says of it, or, where it may not be asked, the
    /// mark that systemd's time service leaves; `nil` where nobody says.
    package static var isSynchronized: Bool? {
        switch clinux_clock_is_synchronized() {
        case 0: false
        case 1: true
        default: FileSystem.exists("/run/systemd/timesync/synchronized") ? true : nil
        }
    }

    private static func read(_ clock: clockid_t) -> UInt64 {
        var time = timespec()
        _ = unsafe clock_gettime(clock, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }
}

/// Blocks the calling thread; goes on sleeping after a signal.
package func sleep(milliseconds: UInt64) {
    var rest = timespec(tv_sec: Int(milliseconds / 1_000), tv_nsec: Int(milliseconds % 1_000) * 1_000_000)
    var left = timespec()
    while unsafe nanosleep(&rest, &left) == -1, errno == EINTR { rest = left }
}
