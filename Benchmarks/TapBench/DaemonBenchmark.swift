// SPDX-License-Identifier: Apache-2.0
import CardBytes
import POSAPI
import PaymentValues
import ReaderCore
import ReaderVirtual
import TapClient

/// One tap from the point of sale's request to its result: daemon, journal on disk, virtual reader, card in software,
/// envelope, and a payment service that opens it and checks the cryptogram.
enum DaemonBenchmark {
    private static let card = "visa"

    static func run(taps: Int) async throws {
        Table.section("One tap through nfc-tapd (own processes; card on the reader before the request; \(taps) taps)")
        let programs = try Programs()
        defer { programs.stop() }
        let client = try await TapClient.connect(to: programs.posSocket)
        var totals: [Double] = []
        var phases = PhaseTimes()
        // The first taps make caches, pages and connections.
        for number in -5..<taps {
            let (total, transaction) = try await tap(client, programs.readerSocket)
            guard transaction.state == .approved else {
                throw BenchmarkError.wrongResult("a tap ended \(transaction.state)")
            }
            guard number >= 0 else { continue }
            totals.append(total)
            phases.add(transaction)
        }
        totals.sort()
        let writes = try DiskProbe.writes(in: programs.path, count: 60)
        let write = writes.percentile(50)
        Table.yardstick("one 4 KiB write made durable in the same folder", p50: write, p99: writes.percentile(99))
        Table.row("request to result", p50: totals.percentile(50), p99: totals.percentile(99), beside: write)
        for (name, mean) in phases.means { Table.row("  \(name)", mean: mean, beside: write) }
    }

    /// So many approved sales one after the other, and nothing besides: for who counts what the daemon does.
    static func sales(_ times: Int) async throws {
        let programs = try Programs()
        defer { programs.stop() }
        let client = try await patientClient(of: programs)
        for _ in 0..<times {
            let transaction = try await tap(client, programs.readerSocket).1
            guard transaction.state == .approved else {
                throw BenchmarkError.wrongResult("a sale ended \(transaction.state)")
            }
        }
    }

    /// So many starts, each in a folder of its own, until the daemon says how it is.
    static func starts(_ times: Int) async throws {
        for _ in 0..<times {
            let programs = try Programs()
            defer { programs.stop() }
            _ = try await patientClient(of: programs)
        }
    }

    /// Under valgrind, on a machine that has other work, all takes a hundred times as long.
    private static func patientClient(of programs: Programs) async throws -> TapClient {
        var client = TapClient(path: programs.posSocket)
        client.answerTime = .seconds(300)
        for attempt in 0... {
            do throws(TapClientError) {
                _ = try await client.status()
                break
            } catch {
                guard error.code == .daemonNotRunning, attempt < 3_000 else { throw error }
            }
            try await Task.sleep(for: .milliseconds(100))
        }
        return client
    }

    static func tap(_ client: TapClient, _ reader: String) async throws -> (Double, Transaction) {
        try present(reader)
        guard let euro = Currency("EUR") else { throw BenchmarkError.failed("no currency EUR") }
        let request = TransactionRequest(type: .purchase, amount: Money(value: 1_200, currency: euro))
        let start = Stopwatch.wallTime()
        let tap = try await client.start(request, idempotencyKey: "bench-\(UInt64.random(in: .min ... .max))")
        let transaction = try await tap.settled()
        return (Double(Stopwatch.wallTime() - start), transaction)
    }

    static func present(_ reader: String) throws {
        try command("remove", reader)
        try command("present \(card)", reader)
    }

    private static func command(_ line: String, _ reader: String) throws {
        let deadline = monotonicNow().advanced(byMilliseconds: 60_000)
        let answer = try VirtualReaderSocket.send(line, to: reader, until: deadline)
        // No card to remove before the first tap.
        guard answer.hasPrefix("ok") || line == "remove" else { throw BenchmarkError.failed("reader: \(answer)") }
    }
}

/// The times between a transaction's states. They are noted in whole milliseconds, so only their mean says something.
private struct PhaseTimes {
    private var sums: [(name: String, milliseconds: Int64)] = []
    private(set) var count = 0

    var means: [(String, Double)] {
        sums.map { ($0.name, Double($0.milliseconds) * 1_000_000 / Double(max(count, 1))) }
    }

    mutating func add(_ transaction: Transaction) {
        count += 1
        for (from, to) in zip(transaction.history, transaction.history.dropFirst()) {
            let name = "\(from.state) → \(to.state)"
            let time = to.at.milliseconds - from.at.milliseconds
            if let index = sums.firstIndex(where: { $0.name == name }) {
                sums[index].milliseconds += time
            } else {
                sums.append((name, time))
            }
        }
    }
}
