// SPDX-License-Identifier: Apache-2.0
/// Everything of one name: its help, its kind, and a value for each set of labels.
package struct MetricFamily: Sendable {
    package enum Kind: String, Sendable {
        case counter, gauge, histogram
    }

    package typealias Labels = [(name: String, value: String)]

    struct Sample: Sendable {
        let suffix: String
        let labels: Labels
        let value: Double
    }

    let name: String
    let help: String
    let kind: Kind
    private(set) var samples: [Sample] = []

    /// - Parameter name: letters, digits and `_`; a counter's ends with `_total`.
    package init(_ name: String, _ kind: Kind, help: String) {
        self.name = name
        self.kind = kind
        self.help = help
    }

    /// The value for one set of labels. Labels come from enumerations and the configuration, never from clients: each value
    /// that a label ever has is a series that somebody's database keeps.
    package mutating func add(_ value: Double, _ labels: Labels = []) {
        samples.append(Sample(suffix: "", labels: labels, value: value))
    }

    /// The buckets, which count everything up to their bound, the sum and the count.
    package mutating func add(_ histogram: Histogram, _ labels: Labels = []) {
        var below: UInt64 = 0
        for (bound, count) in zip(histogram.bounds, histogram.counts) {
            below &+= count
            bucket(Exposition.number(bound), below, labels)
        }
        bucket("+Inf", histogram.count, labels)
        samples.append(Sample(suffix: "_sum", labels: labels, value: histogram.sum))
        samples.append(Sample(suffix: "_count", labels: labels, value: Double(histogram.count)))
    }

    private mutating func bucket(_ bound: String, _ count: UInt64, _ labels: Labels) {
        samples.append(Sample(suffix: "_bucket", labels: labels + [("le", bound)], value: Double(count)))
    }
}
