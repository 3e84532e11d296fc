// SPDX-License-Identifier: Apache-2.0
import Envelope
import Foundation
import Ledger
import POSAPI
import PaymentValues
import TestSupport
import Testing
import Transactions

@testable import Journal

/// A journal that the program of version 0.1.0 has written: by taps at its virtual reader, and by its sandbox. How is told in
/// Tests/Vectors/journal/README.md; what it must hold is written down here by hand.
@Suite("The journal of version 0.1.0")
struct MigrationTests {
    /// Order, type, state, and what the books must say: entry, hold, money.
    private static let expected: [(order: String?, state: TransactionState, row: String?)] = [
        ("A-1", .approved, "captured 0/1200"), ("A-2", .approved, "captured 0/2100"),
        ("partial", .approved, "captured 0/605"), ("declined", .declined, nil), ("R-1", .approved, "refunded 0/-500"),
        ("manual-1", .approved, "authorised 20000/0"), ("manual-2", .approved, "authorised 5000/0"),
        ("yen", .approved, "captured 0/700"), ("dinar", .approved, "captured 0/1500"), (nil, .approved, nil),
        ("reversed", .reversed, nil), ("confirmed", .approved, "captured 0/3400"),
        ("unconfirmed", .approved, "captured 0/3500"), ("cancelled", .cancelled, nil), ("failed", .failed, nil),
        ("reversing", .reversing, nil), ("delivered", .delivered, "delivered 0/0"),
        ("stored", .approved, "captured 0/1100"), ("stored-2", .unknown, nil), ("unknown", .reversing, nil),
        ("sent", .sent, nil),
    ]

    private func withCopy(_ body: (String) throws -> Void) throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "migration-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: path) }
        try FileManager.default.copyItem(
            at: Checkout.file("Tests/Vectors/journal/0.1.0.sqlite"),
            to: URL(filePath: path + "/" + Journal.fileName))
        try body(path)
    }

    private func sqlite(_ path: String, _ sql: String) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/sqlite3")
        process.arguments = [path + "/" + Journal.fileName]
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        process.standardError = output
        try process.run()
        try input.fileHandleForWriting.write(contentsOf: Data(sql.utf8))
        try input.fileHandleForWriting.close()
        let text = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: text, as: UTF8.self).trimmingCharacters(in: .newlines)
    }

    private func check(_ path: String) throws {
        let journal = try Journal(directory: path)
        let page = try #require(try journal.list(TransactionFilter(), limit: 100))
        let found = page.transactions.reversed()
        #expect(found.map(\.order) == Self.expected.map(\.order))
        #expect(found.map(\.state) == Self.expected.map(\.state))
        for (transaction, expected) in zip(found, Self.expected) {
            let rows = try journal.ledgerRows(of: transaction.id).map { "\($0.entry.rawValue) \($0.hold)/\($0.money)" }
            #expect(rows == (expected.row.map { [$0] } ?? []), "\(transaction.order ?? "-")")
            // The cached account is what the books say.
            #expect(try journal.bookedAccount(of: transaction.id) == transaction.account)
            let isBooked = expected.row != nil && expected.state == .approved && transaction.type == .purchase
            #expect((transaction.account != nil) == isBooked)
        }
        let sums = "SELECT currency, sum(hold), sum(money) FROM ledger GROUP BY currency ORDER BY currency;"
        #expect(try sqlite(path, sums) == "EUR|25000|11405\nJPY|0|700\nKWD|0|1500")
        #expect(try sqlite(path, "PRAGMA foreign_key_check; PRAGMA integrity_check;") == "ok")
        #expect(try journal.damagedPayments().isEmpty)
    }

    @Test("It opens, every payment is what it was, and the ledger is their sum")
    func migrates() throws {
        try withCopy { path in
            #expect(try sqlite(path, "PRAGMA user_version;") == "5")
            #expect(try Journal(directory: path).needsScrub, "the old tables may still be in a file")
            #expect(try Journal(directory: path).needsScrub == false)
            try check(path)
            // The second start finds what the first has made.
            try check(path)
        }
    }

    @Test("Its audit chain verifies before and after")
    func auditChain() throws {
        try withCopy { path in
            let key = try VerificationKey(
                jwk: Array(Data(contentsOf: Checkout.file("Tests/Vectors/journal/0.1.0-installation.jwk"))))
            #expect(try faults(path, key).isEmpty)
            try check(path)
            #expect(try faults(path, key).isEmpty)
        }
    }

    private func faults(_ path: String, _ key: VerificationKey) throws -> [AuditFault] {
        let source = try AuditSource(file: path + "/" + Journal.fileName)
        var verifier = AuditVerifier(key: key)
        for statement in source.statements { verifier.take(statement: statement) }
        var count = 0
        try source.forEachLink { link in
            count += 1
            if let link { verifier.take(link) } else { verifier.takeUnreadable(number: count) }
        }
        for id in try source.differences() { verifier.takeDifference(transaction: id) }
        #expect(count == 129)
        return verifier.finish()
    }

    @Test("What it holds can be captured and refunded, and the first day end is of its own day")
    func goesOn() throws {
        try withCopy { path in
            let journal = try Journal(directory: path)
            func id(_ order: String) throws -> TransactionID {
                try #require(try journal.records(order: order).first).transaction.id
            }
            let held = try #require(try journal.books(of: try id("manual-2")))
            #expect(held.capture == .manual && held.account.capturableUpTo == 5_000)
            #expect(try journal.books(of: try id("partial"))?.account.refundable == 605)
            let last = try #require(try journal.list(TransactionFilter(), limit: 1)?.transactions.first?.number)
            #expect(last == 21)
            let closing = try journal.closeDay(
                NewEndOfDay(owner: Principal(uid: 1), idempotencyKey: "d", requestHash: "h", label: "first", at: .now))
            guard case .closed(let end) = closing else { throw BookedJournal.Refused() }
            #expect(end.totals.lines.isEmpty && end.totals.net.isEmpty)
            #expect(try journal.days(limit: 9).map(\.label) == [nil, "first", "before this version"])
        }
    }

    @Test("A process that is killed in the middle of it leaves the file as it was", arguments: 5...9)
    func killed(step: Int) throws {
        try withCopy { path in
            // Pages are written before the end, as they are when a journal is larger than the memory for it.
            let steps = Schema.steps[5...step].joined(separator: "\n")
            let script = "PRAGMA journal_mode = WAL; PRAGMA cache_size = 1; BEGIN IMMEDIATE;\n\(steps)\n"
            _ = try sqlite(path, script + "PRAGMA user_version = \(Schema.version);\n.shell kill -9 $PPID\nCOMMIT;\n")
            #expect(try sqlite(path, "PRAGMA user_version;") == "5")
            try check(path)
        }
    }
}
