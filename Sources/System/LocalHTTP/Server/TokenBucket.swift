// SPDX-License-Identifier: Apache-2.0

/// How often somebody may ask: it fills up by itself, and gives one for each request. Time is in nanoseconds of a clock that nobody sets.
package struct TokenBucket: Sendable {
    private var level: Double
    private var filledAt: UInt64

    package init(level: Double, filledAt: UInt64) {
        self.level = level
        self.filledAt = filledAt
    }

    /// - Parameters:
    ///   - rate: requests in a second.
    ///   - burst: so many may come at once.
    /// - Returns: seconds to wait; `nil` where there was one.
    package mutating func take(_ rate: Double, _ burst: Double, _ now: UInt64) -> Int? {
        level = min(burst, level + Double(now &- filledAt) / 1e9 * rate)
        filledAt = now
        guard level < 1 else {
            level -= 1
            return nil
        }
        return max(1, Int(((1 - level) / rate).rounded(.up)))
    }
}
