// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Dispatch
import Foundation
import LocalHTTP
import PaymentValues
import ReaderCore
import ReaderVirtual

/// A number of lanes that tap as fast as they can, or with a pause between two customers.
struct LoadRun {
    struct Report {
        let lanes: Int
        /// How often customers come, where they leave a pause.
        let pace: String
        let taps: Int
        let seconds: Double
        /// Nanoseconds.
        let processorPerTap: Double
        /// Nanoseconds, sorted.
        let totals: [Double]
        let deliveries: [Double]

        var line: String {
            let rate = (Double(taps) / seconds * 10).rounded() / 10
            return "\(lanes) lanes\(pace): \(taps) taps in \(Int(seconds)) s, \(rate) a second, "
                + "\(Table.duration(processorPerTap)) of the daemon's processor time each, none lost, none doubled"
        }
    }

    let lanes: Int
    /// Of each lane; the lanes begin one after the other, spread over one pause.
    var pause = Duration.zero

    func report(seconds: Int) async throws -> Report {
        let programs = try Programs(lanes: lanes)
        defer { programs.stop() }
        let desk = LoadDesk()
        let client = HTTPClient(path: programs.posSocket)
        let stream = try await client.events(HTTPClientRequest(.get, "/v1/events"), answerWithin: .seconds(5))
        let listening = Task { await desk.listen(to: stream) }
        defer { listening.cancel() }
        let connections = try await ConnectionPool(client, count: min(4, lanes))
        // The first taps make caches, pages and connections.
        _ = try await taps(until: Stopwatch.wallTime() + 1_000_000_000, programs, desk, connections)
        await desk.forgetTimes()
        let (start, processor) = (Stopwatch.wallTime(), try programs.daemonProcessorTime())
        let totals = try await taps(
            until: start + UInt64(seconds) * 1_000_000_000, programs, desk, connections)
        let wall = Double(Stopwatch.wallTime() - start) / 1_000_000_000
        let used = try programs.daemonProcessorTime() - processor
        try await check(programs, await desk.approved)
        return Report(
            lanes: lanes, pace: pause > .zero ? ", a customer every \(pause) at each" : "", taps: totals.count,
            seconds: wall,
            processorPerTap: Double(used) / Double(max(1, totals.count)),
            totals: totals.sorted(), deliveries: await desk.deliveries.sorted())
    }

    private func taps(
        until end: UInt64, _ programs: Programs, _ desk: LoadDesk, _ connections: ConnectionPool
    ) async throws -> [Double] {
        try await withThrowingTaskGroup(of: [Double].self) { group in
            for lane in 0..<lanes {
                let (name, reader) = (programs.laneName(lane), programs.readerSocket(lane))
                group.addTask {
                    var times: [Double] = []
                    if pause > .zero { try await Task.sleep(for: pause * lane / lanes) }
                    while Stopwatch.wallTime() < end {
                        times.append(try await LoadRun.tap(name, reader, desk, connections))
                        if pause > .zero { try await Task.sleep(for: pause) }
                    }
                    return times
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }

    private static func tap(
        _ lane: String, _ reader: String, _ desk: LoadDesk, _ connections: ConnectionPool
    ) async throws -> Double {
        try await command("present visa", reader)
        let start = Stopwatch.wallTime()
        let id = try await connections.start(lane: lane)
        try await desk.settled(id)
        let total = Double(Stopwatch.wallTime() - start)
        try await command("remove", reader)
        return total
    }

    /// On a thread of its own: it blocks, and the tasks that take events may not wait for it.
    private static func command(_ line: String, _ reader: String) async throws {
        let answer = try await withCheckedThrowingContinuation { done in
            DispatchQueue(label: "reader").async {
                done.resume(
                    with: Result {
                        try VirtualReaderSocket.send(
                            line, to: reader, until: monotonicNow().advanced(byMilliseconds: 10_000))
                    })
            }
        }
        guard answer.hasPrefix("ok") else { throw BenchmarkError.failed("reader: \(answer)") }
    }

    /// The payment service's books say the same as we have seen: each sale once, none besides.
    private func check(_ programs: Programs, _ approved: Set<String>) async throws {
        var client = HTTPClient(path: programs.adapterSocket)
        client.maximumAnswerBytes = 1 << 30
        let answer = try await client.send(HTTPClientRequest(.get, "/debug/ledger"), answerWithin: .seconds(60))
        struct Ledger: Decodable {
            struct Entry: Decodable {
                let id: String
                let authorised: Int64
                let reversed: Int64
            }
            let transactions: [Entry]
        }
        let ledger = try JSONDecoder().decode(Ledger.self, from: Data(answer.body))
        let booked = ledger.transactions.map(\.id)
        guard booked.count == approved.count, Set(booked) == approved else {
            throw BenchmarkError.wrongResult("\(approved.count) sales here, \(booked.count) in the books")
        }
        guard ledger.transactions.allSatisfy({ $0.authorised == LoadRun.amount && $0.reversed == 0 }) else {
            throw BenchmarkError.wrongResult("an amount in the books")
        }
    }

    static let amount: Int64 = 1_200
}
