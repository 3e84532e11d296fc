// SPDX-License-Identifier: Apache-2.0
import Configuration
import Foundation
import LocalHTTP
import POSAPI
import PSPAPI
import PaymentValues
import ReaderVirtual
import Synchronization
import TestSupport
import Testing

@testable import TapDaemon

/// A daemon that is asked to stop ends, whatever it waits for.
@Suite("The end of a daemon", .timeLimit(.minutes(10)))
struct StopTests {
    @Test(
        "R3 a stored sale that is being forwarded keeps no daemon from ending, and the next one asks what became of it")
    func forwarding() async throws {
        let folder = try TestFolder()
        let (hasArrived, mayAnswer) = (OneShot(), OneShot())
        let calls = Mutex((sent: 0, asked: 0))
        let server = HTTPServer(
            socket: try ListeningSocket(path: folder.path + "/away.sock"), limits: HTTPLimits(), logger: Shop.quiet
        ) { request in
            if request.path.last == "health" {
                return .text(200, #"{"status":"ok","protocolVersions":["v1"],"supports":["sale"]}"#)
            }
            guard request.path.starts(with: ["v1", "authorizations"]) else { return .text(404, "{}") }
            calls.withLock { if request.method == .post { $0.sent += 1 } else { $0.asked += 1 } }
            if request.method == .post {
                hasArrived.fire()
                await mayAnswer.wait()
            }
            return .text(200, #"{"outcome":"approved","approvalCode":"1"}"#)
        }
        async let end: Void = server.run()
        var wish = try StoreAndForwardTests.wish { $0.times.answer = hangLimit }
        var id: TransactionID?
        try await Shop.open(in: folder, wish) { shop in
            await shop.daemon.queue.noteContact()
            try shop.reader.obey("present visa-afl")
            let sale = try await shop.post(purchase(500), wait: 20).transaction()
            #expect(sale.state == .stored)
            id = sale.id
            try FileManager.default.createSymbolicLink(
                atPath: folder.path + "/psp.sock", withDestinationPath: folder.path + "/away.sock")
            shop.daemon.queue.wake()
            await hasArrived.wait(atMost: hangLimit)
            #expect(hasArrived.hasFired)
        }
        // Nobody knows, whether or not the end of the call was still written.
        let state = try sqlite(folder.path + "/state/journal.sqlite", "SELECT state FROM payment")
        #expect(["sent", "unknown"].contains(state))
        mayAnswer.fire()
        wish.awaitsLanes = false
        try await Shop.open(in: folder, wish) { shop in
            _ = try await shop.reach([.approved], try #require(id))
        }
        #expect(calls.withLock { $0.sent } == 1, "what became of it is asked, and nothing is sent a second time")
        #expect(calls.withLock { $0.asked } >= 1)
        server.shutDown(grace: .zero)
        try await end
    }

    @Test func `of a daemon that has ended nothing stays in memory, whatever it was doing`() async throws {
        let folder = try TestFolder()
        weak var runner: TransactionRunner?
        weak var engine: OperationEngine?
        weak var queue: PaymentQueue?
        try await withSandbox(in: folder) { _ in
            try await Shop.open(in: folder) { shop in
                (runner, engine, queue) = (shop.daemon.runner, shop.daemon.engine, shop.daemon.queue)
                try shop.reader.obey("present visa")
                #expect(try await shop.post(purchase(500), wait: 20).transaction().state == .approved)
                try shop.reader.obey("remove")
                // Waits for a card when the daemon is asked to stop.
                _ = try await shop.reach([.armed], try await shop.post(purchase(600)).transaction().id)
                #expect(runner != nil && engine != nil && queue != nil)
            }
        }
        try await eventually("a daemon that is gone") { runner == nil && engine == nil && queue == nil }
    }
}
