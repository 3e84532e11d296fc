// SPDX-License-Identifier: Apache-2.0
public import PaymentValues

/// What a machine knows of the time when something happens. It never asks for it.
public struct Moment: Equatable, Sendable {
    /// Milliseconds of a clock that never jumps; where they begin does not matter.
    public var monotonic: Int64
    public var wall: Timestamp

    public init(monotonic: Int64, wall: Timestamp) {
        self.monotonic = monotonic
        self.wall = wall
    }

    /// At the start of a run the latest that it may be, for whatever an earlier run has sent: what the wall clock says, or
    /// the last time that the earlier run believed, and two minutes: the earlier run noted that time once a minute, and a
    /// time server may have put the clock back by another. A clock that is further behind was put back by nobody knows how
    /// much: the end of time.
    ///
    /// - Parameter believed: `nil` where no run has believed any.
    public func latest(after believed: Timestamp?) -> Timestamp {
        guard let believed else { return wall }
        let (behind, isFar) = believed.milliseconds.subtractingReportingOverflow(wall.milliseconds)
        guard !isFar, behind <= 60_000 else { return Timestamp(milliseconds: .max) }
        return max(wall, believed).advanced(bySeconds: 120)
    }

    /// The monotonic time after `duration`, the end of time where there is none so late.
    func after(_ duration: Duration) -> Int64 {
        let (sum, isTooLate) = monotonic.addingReportingOverflow(duration.milliseconds)
        return isTooLate ? .max : sum
    }
}

extension Duration {
    /// Whole milliseconds, rounded down.
    var milliseconds: Int64 {
        let (whole, isTooLong) = components.seconds.multipliedReportingOverflow(by: 1_000)
        return isTooLong ? .max : whole &+ components.attoseconds / 1_000_000_000_000_000
    }
}
