// SPDX-License-Identifier: Apache-2.0
import Envelope
import Foundation
import POSAPI
import PaymentValues
import TestSupport
import Testing
import Transactions

@testable import Journal

/// A journal with some payments, and what an attacker with the file can do to it.
private final class Book {
    let path: String
    let journal: Journal
    let key = SigningKey()

    init() throws {
        path = FileManager.default.temporaryDirectory.appending(path: "audit-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        journal = try Journal(directory: path)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    @discardableResult
    func pay(_ states: [TransactionState], at time: Timestamp = .now) throws -> TransactionID {
        let new = NewTransaction(
            id: TransactionID(), owner: Principal(uid: 1_000), idempotencyKey: UUID().uuidString, requestHash: "aa",
            type: .purchase,
            mode: .test, lane: "main", amount: Money(value: 1_250, currency: try #require(Currency("EUR"))),
            order: "A-1", at: time)
        _ = try journal.create(new)
        for state in states { try journal.append([StateChange(state, at: time)], to: new.id) }
        return new.id
    }

    func sign() throws {
        let end = try #require(try journal.auditEnd())
        let token = try AuditStatement(.head, installation: "x", sequence: end.sequence, hash: end.hash).signed(by: key)
        try journal.keep(head: token, sequence: end.sequence)
    }

    func faults(_ file: String = "journal.sqlite") throws -> [AuditFault] {
        let source = try AuditSource(file: path + "/" + file)
        var verifier = AuditVerifier(key: key.verificationKey)
        for statement in source.statements { verifier.take(statement: statement) }
        var number = 0
        try source.forEachLink { link in
            number += 1
            if let link { verifier.take(link) } else { verifier.takeUnreadable(number: number) }
        }
        for id in try source.differences() { verifier.takeDifference(transaction: id) }
        return verifier.finish()
    }

    /// Changes the file as somebody would who may write it, past the triggers.
    func tamper(_ sql: String) throws {
        let free =
            "DROP TRIGGER IF EXISTS audit_is_never_altered; DROP TRIGGER IF EXISTS state_change_is_never_removed; "
        try Peer.alter(path + "/journal.sqlite", free + "DROP TRIGGER IF EXISTS state_change_is_never_altered; " + sql)
    }

    func mark() throws -> Int64? {
        try journal.database.query("SELECT erased_before FROM installation") { (row) throws(JournalError) in
            try row.integer(0)
        }.first
    }

    /// The payment that began last.
    func newest() throws -> String? {
        try journal.database.query("SELECT id FROM payment ORDER BY rowid DESC LIMIT 1") {
            (row) throws(JournalError) in try row.text(0)
        }.first
    }

    /// All bytes of the journal's files.
    func bytes() throws -> Data {
        try filesOnDisk(in: path).reduce(into: Data()) { all, file in all += file.bytes }
    }
}

@Suite("The audit chain in the journal (requirements §10.5)")
struct AuditJournalTests {
    private let paid: [TransactionState] = [.armed, .reading, .sealed, .sent, .approved]

    @Test("Every change of state is in the chain, in the transaction that makes it")
    func states() throws {
        let book = try Book()
        let id = try book.pay(paid)
        #expect(throws: JournalError.self) { try book.journal.append([StateChange(.armed)], to: id) }
        try book.journal.audit(AuditEntry(.terms, subject: "shop", detail: "accepted"))
        try book.sign()
        var said: [String] = []
        try AuditSource(file: book.path + "/journal.sqlite").forEachLink { said.append($0?.entry.detail ?? "?") }
        #expect(said.first == "created purchase 1250 EUR uid 1000")
        #expect(said.dropFirst() == ["armed", "reading", "sealed", "sent", "approved", "accepted"])
        #expect(try book.faults().isEmpty)
    }

    static let attacks = [
        "UPDATE audit SET detail = 'declined' WHERE sequence = 6",
        "UPDATE audit SET at = at + 1 WHERE sequence = 2",
        "DELETE FROM audit WHERE sequence = 3",
        "DELETE FROM audit WHERE sequence > 8",
        "DELETE FROM audit WHERE sequence < 3",
        "UPDATE audit SET sequence = 100 WHERE sequence = 4; UPDATE audit SET sequence = 4 WHERE sequence = 5;"
            + "UPDATE audit SET sequence = 5 WHERE sequence = 100",
        """
        UPDATE audit_statement SET token = substr(token, 1, length(token) - 2) ||
            CASE substr(token, -2) WHEN 'AA' THEN 'QQ' ELSE 'AA' END
        """,
        "DELETE FROM audit_statement",
        "UPDATE payment SET state = 'declined'",
        "UPDATE payment SET value = 1",
        "DELETE FROM state_change; DELETE FROM payment",
        "UPDATE state_change SET state = 'declined' WHERE state = 'approved'",
    ]

    @Test("Whoever changes the file past the daemon is found out", arguments: attacks)
    func attacked(sql: String) throws {
        let book = try Book()
        try book.pay(paid)
        try book.pay([.armed, .cancelled])
        try book.sign()
        #expect(try book.faults().isEmpty)
        try book.tamper(sql)
        #expect(try !book.faults().isEmpty)
    }

    /// Rows beside the chain, as they were altered in a copy of a journal on which the chain "held".
    static let rows = [
        "UPDATE payment SET order_reference = 'B-2'", "UPDATE payment SET card = '{\"last4\":\"0000\"}'",
        "UPDATE payment SET result = '{\"outcome\":\"approved\",\"code\":\"654321\"}'",
        "UPDATE payment SET updated_at = updated_at + 1",
        "UPDATE payment SET settlement = '{\"note\":\"other\"}'",
        "UPDATE payment SET account = NULL, capture = 'manual'",
        "UPDATE state_change SET at = at + 60000 WHERE state = 'approved'",
        "UPDATE state_change SET at = at + 60000 WHERE state = 'approved';"
            + "DELETE FROM meta WHERE name LIKE 'payment:%'",
        "DELETE FROM meta WHERE name = (SELECT 'payment:' || id FROM payment LIMIT 1)",
        "UPDATE payment SET account = '{}'",
    ]

    @Test("A8: an altered row of a payment is named, whichever column it is", arguments: rows)
    func alteredRow(sql: String) throws {
        let book = try Book()
        let hit = try book.pay(paid)
        try book.sign()
        #expect(try book.faults().isEmpty)
        try book.tamper(sql)
        #expect(try book.faults() == [.transactionDiffers(hit.text)])
    }

    @Test("A8: an altered time is found by the chain alone, whoever wrote the row's digest anew")
    func alteredTime() throws {
        let book = try Book()
        let hit = try book.pay(paid)
        try book.pay(paid)
        try book.sign()
        try book.tamper("UPDATE state_change SET at = at + 60000 WHERE state = 'approved' AND payment = '\(hit.text)'")
        // Whoever can write the file can write the digest: states and amounts are as they were, and every row is "sound".
        try book.journal.database.run(script: book.journal.digests.renewal)
        #expect(try book.journal.records(where: "1", []).count == 2)
        #expect(try book.faults() == [.transactionDiffers(hit.text)])
    }

    @Test("A8: in steps the chain and the tables show the same as at once, and a step that gives way is taken again")
    func steps() throws {
        let book = try Book()
        var ids: [TransactionID] = []
        for _ in 0..<40 { ids.append(try book.pay(paid)) }
        try book.sign()
        func examined() throws -> [AuditFault] {
            var examination = AuditExamination(file: book.path + "/journal.sqlite", key: book.key.verificationKey)
            let (never, wished) = (StopRequest(), StopRequest())
            wished.isWished = true
            for turn in 0..<10_000 {
                // Every second step is ended early.
                if let faults = try examination.step(turn.isMultiple(of: 2) ? wished : never) { return faults }
            }
            Issue.record("no end")
            return []
        }
        #expect(try examined().isEmpty)
        try book.tamper(
            """
            UPDATE payment SET value = 1 WHERE id = '\(ids[3].text)';
            DELETE FROM state_change WHERE payment = '\(ids[17].text)';
            UPDATE audit SET detail = 'x' WHERE sequence = 5
            """)
        let whole = try book.faults()
        #expect(try examined() == whole)
        // Whatever the size of a slice.
        let source = try AuditSource(file: book.path + "/journal.sqlite")
        let all = try source.differences()
        #expect(Set(all).isSuperset(of: [ids[3].text, ids[17].text]))
        // The altered entry, and every payment that differs: the entry's own is one of them.
        #expect(whole.count == all.count + 1 && all.count <= 3, "\(whole)")
        for limit in [Int64(1), 2, 3, 7, 39, 40, 41] {
            var found: [String] = []
            var next: String? = ""
            while let first = next {
                let slice = try source.differences(after: first, limit: limit)
                found += slice.differing
                next = slice.last
            }
            #expect(found == all, "\(limit)")
        }
    }

    @Test("A8: what a chain that holds does not prove is said by name")
    func uncovered() {
        let said = AuditSource.uncovered.joined(separator: "\n")
        for word in ["order", "card", "result", "settlement", "ledger", "operations", "totals"] {
            #expect(said.contains(word))
        }
    }

    @Test("The daemon's own statements cannot alter an entry")
    func guarded() throws {
        let book = try Book()
        try book.pay([.armed])
        #expect(throws: JournalError.self) { try book.journal.database.run("UPDATE audit SET detail = 'x'") }
        #expect(throws: JournalError.self) { try book.journal.database.run("DELETE FROM state_change") }
    }

    @Test("Erased transactions are in no file any more, and the chain holds without them")
    func erasedTransactions() throws {
        let book = try Book()
        let old = try book.pay(paid, at: Timestamp(milliseconds: 1_000))
        let open = try book.pay([.armed, .reading, .sealed, .sent], at: Timestamp(milliseconds: 1_000))
        let new = try book.pay(paid)
        // As a day end writes it, with the digests.
        let database = book.journal.database
        try database.transaction { () throws(JournalError) in
            try database.run("UPDATE ledger SET day = (SELECT number FROM business_day)")
        }
        #expect(try book.journal.eraseTransactions(endedBefore: Timestamp(milliseconds: 2_000), at: .now) == 1)
        try book.journal.scrub()
        try book.sign()
        #expect(try book.journal.record(old) == nil)
        #expect(try book.journal.record(open) != nil, "money may still be on its way")
        #expect(try book.journal.record(new) != nil)
        #expect(try book.faults().isEmpty)
        let last = try #require(try book.journal.lastAudit(before: Timestamp(milliseconds: 2_000)))
        let checkpoint = AuditStatement(.checkpoint, installation: "x", sequence: last.sequence, hash: last.hash)
        try book.journal.eraseAudit(upTo: last.sequence, checkpoint: try checkpoint.signed(by: book.key))
        try book.journal.scrub()
        #expect(try book.bytes().range(of: Data(old.text.utf8)) == nil)
        #expect(try book.faults().isEmpty)
        try book.pay(paid)
        try book.sign()
        #expect(try book.faults().isEmpty)
    }

    @Test("A4 the erased mark never passes the newest entry, and one that has is taken back")
    func mark() throws {
        let book = try Book()
        let paid = try book.pay(paid, at: Timestamp(milliseconds: 1_000))
        let now = Timestamp(milliseconds: 5_000)
        #expect(try book.journal.eraseTransactions(endedBefore: Timestamp(milliseconds: 500), at: now) == 0)
        #expect(try book.mark() == 0, "where nothing was erased there is no mark")
        #expect(try book.journal.eraseTransactions(endedBefore: Timestamp(milliseconds: 90_000), at: now) == 1)
        #expect(try book.journal.record(paid) == nil)
        #expect(try book.mark() == 5_000)
        try book.tamper("UPDATE installation SET erased_before = 99999999999999")
        try book.journal.correctErasedMark()
        #expect(try book.mark() == 5_000)
    }

    @Test("A4 rows that were deleted under a mark in the future are missing")
    func futureMark() throws {
        let book = try Book()
        try book.pay(paid)
        let kept = try book.pay(paid)
        _ = try book.journal.eraseTransactions(endedBefore: .now, at: .now)
        try book.pay(paid)
        try book.sign()
        #expect(try book.faults().isEmpty)
        try book.tamper("UPDATE installation SET erased_before = 99999999999999")
        let last = try #require(try book.newest())
        try book.tamper("DELETE FROM state_change WHERE payment = '\(last)'; DELETE FROM payment WHERE id = '\(last)'")
        #expect(try book.faults() == [.transactionDiffers(last)])
        #expect(last != kept.text)
    }

    @Test("A4 the key of an erased payment stays, for its own user")
    func keys() throws {
        let book = try Book()
        let new = NewTransaction(
            id: TransactionID(), owner: Principal(uid: 1_000), idempotencyKey: "till-7", requestHash: "aa",
            type: .purchase, mode: .test,
            lane: "main", amount: Money(value: 1, currency: try #require(Currency("EUR"))), order: nil,
            at: Timestamp(milliseconds: 1_000))
        _ = try book.journal.create(new)
        try book.journal.append([StateChange(.failed, at: Timestamp(milliseconds: 1_000))], to: new.id)
        #expect(
            try book.journal.earlier(owner: Principal(uid: 1_000), idempotencyKey: "till-7", requestHash: "aa")
                == .repeated(new.id))
        #expect(try book.journal.eraseTransactions(endedBefore: .now, at: .now) == 1)
        #expect(
            try book.journal.earlier(owner: Principal(uid: 1_000), idempotencyKey: "till-7", requestHash: "aa")
                == .erased)
        #expect(try book.journal.create(new) == .erased)
        #expect(try book.journal.request(owner: Principal(uid: 1_000), idempotencyKey: "till-7") == .erased)
        #expect(try book.journal.request(owner: Principal(uid: 1_001), idempotencyKey: "till-7") == nil)
        #expect(try book.journal.request(owner: Principal(uid: 1_000), idempotencyKey: "till-8") == nil)
    }

    @Test("The last entry is never erased, however old: the chain goes on from it")
    func lastStays() throws {
        let book = try Book()
        try book.pay([.armed], at: Timestamp(milliseconds: 1_000))
        let last = try #require(try book.journal.lastAudit(before: .now))
        #expect(last.sequence == 1)
        #expect(try book.journal.lastAudit(before: Timestamp(milliseconds: 500)) == nil)
    }

    @Test("Changes that are written together fail one by one")
    func together() throws {
        let book = try Book()
        let first = try book.pay([.armed])
        let second = try book.pay([.armed])
        var failures = 0
        try book.journal.together {
            for (id, state) in [(first, TransactionState.reading), (second, .approved), (second, .cancelled)] {
                do throws(JournalError) { try book.journal.append([StateChange(state)], to: id) } catch {
                    failures += 1
                }
            }
        }
        #expect(failures == 1)
        #expect(try book.journal.record(first)?.transaction.state == .reading)
        #expect(try book.journal.record(second)?.transaction.state == .cancelled)
        try book.sign()
        #expect(try book.faults().isEmpty)
    }
}
