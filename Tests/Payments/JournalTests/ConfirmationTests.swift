// SPDX-License-Identifier: Apache-2.0
import Foundation
import Journal
import POSAPI
import PSPAPI
import PaymentValues
import Testing
import Transactions

@Suite("Confirmations in the journal")
struct ConfirmationTests {
    private let due = Timestamp(milliseconds: 1_000_000)

    private func approved(confirmBy: Timestamp?, _ body: (Journal, TransactionID) throws -> Void) throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "confirm-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let journal = try Journal(directory: path)
        let id = TransactionID()
        _ = try journal.create(
            NewTransaction(
                id: id, owner: Principal(uid: 1), idempotencyKey: "k", requestHash: "h", type: .purchase, mode: .test,
                lane: "main",
                amount: Money(value: 5, currency: try #require(Currency("EUR"))), order: nil, at: .now))
        var end = StateChange(.approved)
        end.confirmBy = confirmBy
        try journal.append(
            [StateChange(.armed), StateChange(.reading), StateChange(.sealed), StateChange(.sent), end], to: id)
        try body(journal, id)
    }

    @Test("Up to the last moment it counts, after that it does not", arguments: [Int64](-1...1))
    func time(offset: Int64) throws {
        try approved(confirmBy: due) { journal, id in
            let at = Timestamp(milliseconds: due.milliseconds + offset)
            let outcome = try journal.confirm(id, at: at)
            #expect(outcome == (offset <= 0 ? .confirmed : .tooLate))
            let confirmation = try journal.record(id)?.transaction.confirmation
            #expect(confirmation?.confirmedAt == (offset <= 0 ? at : nil))
        }
    }

    @Test("The first confirmation counts")
    func again() throws {
        try approved(confirmBy: due) { journal, id in
            let first = Timestamp(milliseconds: 1)
            let outcomes = [
                try journal.confirm(id, at: first), try journal.confirm(id, at: Timestamp(milliseconds: 9_000_000)),
            ]
            #expect(outcomes == [.confirmed, .confirmed])
            let confirmation = try journal.record(id)?.transaction.confirmation
            #expect(confirmation == Confirmation(due: due, confirmedAt: first))
        }
    }

    @Test("What is confirmed is not taken back for want of it, and what is being taken back is not confirmed")
    func either() throws {
        var change = StateChange(.reversing)
        change.reversal = ReversalPlan(reason: .timeout, due: .now)
        try approved(confirmBy: due) { journal, id in
            let before = try journal.unconfirmed().map(\.id)
            _ = try journal.confirm(id, at: due)
            let after = try journal.unconfirmed().map(\.id)
            #expect(before == [id] && after.isEmpty)
            let begun = [
                try journal.beginReversal(id, change, unconfirmedOnly: true),
                try journal.beginReversal(id, change, unconfirmedOnly: false),
            ]
            #expect(begun[0] == nil && begun[1]?.transaction.confirmation?.confirmedAt == due)
        }
        try approved(confirmBy: due) { journal, id in
            let begun = [
                try journal.beginReversal(id, change, unconfirmedOnly: true),
                try journal.beginReversal(id, change, unconfirmedOnly: true),
            ]
            let outcome = try journal.confirm(id, at: due)
            #expect(begun[0]?.transaction.state == .approved && begun[1] == nil && outcome == .tooLate)
        }
    }

    @Test("Nothing is confirmed that nobody asked to confirm, or that is unknown")
    func notWanted() throws {
        try approved(confirmBy: nil) { journal, id in
            let outcome = try journal.confirm(id, at: due)
            #expect(outcome == .notWanted)
            #expect(throws: JournalError.unknownTransaction) { try journal.confirm(TransactionID(), at: due) }
        }
    }
}
