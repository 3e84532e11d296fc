// SPDX-License-Identifier: Apache-2.0
import Foundation
import Journal
import POSAPI
import PaymentValues
import Transactions

/// A day of 20,000 transactions in one journal: what a page of it and its sums cost beside one durable write of the same disk.
enum BooksBenchmark {
    static let transactions = 20_000

    static func run() throws {
        Table.section("A day of \(transactions) transactions in the journal")
        let folder = FileManager.default.temporaryDirectory.appending(path: "tap-bench-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let journal = try Journal(directory: folder.path)
        try fill(journal)
        let write = try DiskProbe.writes(in: folder.path, count: 400)
        let yardstick = write.percentile(50)
        Table.yardstick("one write of 4 KiB made durable", p50: yardstick, p99: write.percentile(99))
        var held = TransactionFilter()
        held.states = [.approved]
        let first = try page(journal, TransactionFilter(), 50, after: nil)
        let middle = try middle(journal)
        try row("a page of 50, the newest", beside: yardstick, target: 20) {
            try page(journal, TransactionFilter(), 50, after: nil)
        }
        try row("a page of 50 in the middle of the day", beside: yardstick, target: 20) {
            try page(journal, TransactionFilter(), 50, after: middle)
        }
        try row("a page of 50 by state", beside: yardstick, target: 20) { try page(journal, held, 50, after: nil) }
        try row("totals of the day by scheme, type and lane", beside: yardstick, target: 100) {
            let day = try journal.openDay()
            let totals = try journal.totals(of: day, by: [.scheme, .type, .lane])
            // Nine of ten are approved, over 1 to 9 euros each.
            guard totals.net.count == 1, totals.net[0].value == expected else {
                throw BenchmarkError.wrongResult("the day comes to \(totals.net)")
            }
            return try WireJSON.encode(totals).count
        }
        guard first > 0 else { throw BenchmarkError.wrongResult("an empty page") }
    }

    private static func amount(_ number: Int) -> Int64 { Int64(number % 900 + 100) }

    private static func isApproved(_ number: Int) -> Bool { number % 10 != 0 }

    private static var expected: Int64 {
        (0..<transactions).filter(isApproved).reduce(0) { $0 + amount($1) }
    }

    private static func fill(_ journal: Journal) throws {
        guard let euro = Currency("EUR") else { throw BenchmarkError.wrongResult("no euro") }
        let begin = Timestamp.now
        let card = MaskedCard(scheme: "Visa", last4: "0010", masked: "************0010")
        for number in 0..<transactions {
            let id = TransactionID()
            let new = NewTransaction(
                id: id, owner: Principal(uid: 1_000), idempotencyKey: "key-\(number)", requestHash: "",
                type: .purchase, mode: .test, lane: "lane-\(number % 4)",
                amount: Money(value: amount(number), currency: euro), order: "A-\(number)", at: begin)
            guard case .created = try journal.create(new) else { throw BenchmarkError.wrongResult("not written") }
            var end = StateChange(isApproved(number) ? .approved : .declined)
            end.card = card
            end.result = PaymentResult(mode: .test, outcome: isApproved(number) ? .approved : .declined)
            try journal.append([.armed, .reading, .sealed, .sent].map { StateChange($0) } + [end], to: id)
        }
    }

    /// - Returns: how long its JSON is.
    private static func page(
        _ journal: Journal, _ filter: TransactionFilter, _ limit: Int, after cursor: String?
    ) throws -> Int {
        guard let page = try journal.list(filter, limit: limit, after: cursor), page.transactions.count == limit else {
            throw BenchmarkError.wrongResult("a page is missing")
        }
        let list = TransactionList(transactions: page.transactions, next: page.next, changes: nil)
        return try WireJSON.encode(list).count
    }

    /// A cursor half way down.
    private static func middle(_ journal: Journal) throws -> String? {
        var cursor: String?
        for _ in 0..<(transactions / 2 / 100) {
            cursor = try journal.list(TransactionFilter(), limit: 100, after: cursor)?.next
        }
        guard cursor != nil else { throw BenchmarkError.wrongResult("the pages end too early") }
        return cursor
    }

    private static func row(
        _ name: String, beside yardstick: Double, target: Double, _ body: () throws -> Int
    ) throws {
        var times: [Double] = []
        var total = 0
        for _ in 0..<41 {
            let start = Stopwatch.wallTime()
            total &+= try body()
            times.append(Double(Stopwatch.wallTime() - start))
        }
        Ballast.keep(total)
        times.sort()
        Table.row(
            name, ratio: times.percentile(50) / yardstick, p50: times.percentile(50), p99: times.percentile(99),
            target: target)
    }
}
