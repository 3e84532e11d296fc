// SPDX-License-Identifier: Apache-2.0
import Foundation
import Journal
import POSAPI
import PSPAPI
import PaymentValues
import TestSupport
import Testing
import Transactions

/// A folder of its own for one test.
private struct Folder: ~Copyable {
    let path: String

    init() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "journal-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        path = url.path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// All bytes of the journal's files.
    func bytes() throws -> Data {
        try filesOnDisk(in: path).reduce(into: Data()) { all, file in all += file.bytes }
    }

    func sqlite(_ sql: String) throws -> String {
        try Peer.sqlite(path + "/journal.sqlite", sql)
    }
}

@Suite("The journal")
struct JournalTests {
    private let envelope = "eyJhbGciOiJFQ0RILUVTIn0..SEALED-TEST-RECORD"

    private func new(key: String = "key-1", hash: String = "aa", order: String? = "A-1") throws -> NewTransaction {
        NewTransaction(
            id: TransactionID(), owner: Principal(uid: 1000), idempotencyKey: key, requestHash: hash, type: .purchase,
            mode: .test,
            lane: "main", amount: Money(value: 1250, currency: try #require(Currency("EUR"))), order: order, at: .now)
    }

    private func sealed(_ id: TransactionID, at time: Timestamp = .now) throws -> StateChange {
        let card = try #require(MaskedCard(scheme: "Visa", last4: "0010", masked: "************0010"))
        var change = StateChange(.sealed, at: time)
        change.card = card
        change.authorization = AuthorizationRequest(
            id: id, mode: .test, type: .sale, amount: Money(value: 1250, currency: try #require(Currency("EUR"))),
            entryMode: .contactlessEMV, cvm: .noCVM, emv: "9F2701809F360200FF", card: card, envelope: envelope,
            terminal: .init(id: "1", merchant: "m", capabilities: []))
        return change
    }

    private func advance(_ journal: Journal, _ id: TransactionID, to state: TransactionState) throws {
        try journal.append([StateChange(.armed), StateChange(.reading), try sealed(id)], to: id)
        if state != .sealed { try journal.append([StateChange(.sent)], to: id) }
        if state != .sealed, state != .sent { try journal.append([StateChange(state)], to: id) }
    }

    @Test("A transaction is on the disk with its state and history when the call returns")
    func create() throws {
        let folder = try Folder()
        let journal = try Journal(directory: folder.path)
        let transaction = try new()
        #expect(try journal.create(transaction) == .created(number: 1))
        try journal.append([StateChange(.armed), StateChange(.reading)], to: transaction.id)
        #expect(
            try folder.sqlite("SELECT state, value, currency, order_reference FROM payment") == "reading|1250|EUR|A-1")
        #expect(try folder.sqlite("SELECT group_concat(state) FROM state_change") == "created,armed,reading")
        let record = try #require(try journal.record(transaction.id))
        #expect(record.transaction.history.map(\.state) == [.created, .armed, .reading])
        #expect(record.transaction.amount == transaction.amount && record.owner == Principal(uid: 1000))
    }

    @Test("The files belong to their owner alone, and the log is written through")
    func durability() throws {
        let folder = try Folder()
        let journal = try Journal(directory: folder.path)
        _ = try journal.create(try new())
        #expect(try folder.sqlite("PRAGMA journal_mode") == "wal")
        for name in ["journal.sqlite", "journal.sqlite-wal"] {
            let mode = try FileManager.default.attributesOfItem(atPath: folder.path + "/" + name)[.posixPermissions]
            #expect(mode as? Int == 0o600, "mode of \(name)")
        }
    }

    @Test("The same key with the same request names the first transaction, with another request it is refused")
    func idempotency() throws {
        let folder = try Folder()
        let journal = try Journal(directory: folder.path)
        let first = try new(key: "k", hash: "aa")
        #expect(try journal.create(first) == .created(number: 1))
        #expect(try journal.create(try new(key: "k", hash: "aa")) == .repeated(first.id))
        #expect(try journal.create(try new(key: "k", hash: "bb")) == .keyReused(first.id))
        var other = try new(key: "k", hash: "aa")
        other.owner = Principal(uid: 1001)
        #expect(try journal.create(other) == .created(number: 2))
        #expect(try folder.sqlite("SELECT count(*) FROM payment") == "2")
    }

    @Test("No change outside the table of states gets in, and none before it is kept either")
    func illegal() throws {
        let folder = try Folder()
        let journal = try Journal(directory: folder.path)
        let transaction = try new()
        _ = try journal.create(transaction)
        #expect(throws: JournalError.illegalChange(from: .armed, to: .approved)) {
            try journal.append([StateChange(.armed), StateChange(.approved)], to: transaction.id)
        }
        #expect(try journal.record(transaction.id)?.transaction.state == .created)
        #expect(throws: JournalError.unknownTransaction) {
            try journal.append([StateChange(.armed)], to: TransactionID())
        }
    }

    @Test("Changes of state can be neither altered nor removed, not even from outside")
    func appendOnly() throws {
        let folder = try Folder()
        let journal = try Journal(directory: folder.path)
        _ = try journal.create(try new())
        #expect(try folder.sqlite("DELETE FROM state_change").contains("append only"))
        #expect(try folder.sqlite("UPDATE state_change SET state = 'approved'").contains("append only"))
        #expect(try folder.sqlite("SELECT count(*) FROM state_change") == "1")
    }

    @Test(
        "The sealed record is kept while it may have to be sent, and in no file once it is answered",
        arguments: [TransactionState.approved, .declined, .reversing])
    func sealedDataDropped(_ end: TransactionState) throws {
        let folder = try Folder()
        let journal = try Journal(directory: folder.path)
        let transaction = try new()
        _ = try journal.create(transaction)
        try advance(journal, transaction.id, to: .sent)
        #expect(try journal.record(transaction.id)?.authorization?.envelope == envelope)
        #expect(try folder.bytes().range(of: Data("SEALED-TEST-RECORD".utf8)) != nil)
        try journal.append([StateChange(end)], to: transaction.id)
        try journal.scrub()
        #expect(try journal.record(transaction.id)?.authorization == nil)
        #expect(try folder.bytes().range(of: Data("SEALED-TEST-RECORD".utf8)) == nil)
        #expect(try journal.record(transaction.id)?.transaction.card?.last4 == "0010")
    }

    @Test("A start finds exactly what has no end yet, oldest first")
    func unfinished() throws {
        let folder = try Folder()
        var expected: [TransactionID] = []
        do {
            let journal = try Journal(directory: folder.path)
            for (offset, state) in [TransactionState.sealed, .sent, .unknown, .reversing, .approved, .declined]
                .enumerated()
            {
                var transaction = try new(key: "k\(offset)")
                transaction.id = TransactionID(at: Timestamp(milliseconds: 1_700_000_000_000 + Int64(offset)))
                _ = try journal.create(transaction)
                try advance(journal, transaction.id, to: state)
                if offset < 4 { expected.append(transaction.id) }
            }
        }
        let journal = try Journal(directory: folder.path)
        #expect(try journal.unfinished().map(\.transaction.id) == expected)
    }

    @Test("A reversal's plan survives a restart")
    func reversal() throws {
        let folder = try Folder()
        let transaction = try new()
        let plan = ReversalPlan(reason: .timeout, attempts: 0, due: Timestamp(milliseconds: 1_800_000_000_000))
        do {
            let journal = try Journal(directory: folder.path)
            _ = try journal.create(transaction)
            try advance(journal, transaction.id, to: .unknown)
            var change = StateChange(.reversing)
            change.reversal = plan
            try journal.append([change], to: transaction.id)
        }
        do {
            let journal = try Journal(directory: folder.path)
            #expect(try journal.unfinished().first?.reversal == plan)
            try journal.plan(ReversalPlan(reason: .timeout, attempts: 3, due: plan.due), for: transaction.id)
        }
        let journal = try Journal(directory: folder.path)
        #expect(try journal.record(transaction.id)?.reversal?.attempts == 3)
        try journal.append([StateChange(.reversed)], to: transaction.id)
        #expect(try journal.record(transaction.id)?.reversal == nil)
        #expect(throws: JournalError.unknownTransaction) { try journal.plan(plan, for: transaction.id) }
    }

    @Test("Transactions of an order are found, newest first")
    func byOrder() throws {
        let folder = try Folder()
        let journal = try Journal(directory: folder.path)
        var first = try new(key: "1", order: "B-2")
        first.id = TransactionID(at: Timestamp(milliseconds: 1))
        let second = try new(key: "2", order: "B-2")
        for transaction in [first, second, try new(key: "3", order: nil)] { _ = try journal.create(transaction) }
        #expect(try journal.records(order: "B-2").map(\.transaction.id) == [second.id, first.id])
        #expect(try journal.records(order: "' OR 1=1 --").isEmpty)
    }

    @Test("No event cursor is given twice, also over restarts")
    func cursors() throws {
        let folder = try Folder()
        var first: UInt64 = 0
        do {
            let journal = try Journal(directory: folder.path)
            first = try journal.reserveEvents(100)
            #expect(try journal.reserveEvents(10) == first + 100)
        }
        #expect(try Journal(directory: folder.path).reserveEvents(1) == first + 110)
    }

    @Test("The installation keeps its name")
    func support() throws {
        let folder = try Folder()
        let name = try Journal(directory: folder.path).support
        #expect(try Journal(directory: folder.path).support == name)
    }

    @Test("A start writes nothing into a journal that has everything, and makes what is missing")
    func again() throws {
        let folder = try Folder()
        do {
            let journal = try Journal(directory: folder.path)
            _ = try journal.create(try new())
        }
        let before = try folder.bytes()
        do { _ = try Journal(directory: folder.path) }
        #expect(try folder.bytes() == before)
        _ = try folder.sqlite("DELETE FROM business_day")
        do { _ = try Journal(directory: folder.path) }
        #expect(try folder.sqlite("SELECT count(*), state FROM business_day") == "1|open")
    }

    @Test("A start knows whether an earlier run has left a log, in which what was dropped may be")
    func formerLog() throws {
        let folder = try Folder()
        let crashed = try Folder()
        do {
            let journal = try Journal(directory: folder.path)
            #expect(!journal.needsScrub)
            _ = try journal.create(try new())
            for file in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
                try FileManager.default.copyItem(
                    atPath: folder.path + "/" + file, toPath: crashed.path + "/" + file)
            }
        }
        #expect(try Journal(directory: folder.path).needsScrub == false)
        #expect(try Journal.begun(in: crashed.path)?.needsScrub == true)
        #expect(try Journal(directory: crashed.path).needsScrub == false)
    }

    @Test("Where nobody has begun a journal, whoever wants one that is begun gets none, and none is made")
    func notBegun() throws {
        let folder = try Folder()
        let path = folder.path + "/journal.sqlite"
        #expect(try Journal.begun(in: folder.path) === nil)
        #expect(!FileManager.default.fileExists(atPath: path))
        try Data().write(to: URL(filePath: path))
        #expect(try Journal.begun(in: folder.path) === nil)
        #expect(try Data(contentsOf: URL(filePath: path)).isEmpty)
        // A file of SQLite without a version is what a first start leaves that was cut off.
        _ = try folder.sqlite("CREATE TABLE a (b)")
        let before = try folder.bytes()
        #expect(try Journal.begun(in: folder.path) === nil)
        #expect(try folder.bytes() == before)
        let name = try Journal(directory: folder.path).support
        #expect(try Journal.begun(in: folder.path)?.support == name)
        _ = try folder.sqlite("PRAGMA user_version = 99")
        #expect(throws: JournalError.newerSchema(found: 99)) { _ = try Journal.begun(in: folder.path) }
    }

    @Test("A second daemon cannot take the same journal")
    func locked() throws {
        let folder = try Folder()
        let journal = try Journal(directory: folder.path)
        #expect(throws: JournalError.inUse(path: folder.path + "/journal.sqlite")) {
            _ = try Journal(directory: folder.path)
        }
        _ = try journal.create(try new())
    }

    /// SQLite's result codes, with what an extended one adds.
    @Test("D10: what SQLite refuses is said in words with a remedy, and no bare number alone")
    func refusals() {
        for code: Int32 in [3, 5, 6, 7, 8, 10, 14, 264, 522, 1_034, 1_550] {
            let words = JournalError.failed(code: code).description
            #expect(words.firstMatch(of: /[0-9]/) == nil && words.split(separator: ": ").count == 3, "\(words)")
        }
        #expect(JournalError.failed(code: 20).description.contains("code is 20: check its disk"))
    }

    @Test("K5: a journal that cannot be opened says why: a disk mounted read-only is not a matter of owner and mode")
    func reasons() {
        let words = [EROFS: "read-only", ENOENT: "make the folder", EACCES: "owner and mode", ENOSPC: "free space"]
        for (code, word) in words {
            let error = JournalError.cannotOpen(path: "/srv/journal", errno: code)
            #expect(error.description.contains("/srv/journal: ") && error.description.contains(word))
            #expect(code == EACCES || !error.description.contains("owner and mode"))
        }
    }

    @Test("A folder that is not there, a file that is no journal and a later version are refused with their reason")
    func unusable() throws {
        #expect(throws: JournalError.cannotOpen(path: "/nowhere/at/all", errno: ENOENT)) {
            _ = try Journal(directory: "/nowhere/at/all")
        }
        let garbage = try Folder()
        try Data(repeating: 0x41, count: 8_192).write(to: URL(filePath: garbage.path + "/journal.sqlite"))
        #expect(throws: JournalError.damaged) { _ = try Journal(directory: garbage.path) }
        let later = try Folder()
        do { _ = try Journal(directory: later.path) }
        _ = try later.sqlite("PRAGMA user_version = 99")
        #expect(throws: JournalError.newerSchema(found: 99)) { _ = try Journal(directory: later.path) }
    }

    @Test("A text with quotes and newlines is stored as it is")
    func quoting() throws {
        let folder = try Folder()
        let journal = try Journal(directory: folder.path)
        let transaction = try new(key: "it's; DROP TABLE payment; --", order: "O'Neil")
        _ = try journal.create(transaction)
        #expect(try journal.record(transaction.id)?.transaction.order == "O'Neil")
    }
}
