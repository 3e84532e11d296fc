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

@testable import TapDaemon

@Suite("How often a sale waits for the disk", .timeLimit(.minutes(2)))
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
                let count = await shop.daemon.store.journal.commitCount
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
}
