// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
import POSAPI
import PSPSandbox
import PaymentValues
import ReaderVirtual
import TestSupport
import Testing
import Transactions

@testable import TapDaemon

@Suite("A tap on any lane of a group", .timeLimit(.minutes(5)))
struct LaneGroupTests {
    private static var counter: Shop.Wish {
        var wish = Shop.Wish()
        wish.lanes = 3
        wish.groups = ["counter": ["lane-0", "lane-1", "lane-2"]]
        return wish
    }

    private let detached = #","group":"counter","detached":true"#

    private func states(_ shop: Shop) async -> [LaneStatus.State] { await shop.runner.laneStatuses().map(\.state) }

    @Test("Requirement 16: all free lanes of a group wait, the first card wins, and the transaction says where")
    func firstTapWins() async throws {
        try await Shop.withSandbox(Self.counter) { shop, sandbox in
            let id = try await shop.post(purchase(700, more: detached)).transaction().id
            _ = try await shop.reach([.armed], id)
            let held = await shop.runner.laneStatuses().compactMap(\.holder)
            #expect(held.map(\.transaction) == [id, id, id])
            #expect(held.allSatisfy { ($0.until?.milliseconds ?? 0) > $0.since.milliseconds })
            try await eventually("three lanes that ask for a card") {
                shop.runner.events.kept(about: id).count { $0.name == .readReadyForTap } == 3
            }
            try shop.readers[2].obey("present visa")
            let end = try await shop.reach([.approved, .failed], id)
            #expect(end.state == .approved && end.lane == "lane-2")
            try await shop.lanes(are: .ready)
            let events = try #require(try await shop.get("/v1/transactions/\(id)").transaction().events)
            let ready = events.filter { $0.name == .readReadyForTap }.compactMap(\.lane)
            #expect(Set(ready) == ["lane-0", "lane-1", "lane-2"])
            #expect(events.filter { $0.name == .readCompleted }.map(\.lane) == ["lane-2"])
            #expect(try shop.journal("SELECT lane FROM payment") == "lane-2")
            #expect(await sandbox.ledger.transactions.count == 1)
        }
    }

    @Test("Two cards in the same moment give one read and one charge, however often")
    func sameMoment() async throws {
        try await Shop.withSandbox(Self.counter) { shop, sandbox in
            for round in 1...12 {
                let id = try await shop.post(purchase(700, more: detached)).transaction().id
                _ = try await shop.reach([.armed], id)
                await withTaskGroup { group in
                    for reader in shop.readers {
                        group.addTask { _ = reader.answer(to: "present visa") }
                    }
                }
                let end = try await shop.reach([.approved, .failed], id)
                #expect(end.state == .approved)
                #expect(end.history.map(\.state).count { $0 == .reading } == 1)
                #expect(await sandbox.ledger.transactions.count == round)
                for reader in shop.readers { try reader.obey("remove") }
                try await shop.lanes(are: .ready)
            }
        }
    }

    @Test("Lanes named in the request will do as well; a busy one and a broken one are left out")
    func named() async throws {
        try await Shop.withSandbox(Self.counter) { shop, _ in
            let other = try await shop.post(purchase(500, more: #","lane":"lane-0","detached":true"#))
                .transaction().id
            _ = try await shop.reach([.armed], other)
            let body = purchase(700, more: #","lanes":["lane-0","lane-1"],"detached":true"#)
            let id = try await shop.post(body).transaction().id
            _ = try await shop.reach([.armed], id)
            #expect(await shop.runner.laneStatuses().map(\.holder?.transaction) == [other, id, nil])
            let busy = try await shop.post(body)
            #expect(busy.status == 409)
            #expect(try busy.error().code == "reader.busy")
            try shop.readers[1].obey("present visa")
            #expect(try await shop.reach([.approved, .failed], id).lane == "lane-1")
            #expect(try await shop.delete("/v1/transactions/\(other)").cancel().outcome == .cancelled)
        }
    }

    @Test("Cancelling frees every lane of the group")
    func cancelled() async throws {
        try await Shop.open(in: try TestFolder(), Self.counter) { shop in
            let id = try await shop.post(purchase(700, more: detached)).transaction().id
            _ = try await shop.reach([.armed], id)
            #expect(try await shop.delete("/v1/transactions/\(id)").cancel().outcome == .cancelled)
            try await shop.lanes(are: .ready)
        }
    }

    @Test("A dead client frees every lane of the group")
    func deadClient() async throws {
        try await Shop.open(in: try TestFolder(), Self.counter) { shop in
            let connection = try await shop.client.connect()
            let id = try await shop.post(purchase(700, more: #","group":"counter""#), over: connection)
                .transaction().id
            _ = try await shop.reach([.armed], id)
            await connection.close()
            #expect(try await shop.reach([.cancelled], id).cancelledBy == .disconnect)
            try await shop.lanes(are: .ready)
        }
    }

    @Test("A reader that goes away leaves the others of its group waiting for the card")
    func oneDetached() async throws {
        try await Shop.withSandbox(Self.counter) { shop, _ in
            let id = try await shop.post(purchase(700, more: detached)).transaction().id
            _ = try await shop.reach([.armed], id)
            try shop.readers[0].obey("detach")
            while await states(shop)[0] != .detached { try await Task.sleep(for: .milliseconds(2)) }
            try shop.readers[1].obey("present visa")
            let end = try await shop.reach([.approved, .failed], id)
            #expect(end.state == .approved && end.lane == "lane-1")
        }
    }

    @Test("A reader that hangs in a group delays neither the card on another lane nor what comes after")
    func oneHangs() async throws {
        try await Shop.withSandbox(Self.counter) { shop, _ in
            let id = try await shop.post(purchase(700, more: detached)).transaction().id
            _ = try await shop.reach([.armed], id)
            try shop.readers[0].obey("hang")
            try shop.readers[1].obey("present visa")
            #expect(try await shop.reach([.approved, .failed], id).lane == "lane-1")
            try shop.readers[1].obey("remove")
            let next = try await shop.post(purchase(800, more: #","lane":"lane-1","detached":true"#))
                .transaction().id
            _ = try await shop.reach([.armed], next)
            #expect(try await shop.delete("/v1/transactions/\(next)").cancel().outcome == .cancelled)
        }
    }

    @Test("A transaction on a reader that hangs is cancelled all the same, and the lane is called faulty")
    func hangs() async throws {
        try await Shop.open(in: try TestFolder()) { shop in
            var isFaulty = false
            while !isFaulty {
                let id = try await shop.post(purchase(700, more: #","detached":true"#)).transaction().id
                _ = try await shop.reach([.armed], id)
                try shop.reader.obey("hang")
                #expect(try await shop.delete("/v1/transactions/\(id)").cancel().outcome == .cancelled)
                // A tap that is cancelled before its reader has begun to wait does not meet the hang: once more then.
                for _ in 0..<2_000 where !isFaulty {
                    isFaulty = await shop.runner.books.lanes.table["lane-0"]?.error == .readerFaulty
                    try await Task.sleep(for: .milliseconds(5))
                }
                try shop.reader.obey("resume")
                try await shop.lanes(are: .ready)
            }
        }
    }

    @Test("A group of which no lane is prepared keeps its tap waiting until one is; the others are let go")
    func preparing() async throws {
        var wish = Self.counter
        wish.hanging = [0, 1, 2]
        wish.awaitsLanes = false
        try await Shop.withSandbox(wish) { shop, _ in
            let id = try await shop.post(purchase(700, more: detached)).transaction().id
            _ = try await shop.reach([.preparing], id)
            try shop.readers[1].obey("present visa")
            try shop.readers[1].obey("resume")
            let end = try await shop.reach([.approved, .failed], id)
            #expect(end.state == .approved && end.lane == "lane-1")
            #expect(await shop.runner.laneStatuses().allSatisfy { $0.holder == nil })
        }
    }

    @Test("An unknown group, an unknown lane and two ways of naming lanes are refused")
    func refused() async throws {
        try await Shop.open(in: try TestFolder(), Self.counter) { shop in
            let wrong: [(more: String, code: String, field: String)] = [
                (#","group":"bar""#, "lane.unknown", "group"), (#","lanes":["lane-0","far"]"#, "lane.unknown", "lanes"),
                (#","lane":"lane-0","group":"counter""#, "request.field_conflict", "group"),
                (#","lane":"lane-0","lanes":["lane-1"]"#, "request.field_conflict", "lanes"),
                (#","lanes":["lane-1"],"group":"counter""#, "request.field_conflict", "group"),
                (#","lanes":[]"#, "request.invalid_field", "lanes"),
                (#","lanes":["lane-0","lane-0"]"#, "request.invalid_field", "lanes"),
            ]
            for (more, code, field) in wrong {
                let error = try await shop.post(purchase(700, more: more)).error()
                #expect(error.code == code && error.field == field, "\(more)")
            }
            #expect(try shop.journal("SELECT count(*) FROM payment") == "0")
            #expect(await shop.runner.laneStatuses().allSatisfy { $0.groups == ["counter"] })
        }
    }
}
