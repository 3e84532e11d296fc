import CLinux
import Glibc

/// Keeps card data in this process: no core dump, no tracing, freed memory overwritten.
enum ProcessHardening {
    /// glibc reads its tunables when a program starts, and never again. Without per-thread caches and with perturbation
    /// it overwrites every block that is freed.
    private static let tunables = "glibc.malloc.tcache_count=0:glibc.malloc.perturb=165"

    /// - Returns: whether nobody can dump or trace this process now.
    static func forbidDumps() -> Bool { clinux_forbid_dumps() == 0 }

    /// Starts this program again with the tunables set, unless they are; before any inherited socket is taken.
    static func startAgainWithScrubbedHeap(_ arguments: [String]) {
        guard unsafe getenv("GLIBC_TUNABLES") == nil else { return }
        _ = unsafe setenv("GLIBC_TUNABLES", tunables, 1)
        var pointers = unsafe arguments.map { unsafe strdup($0) } + [nil]
        // Returns only where it fails: then the daemon runs without that belt, the wiped buffers remain.
        _ = unsafe execv("/proc/self/exe", &pointers)
        for index in unsafe pointers.indices { unsafe free(pointers[index]) }
    }
}
