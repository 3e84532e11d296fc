// SPDX-License-Identifier: Apache-2.0
import Foundation
import PaymentValues

/// Many lanes at once, against one daemon and one payment service: what it takes, and that nothing is lost or doubled.
enum LoadBenchmark {
    static func run(seconds: Int) async throws {
        Table.section(
            "Load: lanes with virtual readers, each tapping again and again (journal on this disk; card, client and "
                + "payment service on the same processors)")
        let writes = try DiskProbe.writes(in: NSTemporaryDirectory(), count: 300)
        let write = writes.percentile(50)
        Table.yardstick("one 4 KiB write made durable", p50: write, p99: writes.percentile(99))
        var costs: [Int: Double] = [:]
        for lanes in [1, 8, 64] {
            let time = lanes == 64 ? seconds : max(1, seconds / 3)
            let report = try await LoadRun(lanes: lanes).report(seconds: time)
            costs[lanes] = report.processorPerTap
            print(report, beside: write)
        }
        if let one = costs[1], let all = costs[64] {
            Table.row("processor time of the daemon for a tap, 64 lanes beside 1", ratio: all / one, target: 1.3)
        }
        // As in a large shop: most lanes wait for a customer, and the processors for work.
        print(
            try await LoadRun(lanes: 64, pause: .seconds(2)).report(seconds: max(1, seconds / 3)),
            beside: write)
    }

    private static func print(_ report: LoadRun.Report, beside write: Double) {
        Table.note(report.line)
        Table.row(
            "  request to result", p50: report.totals.percentile(50), p99: report.totals.percentile(99), beside: write)
        Table.row(
            "  event's time stamp (cut to a millisecond) to its receipt", p50: report.deliveries.percentile(50),
            p99: report.deliveries.percentile(99), beside: write)
    }
}
