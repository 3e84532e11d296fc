// SPDX-License-Identifier: Apache-2.0

/// Pauses between attempts at what has to come to an end: one after each attempt. The last pause goes on.
public struct RetrySchedule: Equatable, Sendable {
    private let pauses: [Duration]

    public init(_ first: Duration, _ others: Duration...) { pauses = [first] + others }

    /// Pause before the next attempt.
    ///
    /// - Parameter attempts: that have failed, from 1.
    public func pause(after attempts: Int) -> Duration {
        let index = min(max(attempts, 1), pauses.count) - 1
        return pauses.indices.contains(index) ? pauses[index] : longest
    }

    /// The longest pause: what is due later was laid down by a clock that has been put back since.
    public var longest: Duration { pauses.reduce(.zero, max) }
}
