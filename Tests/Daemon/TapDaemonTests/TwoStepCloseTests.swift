// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import Journal
import LocalHTTP
import POSAPI
import PSPSandbox
import PaymentValues
import ReaderVirtual
import Testing
import Transactions

@testable import TapDaemon

@Suite("The two-step close, and taking back on demand", .timeLimit(.minutes(5)))
struct TwoStepCloseTests {
    /// Pays in a shop with a sandbox, and hands over what was approved.
    private func approved(
        _ more: String = "", in folder: TestFolder, _ wish: Shop.Wish = Shop.Wish(),
        _ body: (Shop, Sandbox, Transaction) async throws -> Void
    ) async throws {
        try await withSandbox(in: folder) { sandbox in
            try await Shop.open(in: folder, wish) { shop in
                try shop.reader.obey("present visa")
                let transaction = try await shop.post(purchase(1_200, order: "Z-1", more: more), wait: 20).transaction()
                // Where it waits for a confirmation it may be taken back by now.
                try #require(transaction.history.contains { $0.state == .approved })
                try await body(shop, sandbox, transaction)
            }
        }
    }

    @Test("A confirmed approval stays, however often it is confirmed")
    func confirmed() async throws {
        try await approved(#","confirmWithin":600"#, in: try TestFolder()) { shop, sandbox, transaction in
            let due = try #require(transaction.confirmation?.due)
            #expect(due.milliseconds - transaction.updatedAt.milliseconds == 600_000)
            for _ in 0..<2 {
                let answer = try await shop.post(to: "/v1/transactions/\(transaction.id)/confirmation")
                #expect(answer.status == 200)
                #expect(try answer.transaction().confirmation?.confirmedAt != nil)
            }
            #expect(await sandbox.ledger.transactions.map(\.outstanding) == [1_200])
        }
    }

    @Test("An approval that nobody confirms in time is taken back")
    func unconfirmed() async throws {
        try await approved(#","confirmWithin":1"#, in: try TestFolder()) { shop, sandbox, transaction in
            let end = try await shop.reach([.reversed], transaction.id)
            #expect(end.result?.outcome == .declined && end.result?.reason == .notConfirmed)
            #expect(await sandbox.ledger.transactions.map(\.outstanding) == [0])
            let late = try await shop.post(to: "/v1/transactions/\(transaction.id)/confirmation")
            #expect(late.status == 409)
            #expect(try late.error().code == "confirmation.too_late")
        }
    }

    @Test("The time for a confirmation survives a restart: over by then, the approval is taken back at the start")
    func restart() async throws {
        let folder = try TestFolder()
        let id = try leaveUnconfirmed(in: folder, due: Timestamp.now.advanced(bySeconds: -1))
        try await withAdapter(in: folder) { _ in
            .text(200, #"{"status":"done"}"#)
        } _: { adapter in
            try await Shop.open(in: folder) { shop in
                let end = try await shop.reach([.reversed], id)
                #expect(end.result?.reason == .notConfirmed)
                // Asked again where an answer takes long, under the same key.
                #expect(Set(adapter.requests.map(\.path.last)) == ["reversals"])
                #expect(Set(adapter.requests.map(\.key)).count == 1)
            }
        }
    }

    @Test("W10: at a start an approval that waits for its till is no error, and can be confirmed")
    func startWithoutError() async throws {
        let folder = try TestFolder()
        let id = try leaveUnconfirmed(in: folder, due: Timestamp.now.advanced(bySeconds: 600))
        let log = KeptLog()
        var wish = Shop.Wish()
        wish.logger = log.logger
        try await withAdapter(in: folder) { _ in
            .text(200, #"{"status":"done"}"#)
        } _: { _ in
            try await Shop.open(in: folder, wish) { shop in
                let confirmed = try await shop.post(to: "/v1/transactions/\(id)/confirmation")
                #expect(confirmed.status == 200)
            }
        }
        #expect(log.lines("input that the state does not know").isEmpty)
    }

    @Test("After a restart an approval can still be confirmed while there is time")
    func restartInTime() async throws {
        let folder = try TestFolder()
        let id = try leaveUnconfirmed(in: folder, due: Timestamp.now.advanced(bySeconds: 300))
        try await withAdapter(in: folder) { _ in
            .text(500, "")
        } _: { adapter in
            try await Shop.open(in: folder) { shop in
                let answer = try await shop.post(to: "/v1/transactions/\(id)/confirmation")
                #expect(answer.status == 200)
            }
            try await Shop.open(in: folder) { shop in
                let transaction = try await shop.get("/v1/transactions/\(id)").transaction()
                #expect(transaction.state == .approved && transaction.confirmation?.confirmedAt != nil)
            }
            #expect(adapter.requests.isEmpty)
        }
    }

    /// The journal of a daemon that stopped after an approval which waits for its confirmation.
    private func leaveUnconfirmed(in folder: TestFolder, due: Timestamp) throws -> TransactionID {
        try FileManager.default.createDirectory(atPath: folder.path + "/state", withIntermediateDirectories: true)
        let journal = try Journal(directory: folder.path + "/state")
        let id = TransactionID()
        _ = try journal.create(
            NewTransaction(
                id: id, owner: Principal(uid: geteuid()), idempotencyKey: "k", requestHash: "h", type: .purchase,
                mode: .test,
                lane: "lane-0", amount: Money(value: 500, currency: try #require(Currency("EUR"))), order: nil,
                at: .now))
        var approved = StateChange(.approved)
        approved.result = PaymentResult(mode: .test, outcome: .approved)
        approved.confirmBy = due
        try journal.append(
            [StateChange(.armed), StateChange(.reading), StateChange(.sealed), StateChange(.sent), approved], to: id)
        return id
    }

    @Test("An approval without confirmWithin needs no confirmation, and says so")
    func notWanted() async throws {
        try await approved(in: try TestFolder()) { shop, _, transaction in
            #expect(transaction.confirmation == nil)
            let answer = try await shop.post(to: "/v1/transactions/\(transaction.id)/confirmation")
            #expect(answer.status == 409)
            #expect(try answer.error().code == "confirmation.not_wanted")
        }
    }

    @Test("An approved payment is taken back on demand, once, however often that is asked")
    func reversed() async throws {
        try await approved(in: try TestFolder()) { shop, sandbox, transaction in
            let target = "/v1/transactions/\(transaction.id)/reversal"
            let first = try await shop.post(to: target, #"{"reason":"customerCancel"}"#)
            #expect(first.status == 202 || first.status == 200)
            let end = try await shop.reach([.reversed], transaction.id)
            #expect(end.result?.reason == .reversed && end.result?.reversal == .done)
            let again = try await shop.post(to: target, #"{"reason":"malfunction"}"#)
            #expect(again.status == 200)
            #expect(try again.transaction().history == end.history)
            #expect(await sandbox.ledger.transactions.map(\.outstanding) == [0])
            let name = EventName.paymentReversed
            #expect(shop.runner.events.kept(about: transaction.id).count { $0.name == name } == 1)
        }
    }

    @Test("A confirmed payment can be taken back on demand as well")
    func confirmedThenReversed() async throws {
        try await approved(#","confirmWithin":600"#, in: try TestFolder()) { shop, sandbox, transaction in
            _ = try await shop.post(to: "/v1/transactions/\(transaction.id)/confirmation")
            _ = try await shop.post(
                to: "/v1/transactions/\(transaction.id)/reversal", #"{"reason":"customerCancel"}"#)
            _ = try await shop.reach([.reversed], transaction.id)
            #expect(await sandbox.ledger.transactions.map(\.outstanding) == [0])
        }
    }

    @Test("What is not approved cannot be taken back: the table of states decides")
    func declined() async throws {
        try await Shop.withSandbox { shop, _ in
            try shop.reader.obey("present visa")
            let transaction = try await shop.post(purchase(1_051), wait: 20).transaction()
            #expect(transaction.state == .declined)
            let answer = try await shop.post(
                to: "/v1/transactions/\(transaction.id)/reversal", #"{"reason":"customerCancel"}"#)
            #expect(answer.status == 409)
            #expect(try answer.error().code == "transaction.not_approved")
        }
    }

    @Test("A payment on its way is taken back once it is approved")
    func onItsWay() async throws {
        try await Shop.withSandbox { shop, sandbox in
            try shop.reader.obey("present visa")
            let connection = try await shop.client.connect()
            let id = try await shop.post(purchase(1_097), over: connection).transaction().id
            _ = try await shop.reach([.sent], id)
            let answer = try await shop.post(
                to: "/v1/transactions/\(id)/reversal", #"{"reason":"customerCancel"}"#)
            #expect(answer.status == 202)
            _ = try await shop.reach([.reversed], id)
            #expect(await sandbox.ledger.transactions.map(\.outstanding) == [0])
        }
    }

    /// A payment whose answer has come and is not written down yet, as far as the daemon is concerned.
    private func decided(
        _ wish: @escaping @Sendable (Shop, TransactionID) async throws -> Answer,
        _ body: (Shop, Sandbox, TransactionID, Answer) async throws -> Void
    ) async throws {
        try await Shop.withSandbox { shop, sandbox in
            try shop.reader.obey("present visa")
            let request = purchase(1_097, more: #","detached":true"#)
            let id = try await shop.post(request).transaction().id
            _ = try await shop.reach([.sent], id)
            let gate = DispatchSemaphore(value: 0)
            async let held: Void = shop.runner.journal.use { _ in gate.wait() }
            while await shop.runner.books.live[id]?.machine.isWriting == false {
                try await Task.sleep(for: .milliseconds(2))
            }
            async let answer = wish(shop, id)
            try await Task.sleep(for: .milliseconds(50))
            gate.signal()
            try await held
            try await body(shop, sandbox, id, try await answer)
        }
    }

    @Test("A demand that comes while an approval is being written down waits for it, and takes it back")
    func demandBehindTheAnswer() async throws {
        try await decided {
            try await $0.post(to: "/v1/transactions/\($1)/reversal", #"{"reason":"customerCancel"}"#)
        } _: { shop, sandbox, id, answer in
            let state = try answer.transaction().state
            #expect(state == .reversing || state == .reversed)
            let end = try await shop.reach([.reversed], id)
            #expect(end.history.map(\.state).suffix(3) == [.approved, .reversing, .reversed])
            #expect(await sandbox.ledger.transactions.map(\.outstanding) == [0])
        }
    }

    @Test("A cancel that comes while an approval is being written down says that it is approved, and it stays so")
    func cancelBehindTheAnswer() async throws {
        try await decided {
            try await $0.delete("/v1/transactions/\($1)")
        } _: { _, sandbox, _, answer in
            let answer = try answer.cancel()
            #expect(answer.outcome == .nothingToCancel && answer.transaction.state == .approved)
            #expect(await sandbox.ledger.transactions.map(\.outstanding) == [1_097])
        }
    }

    @Test("A demand that saw the payment on its way takes it back also where it has been approved since")
    func demandWithOldKnowledge() async throws {
        try await approved(in: try TestFolder()) { shop, sandbox, transaction in
            var old = transaction
            old.state = .sent
            let after = try await ClientRequests(shop.runner).reverse(old, .malfunction)
            #expect(after.state == .reversing || after.state == .reversed)
            _ = try await shop.reach([.reversed], transaction.id)
            #expect(await sandbox.ledger.transactions.map(\.outstanding) == [0])
        }
    }

    @Test("However many confirm and take back at once, it is taken back once, and every answer is true")
    func everythingAtOnce() async throws {
        try await approved(#","confirmWithin":600"#, in: try TestFolder()) { shop, sandbox, transaction in
            let target = "/v1/transactions/\(transaction.id)"
            let answers = try await withThrowingTaskGroup(of: (Bool, Answer).self) { group in
                for number in 0..<6 {
                    group.addTask {
                        guard number % 2 == 0 else { return (true, try await shop.post(to: target + "/confirmation")) }
                        return (false, try await shop.post(to: target + "/reversal", #"{"reason":"customerCancel"}"#))
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let end = try await shop.reach([.reversed], transaction.id)
            for (isConfirmation, answer) in answers {
                guard isConfirmation else {
                    #expect([.reversing, .reversed].contains(try answer.transaction().state))
                    continue
                }
                let isConfirmed = end.confirmation?.confirmedAt != nil
                let code = answer.status == 409 ? try answer.error().code : nil
                #expect(answer.status == 200 ? isConfirmed : code == "confirmation.too_late")
            }
            #expect(end.history.count { $0.state == .reversing } == 1)
            #expect(await sandbox.ledger.transactions.map(\.outstanding) == [0])
            let written = try shop.journal("SELECT confirmed_at IS NOT NULL FROM payment")
            #expect(written == (end.confirmation?.confirmedAt != nil ? "1" : "0"))
        }
    }

    @Test("A body with anything but the reason is refused, and an unknown transaction is unknown")
    func badRequests() async throws {
        try await approved(in: try TestFolder()) { shop, _, transaction in
            let target = "/v1/transactions/\(transaction.id)/reversal"
            let partial = try await shop.post(to: target, #"{"reason":"malfunction","amount":5}"#)
            #expect(try partial.error().code == "request.unknown_field")
            #expect(try partial.error().field == "amount")
            #expect(try await shop.post(to: target, #"{"reason":"timeout"}"#).error().field == "reason")
            let unknown = try await shop.post(to: "/v1/transactions/\(TransactionID())/confirmation")
            #expect(unknown.status == 404)
            #expect(try await shop.post(to: "/v1/transactions/\(transaction.id)/undo").status == 404)
            #expect(try await shop.get("/v1/transactions/\(transaction.id)/reversal").status == 405)
        }
    }
}
