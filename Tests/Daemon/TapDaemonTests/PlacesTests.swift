// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
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

@Suite("Places for everybody who has business here", .timeLimit(.minutes(5)))
struct PlacesTests {
    @Test("C1 64 lanes advertised are 64 lanes served to one user, each cancellable, status and metrics answered")
    func sixtyFour() async throws {
        let folder = try TestFolder()
        var wish = Shop.Wish()
        wish.lanes = 64
        try await Shop.open(in: folder, wish) { shop in
            try await withThrowingTaskGroup(of: Transaction.self) { group in
                for lane in 0..<64 {
                    group.addTask {
                        try await shop.post(
                            purchase(1_000 + Int64(lane), more: #","lane":"lane-\#(lane)","deadline":600"#), wait: 600
                        ).transaction()
                    }
                }
                try await shop.lanes(are: .busy)
                #expect(try await shop.get("/v1/status").status == 200)
                let metrics = try await shop.get("/metrics")
                #expect(metrics.status == 200)
                let scrape = try Scrape(metrics.text)
                #expect((scrape.values["nfc_tap_connections"] ?? 0) >= 64)
                let holders = await shop.runner.laneStatuses().compactMap(\.holder?.transaction)
                #expect(Set(holders).count == 64)
                for id in holders {
                    let answer = try await shop.delete("/v1/transactions/\(id)")
                    #expect(try answer.cancel().outcome == .cancelled)
                }
                for try await transaction in group { #expect(transaction.state == .cancelled) }
            }
        }
    }

    private let access = Access(groups: [.cashier: 20, .monitor: 40], owner: 500)

    private func peer(_ uid: UInt32, _ group: UInt32) -> PeerCredentials {
        PeerCredentials(processID: 1, userID: uid, groupID: group)
    }

    @Test("C1 standing follows the roles")
    func standing() {
        #expect(access.standing(of: peer(0, 0)) == .administering)
        #expect(access.standing(of: peer(500, 1)) == .administering)
        #expect(access.standing(of: peer(7, 20)) == .working)
        #expect(access.standing(of: peer(7, 40)) == .watching)
        #expect(access.standing(of: peer(7, 7)) == PeerStanding.none)
    }

    @Test("C3 a program that creates and cancels in a loop is stopped, and one that reads cards or waits is not")
    func pace() {
        var pace = PaceTable()
        func mayBegin(_ uid: UInt32, _ milliseconds: Int64) -> Bool {
            pace.take(Principal(uid: uid), at: Moment(monotonic: milliseconds, wall: .now))
        }
        let burst = (0..<256).filter { _ in mayBegin(7, 0) }
        let then = [mayBegin(7, 0), mayBegin(8, 0), mayBegin(7, 999), mayBegin(7, 1_000), mayBegin(7, 1_000)]
        #expect(burst.count == 256)
        #expect(then == [false, true, false, true, false], "the second one is another user")
        pace.giveBack(Principal(uid: 7), at: Moment(monotonic: 1_000, wall: .now))
        let givenBack = mayBegin(7, 1_000)
        #expect(givenBack)
        func till(_ number: Int, _ milliseconds: Int64) -> Bool {
            pace.take(
                Principal(uid: 7, till: TillName("t-\(number)")), at: Moment(monotonic: milliseconds, wall: .now))
        }
        let tills = (0..<300).filter { till($0, 2_000) }.count
        #expect(tills < 256 && tills > 200, "a gateway cannot make up names for ever")
        #expect(till(299, 1_000_000), "and is served again")
    }

    /// 64 KiB are the most that a request has. Each is written down, and its journal's rows stay for months.
    @Test("A10: a day of the largest requests that one cashier may send is some hundred megabytes")
    func largest() {
        var pace = PaceTable()
        let cashier = Principal(uid: 7)
        var (bytes, begun) = (0, 0)
        for second in 0..<86_400 {
            let now = Moment(monotonic: Int64(second) * 1_000, wall: .now)
            while pace.take(cashier, bytes: 64 << 10, at: now) {
                (bytes, begun) = (bytes + 64 << 10, begun + 1)
                guard bytes < 1 << 30 else { break }
                // Each of them waits for a card, which gives its first unit back.
                pace.giveBack(cashier, at: now)
            }
        }
        #expect(bytes < 400 << 20, "\(bytes) bytes in \(begun)")
        #expect(begun > 5_000)
        // An ordinary sale costs what it did.
        var other = PaceTable()
        let usual = (0..<300).filter { _ in other.take(cashier, bytes: 900, at: Moment(monotonic: 0, wall: .now)) }
        #expect(usual.count == 256)
    }

    @Test("A10: a spent key names its transaction in the refusal")
    func spent() {
        let id = TransactionID()
        for creation in [Creation.repeated(id), .keyReused(id)] {
            if case .known(let named) = Written(creation), named == id { continue }
            Issue.record("\(creation)")
        }
    }

    @Test("C3 a loop of transactions that come to nothing ends in request.too_often, with nothing written down")
    func loop() async throws {
        try await Shop.withSandbox { shop, _ in
            var last: Answer?
            for _ in 0..<2_000 where last?.status != 429 {
                let answer = try await shop.post(#"{"type":"loyalty"}"#)
                if answer.status == 201 {
                    _ = try await shop.delete("/v1/transactions/\(answer.transaction().id)")
                    try await shop.lanes(are: .ready)
                }
                last = answer
            }
            let refused = try #require(last)
            #expect(refused.status == 429)
            #expect(try refused.error().code == "request.too_often" && refused.error().retryable)
            let count = try #require(Int(try shop.journal("SELECT count(*) FROM payment")))
            #expect((PaceTable.burst...PaceTable.burst + 120).contains(Int64(count)))
        }
    }

    @Test(
        "C3 a member that stands twice is refused by name",
        arguments: [
            (#"{"type":"purchase","type":"refund","amount":{"value":1,"currency":"EUR"}}"#, "type"),
            (#"{"type":"purchase","amount":{"value":1,"value":9,"currency":"EUR"}}"#, "value"),
            (#"{"type":"purchase","amount":{"value":1,"v\u0061lue":9,"currency":"EUR"}}"#, "value"),
        ])
    func twice(body: String, name: String) async throws {
        let folder = try TestFolder()
        try await Shop.open(in: folder) { shop in
            let answer = try await shop.post(body)
            #expect(answer.status == 400)
            #expect(try answer.error().code == "request.duplicate_field" && answer.error().field == name)
        }
    }

    @Test("C2 who asks for old events again and again waits longer each time; others do not")
    func turns() {
        let turns = ReplayLimiter()
        let now = Moment(monotonic: 1_000, wall: .now)
        #expect((0..<8).allSatisfy { _ in turns.take(Principal(uid: 7), at: now) == 0 })
        #expect(turns.take(Principal(uid: 7), at: now) == 250)
        #expect(turns.take(Principal(uid: 7), at: now) == 500)
        #expect(turns.take(Principal(uid: 8), at: now) == 0)
        #expect(turns.take(Principal(uid: 7), at: Moment(monotonic: 60_000, wall: .now)) == 0)
    }

    @Test("C2 an event is encoded once, for those who hear it and for those who come back for it")
    func encodedOnce() {
        let count = Mutex(0)
        let hub = EventHub(firstID: 1) { event, audience in
            count.withLock { $0 += 1 }
            return try? WireJSON.encode(event, for: audience)
        }
        let listening = hub.subscribe(after: nil, EventSubscriber.View(seesResults: true))
        for _ in 0..<100 { hub.publish(Event(.readerAttached, lane: "a")) }
        let streams = (0..<6).map { _ in hub.subscribe(after: 0, EventSubscriber.View(seesResults: true)) }
        #expect(count.withLock { $0 } == 100)
        _ = hub.subscribe(after: 0, EventSubscriber.View(seesResults: false))
        #expect(count.withLock { $0 } == 200, "another view")
        withExtendedLifetime((listening, streams)) {}
    }
}
