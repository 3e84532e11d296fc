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

@Suite("A lane that stands alone", .timeLimit(.minutes(5)))
struct StandingLaneTests {
    private func shop(
        _ mode: StandingMode, in folder: TestFolder? = nil, _ change: (inout StandingSettings) -> Void = { _ in },
        _ body: (Shop) async throws -> Void
    ) async throws {
        let folder = try folder ?? TestFolder()
        var wish = Shop.Wish()
        var settings = StandingSettings(
            mode: mode, amount: Money(value: 2_500, currency: try #require(Currency("EUR"))))
        (settings.maximum, settings.debounce, settings.claim) = (5_000, 0, 600)
        change(&settings)
        wish.standing = settings
        let asked = wish
        try await withSandbox(in: folder) { _ in
            try await Shop.open(in: folder, asked) { shop in
                _ = try await eventually("what the payment service can do") { shop.daemon.health.supports }
                try await body(shop)
            }
        }
    }

    /// A card comes and goes; the session that it begins, once it is in one of these states.
    private func tap(_ shop: Shop, _ number: Int64, _ state: Session.State = .offered) async throws -> Session {
        try await presenting(shop) { try await sessions(shop).contains { $0.tap == number } }
        let session = try await eventually("session \(number), \(state)") {
            try await sessions(shop).first { $0.tap == number && $0.state == state }
        }
        try shop.reader.obey("remove")
        return session
    }

    /// A card comes, again and again until it was seen: one that comes before the reader has seen the field empty is the one before.
    private func presenting(_ shop: Shop, _ isSeen: () async throws -> Bool) async throws {
        for _ in 0..<60 {
            try shop.reader.obey("present visa")
            let end = ContinuousClock.now.advanced(by: .seconds(4))
            while ContinuousClock.now < end {
                if try await isSeen() { return }
                try await Task.sleep(for: .milliseconds(20))
            }
            try shop.reader.obey("remove")
            try await Task.sleep(for: .milliseconds(500))
        }
        Issue.record("no card was seen")
    }

    private func sessions(_ shop: Shop, _ query: String = "") async throws -> [Session] {
        let answer = try await shop.get("/v1/sessions\(query)")
        return try WireJSON.decode(SessionList.self, from: answer.body).sessions
    }

    private func call(
        _ shop: Shop, _ session: Session, _ call: String, _ body: String = ""
    ) async throws -> (status: Int, session: Session?) {
        let answer = try await shop.post(to: "/v1/sessions/\(session.id)/\(call)", body)
        return (answer.status, try? WireJSON.decode(Session.self, from: answer.body))
    }

    private func armed(_ shop: Shop) async throws -> StandingLane {
        try WireJSON.decode(StandingLane.self, from: try await shop.get("/v1/lanes/lane-0/standing").body)
    }

    @Test("One presentation makes one hold; the machine claims it, takes what was used, and is told the same again")
    func hold() async throws {
        try await shop(.hold) { shop in
            let session = try await tap(shop, 1)
            #expect(session.amount.value == 2_500 && session.claimBy != nil && session.card != nil)
            #expect(try await call(shop, session, "commit", #"{"amount":1}"#).status == 409)
            let claimed = try await call(shop, session, "claim", #"{"reference":"TOK001"}"#)
            #expect(claimed.status == 200 && claimed.session?.state == .open && claimed.session?.releaseAt != nil)
            #expect(try await call(shop, session, "claim", #"{"reference":"TOK001"}"#).session == claimed.session)
            #expect(try await call(shop, session, "claim", #"{"reference":"TOK002"}"#).status == 409)
            #expect(try await call(shop, session, "keep", #"{"seconds":60}"#).session?.state == .open)
            let more = try await call(shop, session, "increase", #"{"total":4000}"#)
            #expect(more.session?.amount.value == 4_000)
            #expect(try await call(shop, session, "increase", #"{"total":5001}"#).status == 422)
            #expect(try await call(shop, session, "commit", #"{"amount":4001}"#).status == 422)
            for _ in 0..<2 {
                let taken = try await call(shop, session, "commit", #"{"amount":1210}"#)
                #expect(taken.status == 200 && taken.session?.state == .committed)
                #expect(taken.session?.captured?.value == 1_210)
            }
            #expect(try await call(shop, session, "release").status == 410)
            #expect(try await call(shop, session, "commit", #"{"amount":1209}"#).status == 410)
            let account = try await shop.get("/v1/transactions/\(session.id)").transaction().account
            #expect(account?.captured == 1_210 && account?.remaining == 0)
            #expect(try await sessions(shop, "?reference=TOK001").map(\.id) == [session.id])
            #expect(try await sessions(shop, "?open=true").isEmpty)
            #expect(try await armed(shop).tap == 1)
            let events = try await shop.client.events(
                HTTPClientRequest(.get, "/v1/events?vocabulary=3", fields: ["Last-Event-ID": "0"]),
                answerWithin: hangLimit)
            var names: [EventName] = []
            for try await next in events {
                let event = try WireJSON.decode(Event.self, from: Array(next.data.utf8))
                if event.tap == 1 { names.append(event.name) }
                if event.name == .sessionCommitted { break }
            }
            #expect(names == [.tapOffered, .sessionClaimed, .sessionCommitted])
        }
    }

    @Test("A sale that no machine claims is taken back, and a claimed one whose goods did not come is given back")
    func sale() async throws {
        try await shop(.sale, { $0.claim = 1 }) { shop in
            let unclaimed = try await tap(shop, 1, .released)
            #expect(try await call(shop, unclaimed, "claim", #"{"reference":"A"}"#).status == 410)
        }
        try await shop(.sale) { shop in
            let session = try await tap(shop, 1)
            let claimed = try await call(shop, session, "claim", #"{"reference":"A"}"#)
            #expect(claimed.session?.state == .committed && claimed.session?.captured?.value == 2_500)
            #expect(try await call(shop, session, "release").session?.state == .released)
            #expect(try await call(shop, session, "claim", #"{"reference":"A"}"#).status == 410)
        }
    }

    @Test("A restart keeps a claimed hold, its number and whether the lane is armed; its time over, the hold goes back")
    func restart() async throws {
        let folder = try TestFolder()
        var first: Session?
        try await shop(.hold, in: folder) { shop in
            let session = try await tap(shop, 1)
            _ = try await call(shop, session, "claim", #"{"reference":"TOK001"}"#)
            let body = Array(#"{"armed":false,"amount":300}"#.utf8)
            let request = HTTPClientRequest(
                .put, "/v1/lanes/lane-0/standing", fields: ["Content-Type": "application/json"], body: body)
            #expect(try await shop.send(request).status == 200)
            first = session
        }
        let session = try #require(first)
        try await shop(.hold, in: folder) { shop in
            let lane = try await armed(shop)
            #expect(!lane.armed && lane.amount.value == 300 && lane.tap == 1 && lane.open == [session.id])
            #expect(try await call(shop, session, "claim", #"{"reference":"TOK001"}"#).session?.state == .open)
            let now = Moment.nowWithSleep
            await shop.daemon.standing.expect(session.id, at: now.wall, from: now)
            try await eventually("a hold that goes back") {
                try await sessions(shop).first?.state == .released
            }
        }
    }

    @Test("A lane that is armed writes nothing")
    func rest() async throws {
        try await shop(.hold) { shop in
            let journal = await shop.daemon.store.journal
            try await eventually("a lane that waits for a card") {
                await shop.daemon.store.books.standing["lane-0"] != nil
            }
            await shop.daemon.notes.keepNow()
            let (commits, begun) = (journal.commitCount.commits, ContinuousClock.now)
            // Each round ends one wait and begins another.
            for _ in 0..<8 {
                await shop.daemon.store.change { $0.standing["lane-0"]?.cancel() }
                try await Task.sleep(for: .milliseconds(200))
            }
            let minutes = begun.duration(to: .now) / .seconds(60)
            #expect(Double(journal.commitCount.commits - commits) <= 1 + minutes)
            // A till gets no lane that waits for a machine's customers.
            let refused = try await eventually("a lane that waits again") { () async throws -> Answer? in
                let answer = try await shop.post(purchase(100, more: #","lane":"lane-0","dryRun":true"#))
                return answer.status == 409 ? answer : nil
            }
            #expect(try refused.error().code == "reader.busy")
            #expect(try await shop.get("/v1/status").status == 200)
        }
    }

    @Test("Only a machine claims, and a machine takes no other payment; a till's gateway gives nobody that role")
    func roles() throws {
        #expect(throws: ErrorBody.self) { try Set<Role>([.machine, .monitor]).require(.cashier, or: .loyalty) }
        #expect(throws: ErrorBody.self) { try Set<Role>([.cashier, .monitor]).require(.machine) }
        var caller = Caller(
            kind: .program, principal: Principal(uid: 7), roles: [.machine, .monitor], ceiling: nil)
        let view = caller.view(in: 3, for: .nobody, standing: ["pump"])
        #expect(view.lanes == ["pump"] && view.seesResults)
        caller = Caller(kind: .program, principal: Principal(uid: 7), roles: [.monitor], ceiling: nil)
        #expect(caller.view(in: 3, for: .nobody, standing: ["pump"]).lanes == nil)
    }
}
