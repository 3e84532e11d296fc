// SPDX-License-Identifier: Apache-2.0
import CLinux

/// Keeps card data in this process: no core dump, no tracing, no swap, freed memory overwritten. Every program that reads
/// cards calls `apply` before anything else.
package struct ProcessHardening: Equatable, Sendable {
    /// Nobody can dump or trace this process now.
    package let forbidsDumps: Bool
    /// Every page that is touched from now on stays out of the swap: where the limit of locked memory allows it. Pages of
    /// `SecretBytes` are locked besides.
    package let locksMemory: Bool
    /// Freed heap blocks are overwritten: in programs that are linked with `CScrub`, and not under a sanitizer.
    package let scrubsFreedMemory: Bool

    package static func apply() -> ProcessHardening {
        ProcessHardening(
            forbidsDumps: clinux_forbid_dumps() == 0, locksMemory: clinux_lock_memory() == 0,
            scrubsFreedMemory: clinux_scrubs_freed_memory() == 1)
    }

    /// For a program that sees no card: nobody can dump or trace it.
    ///
    /// - Returns: whether that worked.
    package static func forbidDumps() -> Bool { clinux_forbid_dumps() == 0 }

    /// Gives back the code that only the start needed, and that locking the memory would keep for good: two thirds of what
    /// is resident. What a tap needs is locked again as it is used.
    ///
    /// - Returns: whether all of it could be given back.
    package static func releaseStartCode(lockingAgain isLocked: Bool) -> Bool {
        clinux_release_code(isLocked ? 1 : 0) == 0
    }
}
