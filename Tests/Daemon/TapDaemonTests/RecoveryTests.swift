// SPDX-License-Identifier: Apache-2.0
import Configuration
import Foundation
import Journal
import LocalHTTP
import POSAPI
import PSPAPI
import PSPSandbox
import PaymentValues
import TestSupport
import Testing
import Transactions

@testable import TapDaemon

@Suite("What a start makes of what the last run left", .timeLimit(.minutes(5)))
struct RecoveryTests {
    /// Writes a journal as a daemon that was killed in `state` leaves it; in `killed` as one leaves it that was killed after
    /// the payment's end, with its log.
    @discardableResult
    private func leave(
        _ state: TransactionState, in folder: TestFolder, killed: TestFolder? = nil
    ) throws -> TransactionID {
        try FileManager.default.createDirectory(
            atPath: folder.path + "/state", withIntermediateDirectories: true)
        let journal = try Journal(directory: folder.path + "/state")
        let id = TransactionID()
        let euro = try #require(Currency("EUR"))
        _ = try journal.create(
            NewTransaction(
                id: id, owner: Principal(uid: 0), idempotencyKey: "k", requestHash: "h", type: .purchase, mode: .test,
                lane: "lane-0",
                amount: Money(value: 500, currency: euro), order: "F-1", at: .now))
        var sealed = StateChange(.sealed)
        let card = try #require(MaskedCard(scheme: "Visa", last4: "0010", masked: "************0010"))
        sealed.authorization = AuthorizationRequest(
            id: id, mode: .test, type: .sale, amount: Money(value: 500, currency: euro), entryMode: .contactlessEMV,
            cvm: .noCVM, emv: "", card: card, envelope: "e", terminal: .init(id: "1", merchant: "m", capabilities: []))
        var reversing = StateChange(.reversing)
        reversing.reversal = ReversalPlan(reason: .timeout, attempts: 4, due: .now)
        let path: [StateChange] = [
            StateChange(.preparing), StateChange(.armed), StateChange(.reading), sealed, StateChange(.sent),
            StateChange(.unknown), reversing,
        ]
        if state != .created {
            let end = try #require(path.firstIndex { $0.state == state })
            try journal.append(Array(path[...end]), to: id)
        }
        if let killed {
            try journal.append([StateChange(.failed)], to: id)
            try FileManager.default.copyItem(atPath: folder.path + "/state", toPath: killed.path + "/state")
        }
        return id
    }

    @Test(
        "What was never sent ends as failed, and can be paid again",
        arguments: [TransactionState.created, .preparing, .armed, .reading, .sealed])
    func unsent(_ state: TransactionState) async throws {
        let folder = try TestFolder()
        let id = try leave(state, in: folder)
        try await withAdapter(in: folder) { _ in
            .text(200, "{}")
        } _: { adapter in
            try await Shop.open(in: folder) { shop in
                let transaction = try await shop.get("/v1/transactions/\(id)").transaction()
                #expect(transaction.state == .failed && transaction.error?.code == "interrupted")
                #expect(try shop.journal("SELECT authorization IS NULL FROM payment") == "1")
                #expect(try await shop.post(purchase(500, order: "F-1")).status == 201)
                #expect(adapter.requests.isEmpty, "nothing is sent to an adapter that knows nothing")
            }
        }
    }

    @Test(
        "What may have been charged is taken back, and blocks its order until that is acknowledged",
        arguments: [TransactionState.sent, .unknown, .reversing])
    func maybeCharged(_ state: TransactionState) async throws {
        let folder = try TestFolder()
        let id = try leave(state, in: folder)
        try await Shop.open(in: folder) { shop in
            let waiting = try await shop.get("/v1/transactions/\(id)").transaction()
            #expect(waiting.state == .reversing)
            #expect(try shop.journal("SELECT authorization IS NULL FROM payment") == "1")
            let blocked = try await shop.post(purchase(500, order: "F-1"))
            #expect(blocked.status == 409)
            #expect(try blocked.error().code == "order.unresolved" && blocked.error().transaction == id)
            let status = try WireJSON.decode(Status.self, from: try await shop.get("/v1/status").body)
            #expect(status.queue.reversals == 1)
            try await withAdapter(in: folder) { _ in
                .text(200, #"{"status":"done"}"#)
            } _: { adapter in
                _ = try await shop.reach([.reversed], id)
                // Asked again where an answer takes long, under the same key.
                #expect(Set(adapter.requests.map(\.path.last)) == ["reversals"])
                #expect(Set(adapter.requests.map(\.key)) == [id.text])
            }
            #expect(try await shop.post(purchase(500, order: "F-1")).status == 201)
        }
    }

    @Test("What a payment had dropped before the daemon was killed is in no file once the next one has started")
    func dropped() async throws {
        let (folder, killed) = (try TestFolder(), try TestFolder())
        try leave(.sealed, in: folder, killed: killed)
        func filesWithRecord() throws -> [String] {
            try filesOnDisk(in: killed.path + "/state").filter { $0.bytes.range(of: Data(#""envelope""#.utf8)) != nil }
                .map(\.name)
        }
        #expect(try filesWithRecord() == ["journal.sqlite-wal"])
        try await Shop.open(in: killed) { _ in
            let left = try filesWithRecord()
            #expect(left == [])
        }
    }

    @Test("Events go on with higher numbers after a restart, and a client with an old cursor is told of the gap")
    func cursors() async throws {
        let folder = try TestFolder()
        var last: UInt64 = 0
        for run in 0..<2 {
            try await Shop.open(in: folder) { shop in
                let events = try await shop.client.events(
                    HTTPClientRequest(.get, "/v1/events", fields: ["Last-Event-ID": String(last)]),
                    answerWithin: hangLimit)
                for try await event in events {
                    let id = try #require(event.id.flatMap { UInt64($0) })
                    if run == 1, event.name == "events.missed" {
                        #expect(id == last)
                        continue
                    }
                    #expect(id > last)
                    last = id
                    if event.name == "reader.attached" { break }
                }
            }
        }
        #expect(last > 1_000_000_000)
    }

    @Test("A second daemon on the same journal does not start")
    func second() async throws {
        let folder = try TestFolder()
        try await Shop.open(in: folder) { _ in
            let configuration = try DaemonConfiguration(in: folder)
            await #expect(throws: StartError.journal(.inUse(path: folder.path + "/state/journal.sqlite"))) {
                _ = try await Daemon(
                    configuration, socket: try ListeningSocket(path: folder.path + "/other.sock"), logger: Shop.quiet)
            }
        }
    }
}
