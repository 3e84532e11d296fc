// SPDX-License-Identifier: Apache-2.0
import Configuration
import Foundation
import Journal
import LocalHTTP
import POSAPI
import PaymentValues
import ReaderCore
import ReaderVirtual
import TestSupport
import Testing
import Transactions

@testable import TapDaemon

/// Mode `ask`: a tap is read, kept and offered, and sent once a machine claims it.
extension StandingLaneTests {
    /// How often something was sent, and how many sealed records of a card are in the journal.
    private func sent(_ shop: Shop) throws -> String {
        try shop.journal(
            """
            SELECT (SELECT count(*) FROM state_change WHERE state = 'sent') || ' sent, '
                || (SELECT count(*) FROM payment WHERE authorization IS NOT NULL) || ' kept'
            """)
    }

    private func state(_ shop: Shop, _ session: Session) async throws -> Transaction {
        try await shop.get("/v1/transactions/\(session.id)").transaction()
    }

    @Test("L9: a tap holds no money before its machine claims it; a card that lies there all the time pays once")
    func asked() async throws {
        try await shop(.ask) { shop in
            let journal = await shop.daemon.runner.journal
            try await eventually("a lane that waits for a card") {
                await shop.daemon.runner.books.standing["lane-0"] != nil
            }
            await shop.daemon.notes.keepNow()
            let before = journal.commitCount.durableCommits
            try shop.reader.obey("present visa")
            let offered = try await event(shop, .tapOffered)
            // What is offered rests on nothing that has to be on the disk. A note of the minute may come in between.
            #expect(journal.commitCount.durableCommits - before <= 2)
            #expect(offered.amount?.value == 2_500 && offered.tap == 1 && offered.card != nil)
            let session = try #require(try await sessions(shop).first)
            #expect(session.state == .offered && session.id == offered.transaction && session.card == offered.card)
            #expect(session.claimBy != nil && session.mode == .ask)
            #expect(try sent(shop) == "0 sent, 0 kept")
            #expect(try await call(shop, session, "commit", #"{"amount":1}"#).status == 409)
            let claimed = try await call(shop, session, "claim", #"{"reference":"TOK001"}"#)
            #expect(claimed.status == 200 && claimed.session?.state == .open && claimed.session?.releaseAt != nil)
            #expect(try await call(shop, session, "claim", #"{"reference":"TOK001"}"#).session == claimed.session)
            #expect(try await call(shop, session, "claim", #"{"reference":"TOK002"}"#).status == 409)
            let told = try await event(shop, .sessionClaimed)
            #expect(told.reference == "TOK001" && told.amount?.value == 2_500 && told.transaction == session.id)
            let taken = try await call(shop, session, "commit", #"{"amount":1210}"#)
            #expect(taken.session?.state == .committed && taken.session?.captured?.value == 1_210)
            try shop.reader.obey("remove")
            #expect(try sent(shop) == "1 sent, 0 kept")
            #expect(try await sessions(shop).count == 1)
            let trail = try shop.journal("SELECT detail FROM audit WHERE kind = 'session' ORDER BY sequence")
            #expect(trail.hasPrefix("claimed uid ") && !trail.contains("\n"))
        }
    }

    @Test("L10: what no machine claims is forgotten and told, nothing was sent for it, and a late claim gets nothing")
    func unclaimed() async throws {
        try await shop(.ask, { $0.claim = 1 }) { shop in
            let session = try await tap(shop, 1, .released)
            let told = try await event(shop, .sessionReleased)
            #expect(told.transaction == session.id && told.tap == 1 && told.amount?.value == 2_500)
            let transaction = try await state(shop, session)
            #expect(transaction.state == .failed && transaction.error?.code == ErrorCode.readExpired.rawValue)
            #expect(try await call(shop, session, "claim", #"{"reference":"A"}"#).status == 410)
            #expect(try sent(shop) == "0 sent, 0 kept")
            _ = try await tap(shop, 2, .released)
        }
        try await shop(.ask) { shop in
            let session = try await tap(shop, 1)
            for _ in 0..<2 {
                #expect(try await call(shop, session, "release").session?.state == .released)
            }
            #expect(try await event(shop, .sessionReleased).transaction == session.id)
            #expect(try await state(shop, session).state == .cancelled)
            #expect(try await call(shop, session, "claim", #"{"reference":"A"}"#).status == 410)
            #expect(try sent(shop) == "0 sent, 0 kept")
        }
    }

    @Test("L11: while one machine makes up its mind the reader takes the next card, and each claim sends its own read")
    func twoPoints() async throws {
        try await shop(.ask, { $0.openSessions = 2 }) { shop in
            let first = try await tap(shop, 1)
            let second = try await tap(shop, 2)
            try shop.reader.obey("present visa")
            #expect(try await event(shop, .tapRefused).refused == .openSessions)
            try shop.reader.obey("remove")
            #expect(try await call(shop, second, "claim", #"{"reference":"PLUG-2"}"#).session?.state == .open)
            #expect(try await call(shop, first, "claim", #"{"reference":"PLUG-1"}"#).session?.state == .open)
            #expect(try sent(shop) == "2 sent, 0 kept")
            let states = try await sessions(shop, "?open=true").map { "\($0.tap) \($0.reference ?? "")" }
            #expect(states == ["2 PLUG-2", "1 PLUG-1"])
        }
    }

    @Test("L12: a read that was kept ends with its run: a stop waits for no claim, and the next run sends nothing")
    func askedOverRestart() async throws {
        let folder = try TestFolder()
        var first: Session?
        try await shop(.ask, in: folder) { shop in first = try await tap(shop, 1) }
        let session = try #require(first)
        try await shop(.ask, in: folder) { (shop: Shop) async throws in
            #expect(try await call(shop, session, "claim", #"{"reference":"A"}"#).status == 410)
            #expect(try await state(shop, session).cancelledBy == .shutdown)
            #expect(try await sessions(shop, "?open=true").isEmpty)
            #expect(try sent(shop) == "0 sent, 0 kept")
            #expect(try await tap(shop, 2).state == .offered)
        }
    }

    @Test("A claim whose hold is declined gets nothing, and the lane hears why")
    func declinedClaim() async throws {
        try await shop(.ask, { $0.amount.value = 2_551 }) { shop in
            let session = try await tap(shop, 1)
            #expect(try await call(shop, session, "claim", #"{"reference":"A"}"#).status == 410)
            #expect(try await call(shop, session, "claim", #"{"reference":"A"}"#).status == 410)
            let declined = try await event(shop, .paymentDeclined)
            #expect(declined.lane == "lane-0" && declined.result?.responseCode == "51")
            #expect(try sent(shop) == "1 sent, 0 kept")
            _ = try await tap(shop, 2)
        }
    }
}
