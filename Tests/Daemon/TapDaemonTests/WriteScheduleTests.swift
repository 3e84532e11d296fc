// SPDX-License-Identifier: Apache-2.0
import Foundation
import Journal
import LocalHTTP
import POSAPI
import PaymentValues
import ReaderVirtual
import Synchronization
import TestSupport
import Testing
import Transactions

@testable import TapDaemon

@Suite("How often a sale waits for the disk", .timeLimit(.minutes(15)))
struct WriteScheduleTests {
    /// Durable commits of one sale: before its payment service is asked, and before its till hears the end.
    private struct Cost: Equatable {
        var untilAsked: Int?
        var untilTold: Int
        var state: TransactionState
    }

    private func sell(
        _ folder: TestFolder, _ reply: String, _ amount: Int64 = 1_250, wish: Shop.Wish = .init(),
        card: String = "visa"
    ) async throws -> Cost {
        let counter = Mutex<CommitCount?>(nil)
        let asked = Mutex<Int?>(nil)
        var cost: Cost?
        try await withAdapter(in: folder) { request in
            guard request.method == .post, request.path.last == "authorizations" else { return .text(404, "{}") }
            let commits = counter.withLock { $0?.durableCommits }
            asked.withLock { $0 = $0 ?? commits }
            return reply.isEmpty ? .text(503, "{}") : .text(200, reply)
        } _: { _ in
            try await Shop.open(in: folder, wish) { shop in
                let count = await shop.daemon.runner.journal.commitCount
                counter.withLock { $0 = count }
                try await eventually("a payment service that is reached") { shop.daemon.health.state.state == .up }
                // The next notes are a minute away.
                await shop.daemon.notes.keepNow()
                let before = count.durableCommits
                try shop.reader.obey("present \(card)")
                let sale = try await shop.post(purchase(amount), wait: 60).transaction()
                cost = Cost(
                    untilAsked: asked.withLock { $0 }.map { $0 - before }, untilTold: count.durableCommits - before,
                    state: sale.state)
            }
        }
        return try #require(cost)
    }

    @Test(
        "W21: an approved sale waits once for the disk before the payment service is asked, and twice before it is told"
    )
    func approved() async throws {
        let cost = try await sell(try TestFolder(), #"{"outcome":"approved","approvalCode":"1"}"#)
        #expect(cost == Cost(untilAsked: 1, untilTold: 2, state: .approved))
    }

    @Test("W21: a declined sale waits once for the disk")
    func declined() async throws {
        let cost = try await sell(try TestFolder(), #"{"outcome":"declined","responseCode":"51"}"#)
        #expect(cost == Cost(untilAsked: 1, untilTold: 1, state: .declined))
    }

    @Test(
        "W22: no sale takes the log into the journal, nor has it the sealed card on a disk; ten minutes of rest do, and a log that is long"
    )
    func log() async throws {
        let folder = try TestFolder()
        try await withAdapter(in: folder) { request in
            .text(request.method == .post ? 200 : 404, #"{"outcome":"approved","approvalCode":"1"}"#)
        } _: { _ in
            try await Shop.open(in: folder) { shop in
                let notes = shop.daemon.notes
                let journal = await shop.daemon.runner.journal
                func sell(_ count: Int) async throws {
                    for _ in 0..<count {
                        try shop.reader.obey("present visa")
                        #expect(
                            try await shop.post(purchase(500, more: #","allowRepeat":true"#), wait: 60).transaction()
                                .state
                                == .approved)
                        try shop.reader.obey("remove")
                    }
                }
                func pass(_ minutes: Int64, _ start: Moment) async {
                    await notes.keepNow(at: Moment(monotonic: start.monotonic + minutes * 60_000, wall: start.wall))
                    // What was wished is done before this, or not at all.
                    await journal.pulse()
                }
                try await sell(2)
                let before = await journal.logSize()
                try await sell(4)
                let written = await journal.logSize() - before
                #expect(written > 0 && written <= 4 * 52_000, "\(written) bytes of four sales")
                let start = Moment.nowWithSleep
                await pass(0, start)
                let size = await journal.logSize()
                for minute in 1...9 as ClosedRange<Int64> { await pass(minute, start) }
                #expect(await journal.logSize() >= size && size > 0)
                let isSealed = try shop.journal("SELECT count(*) FROM payment WHERE authorization IS NOT NULL")
                let files = try ["", "-wal"].map {
                    try Data(contentsOf: URL(filePath: folder.path + "/state/journal.sqlite" + $0))
                }
                #expect(isSealed == "0" && files.allSatisfy { $0.range(of: Data(#""envelope""#.utf8)) == nil })
                await pass(11, start)
                try await eventually("an empty log") { await journal.logSize() == 0 }
                // At rest nothing more is taken in, however long that lasts.
                await pass(30, start)
                #expect(await journal.logSize() > 0)
                // Any commit makes the log longer.
                while await journal.logSize() <= StandingNotes.longestLog {
                    _ = try await journal.use { (journal) throws(JournalError) in try journal.reserveEvents(1) }
                }
                await pass(31, start)
                try await eventually("an empty log") { await journal.logSize() == 0 }
            }
        }
    }
}
