// SPDX-License-Identifier: Apache-2.0
import CLinux
import CScrub

/// Keeps card data in this process: no core dump, no tracing, no swap, freed memory overwritten.
enum ProcessHardening {
    /// - Returns: whether nobody can dump or trace this process now.
    static func forbidDumps() -> Bool { clinux_forbid_dumps() == 0 }

    /// Keeps every page that is touched from now on out of the swap. Pages of `SecretBytes` are locked besides.
    ///
    /// - Returns: whether the limit of locked memory allows it; the unit's does.
    static func lockMemory() -> Bool { clinux_lock_memory() == 0 }

    /// Gives back the code that only the start needed, and that `lockMemory` would keep for good: two thirds of what
    /// is resident. What a tap needs is locked again as it is used.
    ///
    /// - Returns: whether all of it could be given back.
    static func releaseStartCode(lockingAgain isLocked: Bool) -> Bool { clinux_release_code(isLocked ? 1 : 0) == 0 }

    /// Whether freed heap blocks are overwritten; not so under a sanitizer.
    static var scrubsFreedMemory: Bool { cscrub_is_in_force() == 1 }
}
