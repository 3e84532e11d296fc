// SPDX-License-Identifier: Apache-2.0
import Configuration
import Foundation
import Journal
import LocalHTTP
import POSAPI
import PaymentValues
import ReaderCore
import ReaderVirtual
import Synchronization
import TestSupport
import Testing
import Transactions

@testable import TapDaemon

@Suite("A lane that stands alone", .timeLimit(.minutes(5)))
struct StandingLaneTests {
    func shop(
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
    func tap(_ shop: Shop, _ number: Int64, _ state: Session.State = .offered) async throws -> Session {
        try shop.reader.obey("present visa")
        let session = try await eventually("session \(number), \(state)") {
            try await sessions(shop).first { $0.tap == number && $0.state == state }
        }
        try shop.reader.obey("remove")
        return session
    }

    /// The first event of that name, whenever it was.
    func event(_ shop: Shop, _ name: EventName) async throws -> Event {
        let stream = try await shop.client.events(
            HTTPClientRequest(.get, "/v1/events?vocabulary=3", fields: ["Last-Event-ID": "0"]),
            answerWithin: hangLimit)
        for try await next in stream where next.name == name.rawValue {
            return try WireJSON.decode(Event.self, from: Array(next.data.utf8))
        }
        throw Missing(name: name)
    }

    struct Missing: Error { let name: EventName }

    func sessions(_ shop: Shop, _ query: String = "") async throws -> [Session] {
        let answer = try await shop.get("/v1/sessions\(query)")
        return try WireJSON.decode(SessionList.self, from: answer.body).sessions
    }

    func call(
        _ shop: Shop, _ session: Session, _ call: String, _ body: String = ""
    ) async throws -> (status: Int, session: Session?) {
        let answer = try await shop.post(to: "/v1/sessions/\(session.id)/\(call)", body)
        return (answer.status, try? WireJSON.decode(Session.self, from: answer.body))
    }

    func set(_ shop: Shop, _ body: String) async throws {
        let request = HTTPClientRequest(
            .put, "/v1/lanes/lane-0/standing", fields: ["Content-Type": "application/json"], body: Array(body.utf8))
        #expect(try await shop.send(request).status == 200)
    }

    func armed(_ shop: Shop) async throws -> StandingLane {
        try WireJSON.decode(StandingLane.self, from: try await shop.get("/v1/lanes/lane-0/standing").body)
    }

    @Test("L4: one presentation makes one hold; the machine claims it, takes what was used, and is told the same again")
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

    @Test("L1: a card that lies there begins one session, one beyond the open sessions none, and a machine hears of it")
    func oneTap() async throws {
        try await shop(.hold) { shop in
            try shop.reader.obey("present visa")
            let first = try await eventually("an offer") { try await sessions(shop).first { $0.state == .offered } }
            // It lies there when its session ends, and while the lane waits again.
            #expect(try await call(shop, first, "release").session?.state == .released)
            try await eventually("a lane that waits for a card") {
                await shop.daemon.runner.books.standing["lane-0"] != nil
            }
            try shop.reader.obey("remove")
            let second = try await tap(shop, 2)
            #expect(try await sessions(shop).map(\.tap) == [2, 1] && second.id != first.id)
            try shop.reader.obey("present visa")
            let refused = try await event(shop, .tapRefused)
            #expect(refused.refused == .openSessions && refused.tap == 3 && refused.transaction == nil)
            try shop.reader.obey("remove")
            #expect(try shop.journal("SELECT count(*) FROM payment") == "2")
        }
    }

    @Test(
        "L3: a machine switches its lane off and on while the daemon runs; a card on a lane that is off begins nothing")
    func disarmed() async throws {
        try await shop(.hold) { shop in
            try await set(shop, #"{"armed":false}"#)
            try await eventually("a lane that waits for nobody") {
                await shop.daemon.runner.books.standing["lane-0"] == nil
            }
            try shop.reader.obey("present visa")
            #expect(try await shop.get("/v1/status").status == 200)
            try shop.reader.obey("remove")
            #expect(try await armed(shop).tap == 0)
            try await set(shop, #"{"armed":true,"amount":300}"#)
            #expect(try await tap(shop, 1).amount.value == 300)
            let trail = try shop.journal("SELECT detail FROM audit WHERE kind = 'session' ORDER BY sequence")
            let lines = trail.split(separator: "\n").map(String.init)
            #expect(lines.count == 2 && lines.first?.hasPrefix("disarmed uid ") == true)
            #expect(lines.last?.hasPrefix("armed, asks for 300 uid ") == true)
        }
    }

    /// While a lane is armed its next wait lights the lamp anew. One that was disarmed meanwhile, or that cannot be had, waits for nobody.
    @Test("R3: a tap that was refused leaves no lamp on where nobody waits for the next card")
    func refusedLamp() async throws {
        try await shop(.hold) { shop in
            try await set(shop, #"{"armed":false}"#)
            try await eventually("a lane that waits for nobody") {
                await shop.daemon.runner.books.standing["lane-0"] == nil
            }
            let lane = try #require(await shop.daemon.runner.books.lanes.table["lane-0"]).device.lane
            await shop.daemon.standing.refuse("lane-0", 1, .notReady, lane)
            try await eventually("a lamp that is out") { try shop.reader.obey("state").contains("feedback=idle") }
        }
    }

    @Test("L6: as many sessions as may be open stand beside each other, and each ends by itself")
    func openSessions() async throws {
        try await shop(.hold, { $0.openSessions = 3 }) { shop in
            var open: [Session] = []
            for number in 1...3 { open.append(try await tap(shop, Int64(number))) }
            try shop.reader.obey("present visa")
            #expect(try await event(shop, .tapRefused).refused == .openSessions)
            try shop.reader.obey("remove")
            for (index, session) in open.enumerated() {
                let claimed = try await call(shop, session, "claim", #"{"reference":"PLUG-\#(index)"}"#)
                #expect(claimed.session?.state == .open)
            }
            #expect(try await armed(shop).open.count == 3)
            #expect(
                try await call(shop, open[1], "commit", #"{"amount":700}"#).session?.captured?.value == 700)
            #expect(try await call(shop, open[0], "release").session?.state == .released)
            #expect(try await armed(shop).open == [open[2].id])
            // There is room again.
            _ = try await tap(shop, 4)
            #expect(try await sessions(shop, "?reference=PLUG-2").first?.state == .open)
            let states = try await sessions(shop).map { "\($0.tap) \($0.state.rawValue)" }
            #expect(states == ["4 offered", "3 open", "2 committed", "1 released"])
        }
    }

    @Test("L2: a hold that goes back soon is told of once, who claimed and kept it is in the audit chain")
    func expiring() async throws {
        try await shop(.hold) { shop in
            let session = try await tap(shop, 1)
            _ = try await call(shop, session, "claim", #"{"reference":"TOK001"}"#)
            // The first half is over at once, the second in an hour.
            let rules = SessionRules(release: 7_200, maximum: 5_000, warning: 7_200)
            let now = Moment.nowWithSleep
            let past = Moment(monotonic: now.monotonic - 3_600_000, wall: now.wall)
            await shop.daemon.standing.expect(
                session.id, at: now.wall.advanced(bySeconds: 7_200), rules, from: past)
            let told = try await event(shop, .sessionExpiring)
            #expect(told.transaction == session.id && told.tap == 1 && told.reference == "TOK001")
            #expect(told.amount == session.amount)
            #expect(try await call(shop, session, "keep", #"{"seconds":3600}"#).session?.state == .open)
            let trail = try shop.journal("SELECT detail FROM audit WHERE kind = 'session' ORDER BY sequence")
            let lines = trail.split(separator: "\n").map(String.init)
            #expect(lines.count == 2 && lines.first?.hasPrefix("claimed uid ") == true)
            #expect(lines.last?.hasPrefix("kept until 20") == true && lines.last?.contains(" uid ") == true)
        }
    }

    @Test("L7: a stop waits for no claim, and the machine hears of the offer again after the start")
    func offerOverRestart() async throws {
        let folder = try TestFolder()
        var first: Session?
        try await shop(.hold, in: folder) { shop in first = try await tap(shop, 1) }
        let session = try #require(first)
        try await shop(.hold, in: folder) { shop in
            let offered = try await event(shop, .tapOffered)
            #expect(offered.transaction == session.id && offered.tap == 1 && offered.lane == "lane-0")
            #expect(offered.amount == session.amount && offered.card == session.card)
            #expect(try await sessions(shop, "?open=true").first?.state == .offered)
            #expect(try await call(shop, session, "claim", #"{"reference":"A"}"#).session?.state == .open)
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
            try await set(shop, #"{"armed":false,"amount":300}"#)
            first = session
        }
        let session = try #require(first)
        try await shop(.hold, in: folder) { shop in
            let lane = try await armed(shop)
            #expect(!lane.armed && lane.amount?.value == 300 && lane.tap == 1 && lane.open == [session.id])
            #expect(try await call(shop, session, "claim", #"{"reference":"TOK001"}"#).session?.state == .open)
            let now = Moment.nowWithSleep
            let rules = SessionRules(release: 60, maximum: 5_000)
            await shop.daemon.standing.expect(session.id, at: now.wall, rules, from: now)
            try await eventually("a hold that goes back") {
                try await sessions(shop).first?.state == .released
            }
        }
    }

    @Test("L5: a lane that is armed writes nothing")
    func rest() async throws {
        try await shop(.hold) { shop in
            let journal = await shop.daemon.runner.journal
            try await eventually("a lane that waits for a card") {
                await shop.daemon.runner.books.standing["lane-0"] != nil
            }
            await shop.daemon.notes.keepNow()
            let (commits, begun) = (journal.commitCount.commits, ContinuousClock.now)
            // Each round ends one wait and begins another.
            for _ in 0..<8 {
                await shop.daemon.runner.change { $0.standing["lane-0"]?.cancel() }
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
