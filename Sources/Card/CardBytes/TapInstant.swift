// SPDX-License-Identifier: Apache-2.0
/// A point on the monotonic clock. Machines never read a clock: the caller passes the time in, so that a recorded
/// transcript replays bit for bit.
public struct TapInstant: Comparable, Hashable, Sendable {
    /// Nanoseconds since an arbitrary, fixed point.
    public let nanoseconds: UInt64

    public init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

    public static func < (left: TapInstant, right: TapInstant) -> Bool { left.nanoseconds < right.nanoseconds }

    /// This instant moved on; stays at the end of the range instead of overflowing.
    public func advanced(byMilliseconds milliseconds: UInt64) -> TapInstant {
        let (delta, tooFar) = milliseconds.multipliedReportingOverflow(by: 1_000_000)
        let (sum, overflow) = nanoseconds.addingReportingOverflow(tooFar ? .max : delta)
        return TapInstant(nanoseconds: overflow ? .max : sum)
    }

    /// Nanoseconds from `earlier` to this instant; 0 where `earlier` is later.
    public func nanoseconds(since earlier: TapInstant) -> UInt64 {
        nanoseconds > earlier.nanoseconds ? nanoseconds - earlier.nanoseconds : 0
    }
}
