// SPDX-License-Identifier: Apache-2.0
import PaymentValues
import TapClient

/// What monitors that come back for every event again and again add to a payment: blocks of taps with six of them and
/// without, in turn, in one run.
enum MonitorBenchmark {
    private static let monitors = 6
    private static let block = 20

    static func run(taps: Int) async throws {
        Table.section(
            "One tap while \(monitors) monitors replay every event from the first, in a loop (\(taps) taps each)")
        let programs = try Programs()
        defer { programs.stop() }
        let path = programs.posSocket
        let client = try await TapClient.connect(to: programs.posSocket)
        // The ring of events is full before anything is measured.
        for _ in 0..<150 { _ = try await DaemonBenchmark.tap(client, programs.readerSocket) }
        var quiet: [Double] = []
        var watched: [Double] = []
        while watched.count < taps {
            for _ in 0..<block { quiet.append(try await DaemonBenchmark.tap(client, programs.readerSocket).0) }
            let watching = (0..<monitors).map { _ in Task { await watch(path) } }
            for _ in 0..<block { watched.append(try await DaemonBenchmark.tap(client, programs.readerSocket).0) }
            for task in watching { task.cancel() }
            for task in watching { await task.value }
        }
        quiet.sort()
        watched.sort()
        Table.yardstick("the same tap without monitors", p50: quiet.percentile(50), p99: quiet.percentile(99))
        Table.row(
            "request to result", p50: watched.percentile(50), p99: watched.percentile(99), beside: quiet.percentile(50))
        Table.row("median with monitors", ratio: watched.percentile(50) / quiet.percentile(50), target: 1.1)
    }

    /// Asks for everything from the first event, takes it, and does so again.
    private static func watch(_ path: String) async {
        while !Task.isCancelled {
            var seen = 0
            do throws(TapClientError) {
                for try await _ in TapClient(path: path).events(after: 0, maximumOutage: .zero) {
                    seen += 1
                    if seen >= 1_000 || Task.isCancelled { break }
                }
            } catch {
                await Task.yield()
            }
        }
    }
}
