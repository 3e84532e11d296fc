// SPDX-License-Identifier: Apache-2.0
/// Counts of times by how long they were.
package struct Histogram: Equatable, Sendable {
    /// Upper ends of the buckets in seconds, ascending; what is longer goes into one more.
    package let bounds: [Double]
    /// For each bucket alone, the last for what is beyond all bounds.
    package private(set) var counts: [UInt64]
    /// Seconds in all.
    package private(set) var sum = 0.0

    /// From half a millisecond to ten seconds: what a tap's phases take.
    package static let latencyBounds = [
        0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10,
    ]

    package init(bounds: [Double] = latencyBounds) {
        self.bounds = bounds
        counts = [UInt64](repeating: 0, count: bounds.count + 1)
    }

    package var count: UInt64 { counts.reduce(0, &+) }

    package mutating func observe(seconds: Double) {
        let index = bounds.firstIndex { seconds <= $0 } ?? bounds.count
        counts[index] &+= 1
        sum += seconds
    }
}
