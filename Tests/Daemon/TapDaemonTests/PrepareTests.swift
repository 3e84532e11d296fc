// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
import POSAPI
import PSPSandbox
import PaymentValues
import ReaderCore
import ReaderVirtual
import TestSupport
import Testing
import Transactions

@testable import TapDaemon

@Suite("Preparing a lane", .timeLimit(.minutes(5)))
struct PrepareTests {
    private static var hanging: Shop.Wish {
        var wish = Shop.Wish()
        wish.hanging = [0]
        wish.awaitsLanes = false
        return wish
    }

    private func event(_ stream: EventStream, where isWanted: (Event) -> Bool) async throws -> Event {
        for try await message in stream {
            let event = try WireJSON.decode(Event.self, from: Array(message.data.utf8))
            if isWanted(event) { return event }
        }
        throw Hung(description: "the stream ended without the event")
    }

    /// What the preparations of a lane have told so far.
    private func told(_ shop: Shop) async throws -> [Event] {
        let stream = try await shop.client.events(
            HTTPClientRequest(.get, "/v1/events", fields: ["Last-Event-ID": "0"]), answerWithin: hangLimit)
        var events: [Event] = []
        for try await message in stream {
            let event = try WireJSON.decode(Event.self, from: Array(message.data.utf8))
            if event.name == .prepareProgress { events.append(event) }
            if event.name == .prepareProgress, event.step == nil { break }
        }
        return events
    }

    @Test("Requirement 12: the daemon prepares its lanes when it starts, without being asked")
    func start() async throws {
        try await Shop.open(in: try TestFolder()) { shop in
            let events = try await told(shop)
            #expect(events.allSatisfy { $0.reason == .start && $0.lane == "lane-0" && $0.transaction == nil })
            let answer = try await shop.prepare("lane-0")
            #expect(answer.status == 200)
            let preparation = try answer.preparation()
            #expect(preparation.outcome == .stillPrepared && preparation.percent == nil)
            #expect(preparation.lane.reader?.driver == "virtual" && preparation.lane.state == .ready)
        }
    }

    @Test("Requirement 14: a percentage comes from steps that are done; there is none while the reader is opened")
    func percent() async throws {
        try await Shop.open(in: try TestFolder()) { shop in
            let events = try await told(shop)
            #expect(events.map(\.step) == [.reader, .adapter, .profile, .terminal, nil])
            #expect(events.map(\.percent) == [nil, 25, 50, 75, 100])
        }
    }

    @Test("Requirement 13: while the only lane is prepared the daemon is not ready, and accepts")
    func accepting() async throws {
        try await Shop.open(in: try TestFolder(), Self.hanging) { shop in
            let status = try WireJSON.decode(Status.self, from: try await shop.get("/v1/status").body)
            #expect(!status.ready && status.accepting && status.lanes.first?.state == .preparing)
            try shop.reader.obey("resume")
            try await shop.lanes(are: .ready)
            #expect(try WireJSON.decode(Status.self, from: try await shop.get("/v1/status").body).ready)
        }
    }

    @Test("A second caller joins the preparation that runs, and both hear how it ended")
    func joined() async throws {
        try await Shop.open(in: try TestFolder(), Self.hanging) { shop in
            let early = try await shop.prepare("lane-0")
            #expect(early.status == 202)
            #expect(try early.preparation().outcome == .configuring)
            #expect(try early.preparation().percent == nil)
            let preparation = try #require(await shop.runner.change({ $0.lanes.joinPreparation(of: "lane-0") }))
            #expect(!preparation.isNew)
            async let first = shop.prepare("lane-0", wait: 20)
            async let second = shop.prepare("lane-0", wait: 20)
            #expect(await shop.runner.change({ $0.lanes.joinPreparation(of: "lane-0") })?.0 === preparation.0)
            try shop.reader.obey("resume")
            let outcomes = [try await first.preparation().outcome, try await second.preparation().outcome]
            #expect(!outcomes.contains(.configuring))
            #expect(try await told(shop).count { $0.step == .reader } == 1)
        }
    }

    @Test("A preparation goes on when its caller disconnects")
    func callerLeaves() async throws {
        try await Shop.open(in: try TestFolder(), Self.hanging) { shop in
            let connection = try await shop.client.connect()
            var request = HTTPClientRequest(.post, "/v1/lanes/lane-0/prepare")
            request.fields.set("Prefer", "wait=0")
            _ = try await connection.send(request, answerWithin: hangLimit)
            await connection.close()
            try shop.reader.obey("resume")
            try await shop.lanes(are: .ready)
            #expect(try await shop.prepare("lane-0").preparation().outcome == .stillPrepared)
        }
    }

    @Test("A lane without a reader is an error with its cause, and the daemon prepares it once the reader is there")
    func failed() async throws {
        var wish = Shop.Wish()
        wish.unplugged = [0]
        wish.awaitsLanes = false
        try await Shop.open(in: try TestFolder(), wish) { shop in
            let answer = try await shop.prepare("lane-0", wait: 20)
            #expect(answer.status == 503)
            #expect(try answer.error().code == "reader.detached")
            try await shop.lanes(are: .detached)
            try shop.reader.obey("attach")
            try await shop.lanes(are: .ready)
        }
    }

    @Test("An unknown lane, a body and a wrong wait are refused")
    func refused() async throws {
        try await Shop.open(in: try TestFolder()) { shop in
            #expect(try await shop.prepare("nowhere").error().code == "lane.unknown")
            #expect(try await shop.prepare("lane-0", wait: 601).error().code == "request.invalid_parameter")
            let body = HTTPClientRequest(.post, "/v1/lanes/lane-0/prepare", body: Array("{}".utf8))
            let answer = try await shop.send(body)
            #expect(try answer.error().code == "request.unknown_field")
            #expect(try await shop.get("/v1/lanes/lane-0/prepare").status == 405)
        }
    }

    @Test("Requirement 11: a tap asked for meanwhile waits in state preparing, events say why, and then it is armed")
    func tapWaits() async throws {
        try await Shop.withSandbox(Self.hanging) { shop, _ in
            let stream = try await shop.client.events(
                HTTPClientRequest(.get, "/v1/events"), answerWithin: hangLimit)
            let body = purchase(700, more: #","detached":true"#)
            let answer = try await shop.post(body)
            #expect(answer.status == 201)
            let id = try answer.transaction().id
            _ = try await shop.reach([.preparing], id)
            let why = try await event(stream) { $0.transaction == id }
            #expect(why.name == .prepareProgress && why.reason == .start && why.lane == "lane-0")
            try shop.reader.obey("present visa")
            try shop.reader.obey("resume")
            let end = try await shop.reach([.approved, .failed, .cancelled], id)
            #expect(end.state == .approved)
            #expect(end.history.map(\.state).prefix(4) == [.created, .preparing, .armed, .reading])
        }
    }

    @Test("Requirement 50: a tap that waits for the preparation is cancelled at once, and the lane is free")
    func cancelled() async throws {
        try await Shop.open(in: try TestFolder(), Self.hanging) { shop in
            let id = try await shop.post(purchase(700, more: #","detached":true"#)).transaction().id
            _ = try await shop.reach([.preparing], id)
            let answer = try await shop.delete("/v1/transactions/\(id)").cancel()
            #expect(answer.outcome == .cancelled && answer.transaction.cancelledBy == .client)
            #expect(await shop.runner.laneStatuses().first?.holder == nil)
        }
    }

    @Test("Requirement 50: a client that disconnects while its tap waits for the preparation cancels it")
    func disconnected() async throws {
        try await Shop.open(in: try TestFolder(), Self.hanging) { shop in
            let connection = try await shop.client.connect()
            let id = try await shop.post(purchase(700), over: connection).transaction().id
            _ = try await shop.reach([.preparing], id)
            await connection.close()
            #expect(try await shop.reach([.cancelled], id).cancelledBy == .disconnect)
        }
    }

    @Test("A preparation that fails ends the tap behind it with the code of the cause, and the lane is tried again")
    func tapFails() async throws {
        try await Shop.withSandbox(Self.hanging) { shop, _ in
            let id = try await shop.post(purchase(700, more: #","detached":true"#)).transaction().id
            _ = try await shop.reach([.preparing], id)
            try shop.reader.obey("detach")
            try shop.reader.obey("resume")
            #expect(try await shop.reach([.failed], id).error?.code == "reader.detached")
            try shop.reader.obey("attach")
            try await shop.lanes(are: .ready)
            try shop.reader.obey("present visa")
            #expect(try await shop.post(purchase(700), wait: 20).transaction().state == .approved)
        }
    }

    @Test("Requirement 12: after a suspension every lane is prepared again, and a tap waits for it")
    func resumed() async throws {
        var wish = Shop.Wish()
        wish.lanes = 2
        try await Shop.withSandbox(wish) { shop, _ in
            try shop.reader.obey("hang")
            await shop.runner.change { $0.lanes.table.forgetPreparations(because: .resume) }
            let id = try await shop.post(purchase(700, more: #","detached":true,"lane":"lane-0""#))
                .transaction().id
            _ = try await shop.reach([.preparing], id)
            try shop.reader.obey("present visa")
            try shop.reader.obey("resume")
            #expect(try await shop.reach([.approved, .failed], id).state == .approved)
            try await shop.lanes(are: .ready)
        }
    }

    @Test("One reader that hangs keeps no other lane from being prepared, tapped and cancelled")
    func hangingNeighbour() async throws {
        var wish = Self.hanging
        wish.lanes = 2
        try await Shop.withSandbox(wish) { shop, _ in
            #expect(try await shop.prepare("lane-1", wait: 20).status == 200)
            try shop.readers[1].obey("present visa")
            let paid = try await shop.post(purchase(700, more: #","lane":"lane-1""#), wait: 20).transaction()
            #expect(paid.state == .approved)
            try shop.readers[1].obey("remove")
            let id = try await shop.post(purchase(800, more: #","lane":"lane-1","detached":true"#))
                .transaction().id
            _ = try await shop.reach([.armed], id)
            #expect(try await shop.delete("/v1/transactions/\(id)").cancel().outcome == .cancelled)
            let lanes = await shop.runner.laneStatuses()
            #expect(lanes.map(\.state) == [.preparing, .ready])
            #expect(lanes.allSatisfy { $0.error == nil }, "a lane that is being prepared has no fault to remedy")
        }
    }
}
