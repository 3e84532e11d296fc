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

    /// For a program that waits most of the day and locks no memory: gives the code that was used back to the kernel, which
    /// has it in its cache. First what only the start needed, then what work needed, five seconds after it at the latest. The
    /// next work takes back what it uses, page by page, in less than a millisecond. Ends when the task is cancelled.
    package static func stayWithoutUsedCode() async {
        var used: UInt64?
        var pause = Duration.seconds(2)
        while (try? await Task.sleep(for: pause)) != nil {
            pause = .seconds(5)
            // Looking whether there is something to do takes less.
            if let used, MachineClock.processor &- used < 20_000_000 { continue }
            // Best effort: without it the program works as well, in more memory.
            _ = releaseStartCode(lockingAgain: false)
            used = MachineClock.processor
        }
    }
}
