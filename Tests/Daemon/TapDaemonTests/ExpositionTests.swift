// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import Metrics

@Suite("Prometheus' text format (requirements §10.9)")
struct ExpositionTests {
    @Test("A family is its help, its type and a line for each set of labels")
    func family() {
        var family = MetricFamily("taps_total", .counter, help: "Taps.")
        family.add(3, [("lane", "main"), ("state", "ready")])
        family.add(0.25)
        #expect(
            Exposition.text([family])
                == """
                # HELP taps_total Taps.
                # TYPE taps_total counter
                taps_total{lane="main",state="ready"} 3
                taps_total 0.25

                """)
    }

    @Test("What would end a label or a line is escaped")
    func escaping() {
        var family = MetricFamily("x", .gauge, help: "a\\b\nc \"d\"")
        family.add(1, [("name", "a\\b\nc\"d")])
        let lines = Exposition.text([family]).split(separator: "\n")
        #expect(lines == [#"# HELP x a\\b\nc "d""#, "# TYPE x gauge", #"x{name="a\\b\nc\"d"} 1"#])
    }

    @Test("A histogram's buckets count everything up to their bound, and the last one everything")
    func histogram() {
        var histogram = Histogram(bounds: [0.5, 1])
        for seconds in [0.25, 0.5, 0.75, 2] { histogram.observe(seconds: seconds) }
        var family = MetricFamily("t", .histogram, help: "h")
        family.add(histogram, [("phase", "gpo")])
        #expect(
            Exposition.text([family]).split(separator: "\n").dropFirst(2) == [
                #"t_bucket{phase="gpo",le="0.5"} 2"#, #"t_bucket{phase="gpo",le="1"} 3"#,
                #"t_bucket{phase="gpo",le="+Inf"} 4"#, #"t_sum{phase="gpo"} 3.5"#, #"t_count{phase="gpo"} 4"#,
            ])
    }

    @Test(
        "Numbers are written as Prometheus reads them",
        arguments: [(1.0, "1"), (0.5, "0.5"), (.infinity, "+Inf"), (-.infinity, "-Inf"), (.nan, "NaN")])
    func numbers(value: Double, text: String) {
        var family = MetricFamily("x", .gauge, help: "h")
        family.add(value)
        #expect(Exposition.text([family]).hasSuffix("\nx \(text)\n"))
    }

    @Test("A family without a value is left out, and bounds ascend")
    func empty() {
        #expect(Exposition.text([MetricFamily("x", .gauge, help: "h")]) == "")
        let bounds = Histogram.latencyBounds
        #expect(zip(bounds, bounds.dropFirst()).allSatisfy { $0 < $1 })
    }
}
