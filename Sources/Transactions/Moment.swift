// SPDX-License-Identifier: Apache-2.0
public import Wire

/// What a machine knows of the time when something happens. It never asks for it.
public struct Moment: Equatable, Sendable {
    /// Milliseconds of a clock that never jumps; where they begin does not matter.
    public var monotonic: Int64
    public var wall: Timestamp

    public init(monotonic: Int64, wall: Timestamp) {
        self.monotonic = monotonic
        self.wall = wall
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
