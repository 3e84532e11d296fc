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

    /// Whether `timestamp` is near enough at `now`.
    public func accepts(_ timestamp: PassTimestamp, now: TapInstant) -> Bool {
        let (difference, overflow) = clock.unixSeconds(at: now).subtractingReportingOverflow(timestamp.unixSeconds)
        return !overflow && difference.magnitude <= UInt64(maximumSkewSeconds)
    }
}
