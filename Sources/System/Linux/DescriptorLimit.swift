// SPDX-License-Identifier: Apache-2.0
import Glibc

/// How many file descriptors this process may have open (RLIMIT_NOFILE, getrlimit(2)).
package enum DescriptorLimit {
    /// The limit in force; `nil` where the system does not say.
    package static var current: Int? { limits.map { Int(clamping: $0.rlim_cur) } }

    /// The limit that this process may raise its own to.
    package static var highest: Int? { limits.map { Int(clamping: $0.rlim_max) } }

    /// Raises the limit in force to `count`, or as far as the process may; never lowers it.
    package static func raise(to count: Int) {
        guard var limits, Int(clamping: limits.rlim_cur) < count else { return }
        limits.rlim_cur = min(rlim_t(count), limits.rlim_max)
        _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits)
    }

    private static var limits: rlimit? {
        var limits = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits) == 0 else { return nil }
        return limits
    }
}
