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

    /// What the wall clock says `later` if it has run since like the monotonic one.
    public func wall(at later: Moment) -> Timestamp {
        let (elapsed, isFar) = later.monotonic.subtractingReportingOverflow(monotonic)
        let (sum, isTooLate) = wall.milliseconds.addingReportingOverflow(isFar ? 0 : max(0, elapsed))
        return Timestamp(milliseconds: isTooLate ? .max : sum)
    }

    /// The moment at which the wall clock says `time` if it runs from here on like the monotonic one.
    public func moment(of time: Timestamp) -> Moment {
        let ahead = time.milliseconds.distance(from: wall.milliseconds)
        let (sum, isFar) = monotonic.addingReportingOverflow(ahead)
        return Moment(monotonic: isFar ? (ahead < 0 ? .min : .max) : sum, wall: time)
    }

    /// Milliseconds until `end`, by whichever clock says less; negative where one of them is past it.
    func left(until end: Moment) -> Int64 {
        min(
            end.monotonic.distance(from: monotonic), end.wall.milliseconds.distance(from: wall.milliseconds))
    }

    /// The latest that it may be, for whatever was sent before: what the wall clock says, or the last time that an earlier
    /// run believed with what has gone by since, and two minutes: that run noted its time once a minute, and a time server
    /// may have put the clock back by another.
    ///
    /// - Parameters:
    ///   - known: that time, with the beginning of this run; `nil` where no run has believed any.
    ///   - isConfirmed: another clock says what the wall clock says.
    /// - Returns: `nil` where the clock is behind it: it was put back by nobody knows how much.
    public func latest(after known: Moment?, isConfirmed: Bool = false) -> Timestamp? {
        guard let earliest = known?.wall(at: self) else { return wall }
        guard isConfirmed || wall >= earliest.advanced(bySeconds: -60) else { return nil }
        return max(wall, earliest).advanced(bySeconds: 120)
    }

    /// The monotonic time after `duration`, the end of time where there is none so late.
    func after(_ duration: Duration) -> Int64 {
        let (sum, isTooLate) = monotonic.addingReportingOverflow(duration.milliseconds)
        return isTooLate ? .max : sum
    }
}

extension Int64 {
    /// This minus `earlier`; the end of the range where there is none so far.
    fileprivate func distance(from earlier: Int64) -> Int64 {
        let (difference, isFar) = subtractingReportingOverflow(earlier)
        return isFar ? (self < earlier ? .min : .max) : difference
    }
}

extension Duration {
    /// Whole milliseconds, rounded down.
    var milliseconds: Int64 {
        let (whole, isTooLong) = components.seconds.multipliedReportingOverflow(by: 1_000)
        return isTooLong ? .max : whole &+ components.attoseconds / 1_000_000_000_000_000
    }
}
