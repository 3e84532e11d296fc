// SPDX-License-Identifier: Apache-2.0
import Linux

/// Notices that the machine was suspended: the clock that counts that time has moved on, the other has not.
struct PowerWatch {
    /// Both clocks, read together, in nanoseconds since the start of the machine.
    struct Reading: Equatable, Sendable {
        /// Without the time it was suspended (`CLOCK_MONOTONIC`).
        var awake: UInt64
        /// With it (`CLOCK_BOOTTIME`).
        var all: UInt64

        static func now() -> Reading { Reading(awake: MachineClock.awake, all: MachineClock.all) }

        /// Nanoseconds suspended so far. Between the two readings a moment passes.
        var asleep: UInt64 { all >= awake ? all - awake : 0 }
    }

    /// Shorter than any suspension, longer than a thread waits between two readings.
    static let threshold: UInt64 = 500_000_000
    private var asleep: UInt64?

    /// Whether the machine was suspended since the reading before. The first one says nothing.
    mutating func hasSlept(_ reading: Reading) -> Bool {
        defer { asleep = reading.asleep }
        guard let asleep else { return false }
        return reading.asleep > asleep && reading.asleep - asleep >= PowerWatch.threshold
    }
}
