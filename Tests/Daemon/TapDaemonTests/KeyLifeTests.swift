// SPDX-License-Identifier: Apache-2.0
import Foundation
import LocalHTTP
import POSAPI
import PaymentValues
import ReaderVirtual
import Synchronization
import TestSupport
import Testing
import Transactions

@testable import TapDaemon

/// A service that has forgotten a key books again what is sent again: nothing is, beyond the life of its keys.
@Suite("How long a payment service keeps keys", .timeLimit(.minutes(5)))
struct KeyLifeTests {
    private func items(_ shop: Shop) async throws -> [OpenItem] {
        try WireJSON.decode(OpenItemList.self, from: try await shop.get("/v1/open-items").body).items
    }

    /// A stored sale in a shop whose adapter is away.
    private func stored(in folder: TestFolder, _ body: (Shop, TransactionID) async throws -> Void) async throws {
        try await Shop.open(in: folder, try StoreAndForwardTests.wish()) { shop in
            await shop.daemon.queue.noteContact()
            try shop.reader.obey("present visa-afl")
            let sale = try await shop.post(purchase(500), wait: 20).transaction()
            #expect(sale.state == .stored)
            try await body(shop, sale.id)
        }
    }

    private func sends(_ adapter: ScriptedAdapter) -> Int {
        adapter.requests.count { $0.method == .post && $0.path.last == "authorizations" }
    }

    @Test(
        "A6: a stored sale that was booked is not sent again to a service that may have forgotten it by now",
        arguments: [0, 1])
    func forgotten(keyLife: Int64) async throws {
        let folder = try TestFolder()
        let begun = Mutex<Timestamp?>(nil)
        let remembers = Mutex(false)
        try await stored(in: folder) { shop, id in
            try await withAdapter(in: folder, keyLife: keyLife) { request in
                if request.method == .post {
                    // Booked, and the answer is lost.
                    begun.withLock { $0 = $0 ?? request.at }
                    return .text(500, "{}")
                }
                if remembers.withLock({ $0 }) { return .text(200, #"{"outcome":"approved","approvalCode":"1"}"#) }
                let age = request.at.milliseconds - (begun.withLock { $0 }?.milliseconds ?? 0)
                return age < 1_500 * keyLife ? .text(503, "{}") : .text(404, "{}")
            } _: { adapter in
                let item = try await eventually("an open item") {
                    try await items(shop).first { $0.reason == .keyLifeOver }
                }
                #expect(item.transaction == id && item.state == .unknown)
                // Whoever waits for its end waits, and has not to ask in a circle.
                let began = ContinuousClock.now
                #expect(try await shop.get("/v1/transactions/\(id)?wait=1").transaction().state == .unknown)
                #expect(began.duration(to: .now) >= .milliseconds(950))
                // It is asked about on and on, and never sent again.
                let asked = adapter.requests.count
                _ = try await eventually("more questions") { adapter.requests.count > asked + 3 ? true : nil }
                #expect(sends(adapter) == 1)
                remembers.withLock { $0 = true }
                #expect(try await shop.reach([.approved], id).result?.approvalCode == "1")
                #expect(try await items(shop).isEmpty)
            }
        }
    }

    @Test(
        "A6: that ten questions were in vain does not replace what the tenth has brought, neither in the list nor after a restart",
        arguments: [OpenReason.keyLifeOver, .neverSeen, .refusedAfterDoubt])
    func tenth(reason: OpenReason) async throws {
        let folder = try TestFolder()
        let vain = TransactionMachine.attemptsUnseen - 2
        let id = Mutex<TransactionID?>(nil)
        let answer = { @Sendable (request: ScriptedAdapter.Seen) -> HTTPResponse in
            // One time sent, eight times asked, and then the service does not know it: that is the tenth.
            guard request.method == .post else {
                return .text((request.before[.get]?.count ?? 0) < vain ? 503 : 404, "{}")
            }
            let isRefused = request.earlier(.post) > 0 && reason == .refusedAfterDoubt
            return isRefused ? .text(200, #"{"outcome":"declined","responseCode":"94"}"#) : .text(500, "{}")
        }
        let keyLife: Int64? = reason == .keyLifeOver ? 0 : nil
        try await stored(in: folder) { shop, stored in
            id.withLock { $0 = stored }
            try await withAdapter(in: folder, keyLife: keyLife, answer: answer) { adapter in
                try await eventually("the tenth question, and one more") {
                    (adapter.requests.last?.before[.get]?.count ?? 0) > vain + 1
                }
                #expect(try await items(shop).map(\.reason) == [reason])
            }
        }
        let known = try #require(id.withLock { $0 })
        try await Shop.open(in: folder, try StoreAndForwardTests.wish()) { shop in
            #expect(try await items(shop).map(\.reason) == [reason])
            // What is declined now is no proof, and what was refused or is too old never goes out again.
            try await withAdapter(in: folder, keyLife: keyLife) { request in
                request.method == .post
                    ? .text(200, #"{"outcome":"declined","responseCode":"94"}"#) : .text(404, "{}")
            } _: { adapter in
                try await eventually("questions after the restart") { adapter.requests.count { $0.method == .get } > 2 }
                #expect(sends(adapter) == (reason == .neverSeen ? 1 : 0))
                #expect(try await shop.runner.transaction(known)?.state == .unknown)
            }
        }
    }

    @Test("A6: within that time it is sent again, once, and a refusal then is no proof that nothing was charged")
    func refusedAgain() async throws {
        let folder = try TestFolder()
        try await stored(in: folder) { shop, id in
            try await withAdapter(in: folder) { request in
                guard request.method == .post else { return .text(404, "{}") }
                return request.earlier(.post) == 0
                    ? .text(500, "{}") : .text(200, #"{"outcome":"declined","responseCode":"94"}"#)
            } _: { adapter in
                let item = try await eventually("an open item") {
                    try await items(shop).first { $0.reason == .refusedAfterDoubt }
                }
                #expect(item.transaction == id && item.state == .unknown)
                let asked = adapter.requests.count
                _ = try await eventually("more questions") { adapter.requests.count > asked + 3 ? true : nil }
                #expect(sends(adapter) == 2)
                let settled = try await shop.post(
                    to: "/v1/open-items/\(id)/settlement", #"{"as":"charged","note":"in the portal"}"#)
                #expect(try settled.transaction().state == .approved)
                #expect(try shop.journal("SELECT count(*) FROM queue_record") == "0")
            }
        }
    }

    @Test("A6: a sale that was lost on its way is sent again within the time, and approved")
    func lost() async throws {
        let folder = try TestFolder()
        try await stored(in: folder) { shop, id in
            try await withAdapter(in: folder) { request in
                guard request.method == .post else { return .text(404, "{}") }
                return request.earlier(.post) == 0 ? .text(500, "{}") : .text(200, #"{"outcome":"approved"}"#)
            } _: { adapter in
                _ = try await shop.reach([.approved], id)
                #expect(sends(adapter) == 2)
                #expect(try await items(shop).isEmpty)
            }
        }
    }

    @Test("A6: an online sale is not sent again to a service that keeps no keys, but taken back")
    func online() async throws {
        let folder = try TestFolder()
        try await withAdapter(in: folder, keyLife: 0) { request in
            if request.path.last == "reversals" { return .text(200, #"{"status":"done"}"#) }
            return request.method == .post ? .text(500, "{}") : .text(404, "{}")
        } _: { adapter in
            try await Shop.open(in: folder) { shop in
                _ = try await eventually("the service's word") {
                    shop.daemon.health.keyLife(at: "\(folder.path)/psp.sock") == .zero ? true : nil
                }
                try shop.reader.obey("present visa")
                let id = try await shop.post(purchase(500), wait: 20).transaction().id
                _ = try await shop.reach([.reversed], id)
                #expect(sends(adapter) == 1)
            }
        }
    }

    @Test("A6: nothing is sent again to a service that has not said yet how long it keeps keys")
    func unheard() async throws {
        let folder = try TestFolder()
        // Its health has no meaning: it is not known to be there, and a sale is tried all the same.
        try await withAdapter(in: folder, health: "nonsense ") { request in
            if request.path.last == "reversals" { return .text(200, #"{"status":"done"}"#) }
            return request.method == .post ? .text(500, "{}") : .text(404, "{}")
        } _: { adapter in
            try await Shop.open(in: folder) { shop in
                try shop.reader.obey("present visa")
                let id = try await shop.post(purchase(500), wait: 20).transaction().id
                _ = try await shop.reach([.reversed], id)
                #expect(sends(adapter) == 1)
            }
        }
    }
}
