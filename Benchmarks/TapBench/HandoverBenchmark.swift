// SPDX-License-Identifier: Apache-2.0
import Foundation

/// On an idle machine: from the card's last byte to the request at the payment service, one tap after the other.
enum HandoverBenchmark {
    static func run(taps: Int) async throws {
        Table.section("From a card's last byte to the adapter, one lane, \(taps) taps each")
        let writes = try DiskProbe.writes(in: NSTemporaryDirectory(), count: 300)
        let write = writes.percentile(50)
        Table.yardstick("one 4 KiB write made durable", p50: write, p99: writes.percentile(99))
        for (label, pause) in [("answers at once", useconds_t(0)), ("takes 10 ms for a command", 10_000)] {
            let times = try await HandoverRun().times(taps: taps, pause: pause)
            Table.row("card that \(label)", p50: times.percentile(50), p99: times.percentile(99), beside: write)
        }
        let pauses = PauseProbe.pauses(in: 5)
        Table.note(
            "beside it: a thread that only looks at the clock stood still for more than a millisecond "
                + "\(pauses.count) times in 5 s, at most for \(Table.duration(pauses.max() ?? 0))")
    }

    /// The same on eight lanes at once, with the slowest tap of a thousand.
    static func runLanes(taps: Int) async throws {
        Table.section("From a card's last byte to the adapter, 8 lanes at once, \(taps) taps")
        let writes = try DiskProbe.writes(in: NSTemporaryDirectory(), count: 1_000)
        let write = writes.percentile(50)
        Table.yardstick("one 4 KiB write made durable", p50: write, p99: writes.percentile(99))
        let times = try await HandoverRun().times(taps: taps, pause: 0, lanes: 8)
        Table.row("card that answers at once", p50: times.percentile(50), p99: times.percentile(99), beside: write)
        let slow = times.percentile(99.9)
        Table.row("  one tap of a thousand takes longer than", p50: slow, p99: times.last ?? slow, beside: write)
        let slowWrite = writes.percentile(99.9)
        Table.note(
            "beside one write of a thousand, \(Table.duration(slowWrite)): "
                + "× \((slow / slowWrite * 100).rounded() / 100)")
    }
}
