// SPDX-License-Identifier: Apache-2.0
import Foundation
import Journal
import POSAPI
import PSPAPI
import PaymentValues
import TestSupport
import Testing
import Transactions

/// What a journal makes of a file that is not as it was written.
@Suite("A8 damage to the journal") struct DamageTests {
    private let path: String

    init() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "damage-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        path = url.path
    }

    private var file: URL { URL(filePath: path + "/journal.sqlite") }

    private func removing<Result>(_ body: () throws -> Result) rethrows -> Result {
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try body()
    }

    private func sqlite(_ sql: String) throws {
        try Peer.alter(file.path, sql)
    }

    /// What the sqlite3 program says to lines that it is given one by one.
    private func shell(_ lines: String, _ options: String...) throws -> String {
        try Peer.run("/usr/bin/sqlite3", options + [file.path], input: Data((lines + "\n").utf8)).said
    }

    private func new(_ number: Int) throws -> NewTransaction {
        NewTransaction(
            id: TransactionID(at: Timestamp(milliseconds: 1_700_000_000_000 + Int64(number))),
            owner: Principal(uid: 1000),
            idempotencyKey: "key-\(number)", requestHash: "hash-\(number)", type: .purchase, mode: .test, lane: "main",
            amount: Money(value: Int64(1_000 + number), currency: try #require(Currency("EUR"))),
            order: "order-\(number)", at: Timestamp(milliseconds: 1_700_000_000_000 + Int64(number)))
    }

    private static let ends: [[TransactionState]] = [
        [.armed, .reading, .sealed, .sent, .approved], [.armed, .reading, .sealed, .sent, .unknown, .reversing],
        [.armed, .reading, .sealed, .sent], [.armed, .reading, .failed], [.armed, .reading, .sealed, .sent, .declined],
    ]

    /// - Returns: everything that the journal says.
    private func fill(_ count: Int) throws -> [JournalRecord] {
        let journal = try Journal(directory: path)
        var records: [JournalRecord] = []
        for number in 0..<count {
            let transaction = try new(number)
            _ = try journal.create(transaction)
            let states = Self.ends[number % Self.ends.count]
            try journal.append(
                states.map { state in
                    var change = StateChange(state, at: Timestamp(milliseconds: 1_700_000_100_000 + Int64(number)))
                    if state == .reversing {
                        change.reversal = ReversalPlan(
                            reason: .timeout, due: Timestamp(milliseconds: 1_700_000_200_000))
                    }
                    return change
                }, to: transaction.id)
            records.append(try #require(try journal.record(transaction.id)))
        }
        try journal.scrub()
        return records
    }

    @Test(
        "A8 One unreadable column in one open payment sets that payment apart, and leaves every other one as it is",
        arguments: ["state = 'reversinf'", "currency = '??'", "value = value + 1", "result = '{'", "mode = 'life'"])
    func oneColumn(change: String) throws {
        try removing {
            let records = try fill(10)
            let hit = try #require(records.first { $0.transaction.state == .reversing })
            try sqlite("UPDATE payment SET \(change) WHERE id = '\(hit.transaction.id)'")
            let journal = try Journal(directory: path)
            let damaged = try journal.damagedPayments()
            #expect(damaged.map(\.id) == [hit.transaction.id])
            #expect(damaged.first?.order == hit.transaction.order)
            #expect(throws: JournalError.damagedPayment) { try journal.record(hit.transaction.id) }
            let open = records.filter { [.sent, .unknown, .reversing].contains($0.transaction.state) }
            #expect(try journal.unfinished() == open.filter { $0 != hit })
            #expect(try journal.record(records[0].transaction.id) == records[0])
        }
    }

    @Test("A8 A payment whose states were altered is set apart, and so is one that lost a confirmation's time")
    func steps() throws {
        try removing {
            let records = try fill(5)
            try sqlite(
                """
                DROP TRIGGER state_change_is_never_altered;
                UPDATE state_change SET at = at + 1 WHERE sequence = 2 AND payment = '\(records[0].transaction.id)'
                """)
            let journal = try Journal(directory: path)
            #expect(try journal.damagedPayments().map(\.id) == [records[0].transaction.id])
        }
    }

    /// What reads a journal without a daemon, or before one has opened it.
    enum Reader: CaseIterable {
        case begun, money, audit, examination
    }

    @Test("A8 A writer that was cut off leaves every reader what was there before", arguments: Reader.allCases)
    func cutOff(reader: Reader) throws {
        try removing {
            let records = try fill(5)
            // A journal that has been put back from a copy need not be in WAL mode. Pages are written before the end, as they
            // are where a change is larger than the memory for it.
            _ = try shell(
                """
                PRAGMA journal_mode = DELETE; PRAGMA cache_size = 1; BEGIN IMMEDIATE;
                DROP TABLE payment; CREATE TABLE a (b); INSERT INTO a VALUES (zeroblob(100000));
                .shell kill -9 $PPID
                """)
            let state = try shell("PRAGMA schema_version;", "-readonly")
            #expect(state.contains("readonly"), "SQLite itself must refuse to read it: \(state)")
            switch reader {
            case .begun: #expect(try Journal.begun(in: path) != nil)
            case .money: #expect(try OpenMoney(file: file.path).reversals == [records[1].transaction.id])
            case .audit:
                var count = 0
                try AuditSource(file: file.path).forEachLink { if $0 != nil { count += 1 } }
                #expect(count > records.count)
            case .examination:
                #expect(try JournalExamination(directory: path, stop: StopRequest()).isSound("payment") == true)
            }
            let journal = try Journal(directory: path)
            #expect(try records.map { try journal.record($0.transaction.id) } == records)
        }
    }

    @Test("A8 What the daily look finds, slice by slice, is what a start finds")
    func slices() throws {
        try removing {
            let records = try fill(25)
            try sqlite("UPDATE payment SET lane = 'other' WHERE order_reference IN ('order-0', 'order-17')")
            let journal = try Journal(directory: path)
            var found: [TransactionID?] = []
            var last: Int64? = 0
            while let row = last {
                let slice = try journal.damagedPayments(after: row, limit: 4)
                found += slice.damaged.map(\.id)
                last = slice.last
            }
            #expect(found == [records[0].transaction.id, records[17].transaction.id])
            #expect(try journal.damagedPayments().map(\.id) == found)
        }
    }

    @Test("A8 The daily look finds nothing in a sound file, gives way where it is wished, and names a damaged index")
    func examination() throws {
        try removing {
            _ = try fill(400)
            let stop = StopRequest()
            do {
                let tables = try Journal(directory: path).tables()
                #expect(Set(tables).isSuperset(of: ["payment", "state_change", "audit", "queue_record", "meta"]))
                let examination = try JournalExamination(directory: path, stop: stop)
                for table in tables { #expect(try examination.isSound(table) == true, "\(table)") }
                stop.isWished = true
                #expect(try examination.isSound("payment") == nil)
            }
            // An index that says something else than its table, made by SQLite itself.
            try sqlite(
                """
                PRAGMA writable_schema = ON;
                UPDATE sqlite_schema SET sql = 'CREATE INDEX payment_by_state ON payment (lane)'
                    WHERE name = 'payment_by_state';
                """)
            stop.isWished = false
            let examination = try JournalExamination(directory: path, stop: stop)
            #expect(try examination.isSound("payment") == false)
            #expect(throws: JournalError.damaged) { _ = try Journal(directory: path) }
        }
    }

    private static let damages = ProcessInfo.processInfo.environment["NFC_TAP_DAMAGES"].flatMap(Int.init) ?? 25

    /// The second source: what the journal said before anything was damaged.
    @Test("A8 After random damage the journal refuses, or everything that it says is true", arguments: 0..<damages)
    func random(seed: Int) throws {
        try removing {
            let records = try fill(200)
            var generator = SeededGenerator(seed: UInt64(seed))
            var bytes = try Data(contentsOf: file)
            // A byte, some bytes, or a page, as zeros, noise or a neighbour's.
            let length = [1, 3, 64, 512, 4_096].randomElement(using: &generator) ?? 1
            let start = Int.random(in: 0...(bytes.count - length), using: &generator)
            let from = Int.random(in: 0...(bytes.count - length), using: &generator)
            let kind = Int.random(in: 0..<3, using: &generator)
            for offset in 0..<length {
                let noise = UInt8.random(in: 0...255, using: &generator)
                bytes[start + offset] = kind == 0 ? 0 : kind == 1 ? noise : bytes[from + offset]
            }
            try bytes.write(to: file)
            let journal: Journal
            do throws(JournalError) { journal = try Journal(directory: path) } catch {
                #expect(
                    error == .damaged || error == .newerSchema(found: 0) || "\(error)".contains("schema"), "\(error)")
                return
            }
            let damaged = Set(try journal.damagedPayments().compactMap(\.id))
            var told = 0
            for record in records {
                let id = record.transaction.id
                do throws(JournalError) {
                    let said = try journal.record(id)
                    #expect(said == record, "\(id) is not damaged for the journal, and not what it was")
                    told += 1
                    #expect(!damaged.contains(id))
                    #expect(try journal.records(order: record.transaction.order ?? "") == [record])
                    let number = String(record.transaction.order?.dropFirst(6) ?? "")
                    #expect(
                        try journal.earlier(
                            owner: Principal(uid: 1000), idempotencyKey: "key-\(number)", requestHash: "hash-\(number)")
                            == .repeated(id))
                } catch {
                    #expect(error == .damaged || error == .damagedPayment)
                    #expect(damaged.contains(id), "\(id) cannot be read, and nobody is told at the start")
                }
            }
            #expect(told + damaged.count == records.count)
            let open = records.filter { [.sent, .reversing].contains($0.transaction.state) }
            #expect(try journal.unfinished() == open.filter { !damaged.contains($0.transaction.id) })
        }
    }

    @Test("A8 Neither unlinking nor replacing files lets a second journal in, and the first one notices")
    func lock() throws {
        try removing {
            let journal = try Journal(directory: path)
            #expect(journal.isInPlace)
            for name in try FileManager.default.contentsOfDirectory(atPath: path) {
                try FileManager.default.removeItem(atPath: path + "/" + name)
            }
            #expect(throws: JournalError.inUse(path: file.path)) { _ = try Journal(directory: path) }
            #expect(!journal.isInPlace)
            try Data("another".utf8).write(to: file)
            #expect(!journal.isInPlace)
            #expect(throws: JournalError.inUse(path: file.path)) { _ = try Journal(directory: path) }
        }
    }

    @Test("E8 What is open in a journal is told with its ids, and nothing else is")
    func openMoney() throws {
        try removing {
            #expect(throws: JournalError.self) { _ = try OpenMoney(file: file.path) }
            let records = try fill(10)
            let open = try OpenMoney(file: file.path)
            func ids(_ state: TransactionState) -> [TransactionID] {
                records.map(\.transaction).filter { $0.state == state }.map(\.id)
            }
            #expect(open.reversals == ids(.reversing) && open.unknown == ids(.sent))
            #expect(open.stored.isEmpty && open.unconfirmed.isEmpty && open.unreadable == 0 && !open.isNone)
            #expect(open.lines.count == 2 && open.lines[0].contains(ids(.reversing)[1].text))
            let item = ids(.sent)[0]
            try sqlite("INSERT INTO open_item (payment, reason, since) VALUES ('\(item)', 'neverSeen', 1)")
            #expect(try OpenMoney(file: file.path).lines.last == "1 to be settled by a person: \(item) (neverSeen)")
            try sqlite("DELETE FROM open_item")
            try sqlite("UPDATE payment SET state = 'approved' WHERE state IN ('sent', 'reversing')")
            #expect(try OpenMoney(file: file.path).isNone)
            try sqlite("UPDATE payment SET confirm_due = 1 WHERE order_reference = 'order-0'")
            #expect(try OpenMoney(file: file.path).unconfirmed == [records[0].transaction.id])
            // As a version before the rule left it: settled by a person, and the time to confirm still there.
            try sqlite("UPDATE payment SET settlement = '{}' WHERE order_reference = 'order-0'")
            #expect(try OpenMoney(file: file.path).isNone, "A2: what a person has settled waits for nobody")
            try sqlite("UPDATE payment SET state = 'reversinf' WHERE order_reference = 'order-1'")
            #expect(try OpenMoney(file: file.path).unreadable == 1)
        }
    }
}
