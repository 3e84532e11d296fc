// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// Civil time tied to the monotonic clock, so that machines, which never read a clock, can tell how old a pass is.
public struct WallClock: Equatable, Sendable {
    /// Seconds since 1970-01-01T00:00:00Z at `instant`.
    public let unixSeconds: Int64
    public let instant: TapInstant

    public init(unixSeconds: Int64, at instant: TapInstant) {
        self.unixSeconds = unixSeconds
        self.instant = instant
    }

    /// Seconds since 1970-01-01T00:00:00Z at `now`; an earlier instant counts as the same.
    public func unixSeconds(at now: TapInstant) -> Int64 {
        let elapsed = Int64(clamping: now.nanoseconds(since: instant) / 1_000_000_000)
        let (sum, overflow) = unixSeconds.addingReportingOverflow(elapsed)
        return overflow ? .max : sum
    }
}

/// How far the time in a pass may be from ours. The time comes from the phone's clock and is the only trace of
/// freshness in an Apple VAS cryptogram, which carries no challenge of the reader: a recorded one can be replayed.
public struct TimestampPolicy: Equatable, Sendable {
    public var clock: WallClock
    /// Largest difference in either direction, in seconds.
    public var maximumSkewSeconds: UInt32

    public init(clock: WallClock, maximumSkewSeconds: UInt32) {
        self.clock = clock
        self.maximumSkewSeconds = maximumSkewSeconds
    }

    public enum Verdict: Sendable {
        case fresh
        /// A recorded pass, or a phone whose clock is behind.
        case tooOld
        /// Made later than now: one of the two clocks is wrong.
        case clockOff
    }

    /// What the time that a pass carries says at `now`.
    public func judge(_ timestamp: PassTimestamp, now: TapInstant) -> Verdict {
        let ours = clock.unixSeconds(at: now)
        let (difference, overflow) = ours.subtractingReportingOverflow(timestamp.unixSeconds)
        if !overflow, difference.magnitude <= UInt64(maximumSkewSeconds) { return .fresh }
        return ours > timestamp.unixSeconds ? .tooOld : .clockOff
    }
}
