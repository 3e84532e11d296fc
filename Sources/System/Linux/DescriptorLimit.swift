// SPDX-License-Identifier: Apache-2.0
import Glibc

/// How many file descriptors this process may have open (RLIMIT_NOFILE, getrlimit(2)).
package enum DescriptorLimit {
    /// The limit in force; `nil` where the system does not say.
    package static var current: Int? { limits.map { Int(clamping: $0.rlim_cur) } }

    /// The limit that this process may raise its own to.
    package static var highest: Int? { limits.map { Int(clamping: $0.rlim_max) } }

    /// What a server needs beside its connections: standard streams, event loops, books, and what its doors leave free.
    package static let ofProcess = 96

    /// Descriptors that connections leave to books, to readers and to the way to the payment service.
    private static let kept = 32

    /// A connection with this number or a higher one would leave too few: the system gives the lowest number that is free.
    ///
    /// - Parameter most: what the process may have; by default what the system says.
    package static func ceiling(of most: Int = current ?? 1_024) -> Int { most - min(kept, most / 4) }

    /// Raises the limit in force to `count`, or as far as the process may; never lowers it.
    package static func raise(to count: Int) {
        guard var limits, Int(clamping: limits.rlim_cur) < count else { return }
        limits.rlim_cur = min(rlim_t(count), limits.rlim_max)
        _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits)
    }

    /// Raises the limit in force to what a program may need at a time.
    ///
    /// - Returns: what to say where the process may not have so many.
    package static func provide(_ needed: Int) -> Shortage? {
        raise(to: needed)
        return Shortage(of: needed)
    }

    /// Fewer than a program may need at a time: it would find out in the middle of a busy day.
    package struct Shortage: Equatable, Sendable {
        package let needed: Int
        package let most: Int

        /// - Parameter most: what the process may raise its limit to; `nil` where nobody knows.
        /// - Returns: `nil` where that is enough.
        package init?(of needed: Int, most: Int? = highest) {
            guard let most, needed > most else { return nil }
            (self.needed, self.most) = (needed, most)
        }

        /// About connections.
        package var problem: String { "need \(needed) file descriptors, and this process may have \(most)" }

        package func remedy(unit: String) -> String { "raise LimitNOFILE= of \(unit) to \(needed), or ulimit -n" }
    }

    private static var limits: rlimit? {
        var limits = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits) == 0 else { return nil }
        return limits
    }
}
