// SPDX-License-Identifier: Apache-2.0
package import Glibc

/// poll(2) with a deadline of `MachineClock.awake`.
package enum Poll {
    package enum Outcome {
        /// At least one descriptor has something to tell, in its `revents`.
        case ready
        /// Nothing yet. May come before a deadline that is weeks away.
        case late
        /// A signal handler ran.
        case interrupted
        case failed
    }

    /// - Parameter nanoseconds: `nil` waits for ever, a time that has passed does not wait.
    package static func wait(_ watched: inout [pollfd], untilNanoseconds nanoseconds: UInt64?) -> Outcome {
        let count = unsafe poll(&watched, nfds_t(watched.count), milliseconds(until: nanoseconds))
        if count > 0 { return .ready }
        if count == 0 { return .late }
        return errno == EINTR ? .interrupted : .failed
    }

    /// The time-out for poll(2), rounded up, so that a wait never ends early; in slices where the deadline is weeks away.
    private static func milliseconds(until nanoseconds: UInt64?) -> Int32 {
        guard let nanoseconds else { return -1 }
        let now = MachineClock.awake
        let left = nanoseconds > now ? nanoseconds - now : 0
        let (sum, overflow) = left.addingReportingOverflow(999_999)
        return Int32(clamping: (overflow ? .max : sum) / 1_000_000)
    }
}
