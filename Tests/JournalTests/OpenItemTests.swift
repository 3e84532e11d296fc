// SPDX-License-Identifier: Apache-2.0
import Foundation
import Journal
import Testing
import Transactions
import Wire

@Suite("Open items in the journal")
struct OpenItemTests {
    private let start = Timestamp(milliseconds: 1_000_000)
    private let service = AskedService(issuer: "a", socket: "/a.sock")

    /// A payment that is being taken back, of a service.
    private func reversing(_ body: (Journal, TransactionID, String) throws -> Void) throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "open-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let journal = try Journal(directory: path)
        let id = TransactionID()
        _ = try journal.create(
            NewTransaction(
                id: id, uid: 1, idempotencyKey: "k", requestHash: "h", type: .purchase, mode: .test, lane: "main",
                amount: Money(value: 5, currency: try #require(Currency("EUR"))), order: "A-1", at: start,
                service: service))
        var change = StateChange(.reversing, at: start)
        change.reversal = ReversalPlan(reason: .timeout, due: start)
        try journal.append(
            [StateChange(.armed), StateChange(.reading), StateChange(.sealed), StateChange(.sent), change], to: id)
        try body(journal, id, path)
    }

    private func settled(_ id: TransactionID, _ journal: Journal) throws -> ErrorCode? {
        let settlement = Settlement(.notCharged, at: start, uid: 7, note: "by telephone")
        var change = StateChange(.reversed, at: start)
        change.settlement = settlement
        return try journal.settle(id, change, settlement)
    }

    @Test("An item is open since when it was, whatever its reason becomes, and says what may be charged where")
    func listed() throws {
        try reversing { journal, id, _ in
            let plan = ReversalPlan(reason: .timeout, attempts: 3, due: start)
            try journal.keepOpen(.otherService, for: id, at: start)
            try journal.keepOpen(.neverSeen, [], plan, for: id, at: start.advanced(bySeconds: 60))
            let items = try journal.openItems()
            #expect(items.map(\.reason) == [.neverSeen] && items.map(\.since) == [start])
            #expect(items.first?.service == service && items.first?.order == "A-1" && items.first?.amount.value == 5)
            let record = try journal.record(id)
            #expect(record?.open == .neverSeen && record?.service == service && record?.reversal == plan)
            let extent = try journal.openItemExtent()
            #expect(extent == OpenItemExtent(count: 1, oldest: start))
        }
    }

    @Test("What goes on is no open item any more, and cannot be settled")
    func ended() throws {
        try reversing { journal, id, _ in
            let early = try settled(id, journal)
            #expect(early == .openItemNotOpen)
            try journal.keepOpen(.unacknowledged, for: id)
            try journal.append([StateChange(.reversed)], to: id)
            let (items, late) = (try journal.openItems(), try settled(id, journal))
            #expect(items.isEmpty && late == .openItemEnded)
        }
    }

    @Test("A settlement is kept, counts once, and what contradicts it is written beside it")
    func settled() throws {
        try reversing { journal, id, _ in
            try journal.keepOpen(.unacknowledged, for: id)
            let (first, second) = (try settled(id, journal), try settled(id, journal))
            #expect(first == nil && second == .openItemAlreadySettled)
            try journal.contradict(id, at: start)
            try journal.contradict(id, at: start.advanced(bySeconds: 60))
            let transaction = try journal.record(id)?.transaction
            #expect(transaction?.state == .reversed && transaction?.settlement?.note == "by telephone")
            #expect(transaction?.settlement?.uid == 7 && transaction?.settlement?.contradictedAt == start)
        }
    }

    @Test("A journal of the version before goes on: its payments have no service")
    func upgraded() throws {
        try reversing { journal, id, path in
            let copy = path + "/before"
            try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: true)
            try journal.scrub()
            try FileManager.default.copyItem(atPath: path + "/journal.sqlite", toPath: copy + "/journal.sqlite")
            let process = Process()
            process.executableURL = URL(filePath: "/usr/bin/sqlite3")
            process.arguments = [
                copy + "/journal.sqlite",
                """
                DROP TABLE ledger; DROP TABLE business_day; DROP TABLE operation_change; DROP TABLE operation;
                DROP INDEX payment_by_number; DROP INDEX payment_by_change; DROP INDEX payment_by_token;
                DROP INDEX payment_by_of; DROP INDEX payment_by_lane; DROP INDEX payment_by_creation;
                ALTER TABLE payment DROP COLUMN scheme; ALTER TABLE payment DROP COLUMN card_token;
                ALTER TABLE payment DROP COLUMN account; ALTER TABLE payment DROP COLUMN service_terms;
                ALTER TABLE payment DROP COLUMN capture; ALTER TABLE payment DROP COLUMN cashier;
                ALTER TABLE payment DROP COLUMN retry_of; ALTER TABLE payment DROP COLUMN of;
                ALTER TABLE payment DROP COLUMN change; ALTER TABLE payment DROP COLUMN number;
                ALTER TABLE installation DROP COLUMN next_number; ALTER TABLE installation DROP COLUMN next_change;
                DROP TRIGGER what_goes_on_is_no_open_item; DROP TABLE open_item;
                ALTER TABLE payment DROP COLUMN service; ALTER TABLE payment DROP COLUMN settlement;
                ALTER TABLE payment DROP COLUMN message; DROP TABLE spent_key;
                PRAGMA user_version = 5;
                """,
            ]
            try process.run()
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
            let later = try Journal(directory: copy)
            let record = try later.record(id)
            #expect(record?.transaction.state == .reversing && record?.service == nil && record?.open == nil)
        }
    }
}
