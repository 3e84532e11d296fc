// SPDX-License-Identifier: Apache-2.0
import Configuration
import Envelope
import Foundation
import Journal
import LocalHTTP
import POSAPI
import PSPSandbox
import PaymentValues
import ReaderVirtual
import TestSupport
import Testing

@testable import TapDaemon

@Suite("What the daemon says of its queue", .timeLimit(.minutes(5)))
struct QueueTruthTests {
    /// A shop without its payment service, in which `values` have been stored.
    private func storing(
        _ values: [Int64], in folder: TestFolder? = nil, log: KeptLog = KeptLog(),
        _ body: (Shop, [TransactionID]) async throws -> Void
    ) async throws {
        let folder = try folder ?? TestFolder()
        let wish = try StoreAndForwardTests.wish { $0.logger = log.logger }
        // So that storing is allowed: the payment service has been reached in this run of the machine.
        do {
            let journal = try Journal(directory: try state(of: folder))
            try journal.noteOnline(at: .now, boot: wish.boot, serviceName: wish.terminal.recipient.keyID)
        }
        try await Shop.open(in: folder, wish) { shop in
            var ids: [TransactionID] = []
            for value in values {
                try shop.reader.obey("present visa-afl")
                let transaction = try await shop.post(purchase(value), wait: 20).transaction()
                try #require(transaction.state == .stored, "\(transaction.error?.code ?? "")")
                ids.append(transaction.id)
                try shop.reader.obey("remove")
            }
            try await body(shop, ids)
        }
    }

    private func state(of folder: TestFolder) throws -> String {
        let path = folder.path + "/state"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        return path
    }

    private func queue(_ shop: Shop) async throws -> Status.Queue {
        try WireJSON.decode(Status.self, from: try await shop.get("/v1/status").body).queue
    }

    @Test("Status, metrics and the service manager's line tell how much is stored")
    func known() async throws {
        try await storing([100, 200]) { shop, _ in
            let queue = try await queue(shop)
            #expect(queue.stored == 2 && queue.oldest != nil && queue.overdue == false && queue.error == nil)
            let scrape = try Scrape(try await shop.get("/metrics").text)
            #expect(scrape.values["nfc_tap_queue_stored"] == 2)
            #expect(scrape.values["nfc_tap_queue_readable"] == 1)
            #expect(try #require(scrape.values["nfc_tap_queue_oldest_seconds"]) >= 0)
            let summary = await shop.daemon.summary()
            #expect(summary.contains(", 2 stored, 0 reversals open"))
        }
    }

    @Test("Where the queue cannot be read nobody is told that it is empty")
    func unknown() async throws {
        try await storing([]) { shop, _ in
            #expect(try await queue(shop).stored == 0)
            try alterJournal(in: shop.folder, "ALTER TABLE queue_record RENAME TO gone")
            let queue = try await queue(shop)
            #expect(queue.stored == nil && queue.overdue == nil && queue.error?.code == "storage.failed")
            #expect(queue.reversals == 0)
            let scrape = try Scrape(try await shop.get("/metrics").text)
            #expect(scrape.values["nfc_tap_queue_stored"] == nil)
            #expect(scrape.values["nfc_tap_queue_oldest_seconds"] == nil)
            #expect(scrape.values["nfc_tap_queue_readable"] == 0)
            let summary = await shop.daemon.summary()
            #expect(summary.contains("stored payments not known, queue not readable, "))
            #expect(try await shop.get("/v1/queue").error().code == "storage.failed")
        }
    }

    @Test("A payment in the queue that cannot be read is told of once, and so is that it can be again")
    func onePayment() async throws {
        let log = KeptLog()
        try await storing([100], log: log) { shop, ids in
            try alterJournal(in: shop.folder, "UPDATE payment SET currency = '??' WHERE id = '\(ids[0])'")
            try await eventually("an error in the status") { try await queue(shop).error != nil }
            #expect(try await queue(shop).stored == 1)
            let line = "payments in the queue not readable, the others are forwarded"
            try await eventually("the first line") { !log.lines(line).isEmpty }
            // Some rounds more, each of which fails.
            for _ in 0..<5 {
                shop.daemon.queue.wake()
                try await Task.sleep(for: .milliseconds(10))
            }
            try alterJournal(in: shop.folder, "UPDATE payment SET currency = 'EUR' WHERE id = '\(ids[0])'")
            try await eventually("a readable queue") { try await queue(shop).error == nil }
            // The one who forwards finds out in a round of its own.
            try await eventually("the second line") { !log.lines("queue read again").isEmpty }
            #expect(log.lines(line).count == 1)
            #expect(log.lines("queue read again").count == 1)
        }
    }

    @Test("A8 One payment in the queue that cannot be read keeps no other from being forwarded")
    func others() async throws {
        let log = KeptLog()
        try await storing([100, 200, 300], log: log) { shop, ids in
            try alterJournal(in: shop.folder, "UPDATE payment SET currency = '??' WHERE id = '\(ids[0])'")
            // A round that has read the payment before would begin with it.
            try await eventually("a round without it") {
                !log.lines("payments in the queue not readable, the others are forwarded").isEmpty
            }
            try await withSandbox(in: shop.folder) { sandbox in
                for id in ids.dropFirst() { _ = try await shop.reach([.approved], id) }
                #expect(await sandbox.ledger.transactions.count == 2)
                #expect(try await queue(shop).stored == 1, "it is not forgotten")
                #expect(try await queue(shop).error?.code == "storage.failed")
                try alterJournal(in: shop.folder, "UPDATE payment SET currency = 'EUR' WHERE id = '\(ids[0])'")
                shop.daemon.queue.wake()
                _ = try await shop.reach([.approved], ids[0])
                #expect(await sandbox.ledger.transactions.count == 3)
            }
        }
    }

    @Test("A payment that waits for too long is told of once, also where another cannot be read")
    func overdue() async throws {
        let log = KeptLog()
        try await storing([100], log: log) { shop, ids in
            #expect(log.lines("stored payments wait for too long").isEmpty)
            try alterJournal(
                in: shop.folder,
                "UPDATE queue_record SET stored_at = 1; UPDATE payment SET currency = '' WHERE id = '\(ids[0])'")
            try await eventually("the alert") { !log.lines("stored payments wait for too long").isEmpty }
            #expect(try await queue(shop).overdue == true)
            #expect(await shop.daemon.summary().contains("1 stored, overdue, "))
            #expect(log.lines("stored payments wait for too long").count == 1)
        }
    }

    static let faults: [(reason: String, sql: String)] = [
        (
            "signature",
            """
            UPDATE queue_record SET record = substr(record, 1, length(record) - 40)
                || CASE substr(record, -40, 1) WHEN 'A' THEN 'B' ELSE 'A' END || substr(record, -39)
            """
        ),
        ("unreadable", "UPDATE queue_record SET record = 'nonsense'"),
        ("other amount", "UPDATE payment SET value = 101"),
        (
            "other transaction",
            """
            CREATE TEMP TABLE was AS SELECT payment, record FROM queue_record;
            UPDATE queue_record SET record = (SELECT record FROM was WHERE was.payment <> queue_record.payment)
            """
        ),
    ]

    @Test("A stored record that does not hold is never sent; the log says why each time, the audit chain once")
    func reasons() async throws {
        let log = KeptLog()
        for (reason, sql) in Self.faults {
            let folder = try TestFolder()
            var ids: [TransactionID] = []
            try await storing([100, 100], in: folder) { ids = $1 }
            // While no daemon runs: one that has just read the record as it was may send it as it was.
            try alterJournal(in: folder, sql)
            try await withSandbox(in: folder) { [ids] sandbox in
                try await Shop.open(in: folder, try StoreAndForwardTests.wish { $0.logger = log.logger }) { shop in
                    for id in ids {
                        try await eventually("\(reason) in the log, twice") {
                            shop.daemon.queue.wake()
                            return log.lines("stored record does not hold, never sent").count {
                                $0.metadata == ["transaction": id.text, "reason": reason]
                            } >= 2
                        }
                    }
                    #expect(await sandbox.ledger.transactions.isEmpty)
                    let entries = try shop.journal(
                        "SELECT subject, detail FROM audit WHERE kind = 'queue' ORDER BY subject")
                    #expect(
                        entries.split(separator: "\n").map(String.init)
                            == ids.map { "\($0)|stored record does not hold: \(reason)" })
                }
            }
        }
    }
}
