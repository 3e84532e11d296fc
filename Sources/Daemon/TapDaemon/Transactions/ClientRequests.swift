// SPDX-License-Identifier: Apache-2.0
import Journal
import Ledger
import POSAPI
import PaymentValues
import Transactions

/// What clients wish of a transaction that there is.
struct ClientRequests: Sendable {
    let runner: TransactionRunner

    init(_ runner: TransactionRunner) { self.runner = runner }

    /// Cancels a transaction if it is not too late, and says what came of it.
    func cancel(_ id: TransactionID, by canceller: Canceller) async throws(JournalError) -> CancelAnswer? {
        try await said(id, await runner.wish(id) { .cancel(canceller, $0) })
    }

    /// Cancels a transaction for which no card was read yet, and takes nothing back.
    ///
    /// - Returns: `nil` where a card was read, or there is no such transaction.
    func free(_ id: TransactionID) async throws(JournalError) -> CancelAnswer? {
        guard let answer = await runner.wishBeforeCard(id, { .cancel(.cashier, $0) }) else { return nil }
        return try await said(id, answer)
    }

    private func said(_ id: TransactionID, _ answer: RequestAnswer?) async throws(JournalError) -> CancelAnswer? {
        guard let transaction = try await runner.transaction(id) else { return nil }
        switch answer {
        case .cancelled: return CancelAnswer(outcome: .cancelled, transaction: transaction)
        case .tooLate(let phase, let becomesReversal):
            return CancelAnswer(
                outcome: .tooLate, phase: phase, becomesReversal: becomesReversal ? true : nil, transaction: transaction
            )
        case .nothingToCancel, .done, .refused, .notForwarded:
            return CancelAnswer(outcome: .nothingToCancel, transaction: transaction)
        case .superseded where transaction.state.isSettled:
            return CancelAnswer(outcome: .nothingToCancel, transaction: transaction)
        // No machine of taps has it (any more), as an operation that is under way.
        case .superseded, nil:
            guard transaction.state.isSettled else {
                return CancelAnswer(outcome: .tooLate, phase: transaction.state, transaction: transaction)
            }
            return CancelAnswer(
                outcome: transaction.state == .cancelled ? .cancelled : .nothingToCancel, transaction: transaction)
        }
    }

    /// Confirms an approval; the same again changes nothing.
    ///
    /// - Returns: the transaction after that.
    func confirm(_ transaction: Transaction) async throws(ErrorBody) -> Transaction {
        let id = transaction.id
        let outcome: ConfirmationOutcome
        // Whatever the wall clock says meanwhile (rule R2).
        let isInTime = await runner.books.live[id]?.isConfirmable
        do throws(JournalError) { outcome = try await runner.journal.confirm(id, at: .now, isInTime: isInTime) } catch {
            throw ErrorBody(ErrorCode(error), transaction: id)
        }
        switch outcome {
        case .confirmed: await runner.take(.confirmed, id)
        case .notWanted: throw ErrorBody(.confirmationNotWanted, transaction: id)
        case .tooLate: throw ErrorBody(.confirmationTooLate, transaction: id)
        case .notApproved: throw ErrorBody(.transactionNotApproved, transaction: id)
        }
        return try await fresh(transaction)
    }

    /// Takes a payment back on the wish of the shop; the same wish again changes nothing.
    ///
    /// - Returns: the transaction after that.
    /// - Throws: `transaction.not_approved` and the like, by the table of `TransactionState.reversalRule`.
    func reverse(_ transaction: Transaction, _ reason: ReversalRequest.Reason) async throws(ErrorBody) -> Transaction {
        let id = transaction.id
        // What it is may change between two looks, but not for ever.
        for _ in 0..<4 {
            try await checkWhole(transaction)
            let isKnown: Bool
            do throws(JournalError) { isKnown = try await runner.revive(id) } catch {
                throw ErrorBody(ErrorCode(error), transaction: id)
            }
            guard isKnown else { throw ErrorBody(.transactionUnknown) }
            let answer = await runner.wish(id) { .reverse(reason, $0) }
            switch answer {
            case .done: return try await fresh(transaction)
            case .refused(let code): throw ErrorBody(code, transaction: id)
            case .cancelled, .tooLate, .nothingToCancel, .notForwarded, .superseded: break
            case nil: throw ErrorBody(.storageFailed, transaction: id)
            }
            // Being forwarded, in this very moment or since an earlier run.
            if try await fresh(transaction).state.reversalRule == .follows, await runner.books.live[id] == nil {
                throw ErrorBody(.queueStored, transaction: id)
            }
        }
        throw ErrorBody(.storageFailed, transaction: id)
    }

    /// Refuses what cannot be taken back as a whole any more.
    private func checkWhole(_ transaction: Transaction) async throws(ErrorBody) {
        let id = transaction.id
        guard transaction.of == nil else { throw ErrorBody(.refundFinal, transaction: id) }
        let refusal: LedgerRefusal?
        do throws(JournalError) {
            refusal = try await runner.journal.use { (journal) throws(JournalError) -> LedgerRefusal? in
                guard try journal.record(id)?.transaction.state == .approved, var books = try journal.books(of: id)
                else { return nil }
                do throws(LedgerRefusal) { _ = try books.requestReversal() } catch { return error }
                return nil
            }
        } catch {
            throw ErrorBody(ErrorCode(error), transaction: id)
        }
        if let refusal { throw ErrorBody(refusal, transaction) }
    }

    /// Ends an open item as a person says.
    ///
    /// - Returns: the transaction after that.
    /// - Throws: `open_item.not_open`, `open_item.ended`, `open_item.already_settled`, `queue.in_batch`.
    func settle(_ transaction: Transaction, _ settlement: Settlement) async throws(ErrorBody) -> Transaction {
        let id = transaction.id
        for _ in 0..<4 {
            let isKnown: Bool
            do throws(JournalError) { isKnown = try await runner.revive(id) } catch {
                throw ErrorBody(ErrorCode(error), transaction: id)
            }
            guard isKnown else { throw ErrorBody(.transactionUnknown) }
            switch await runner.wish(id, { .settle(settlement, $0) }) {
            case .done: return try await fresh(transaction)
            case .refused(let code): throw ErrorBody(code, transaction: id)
            case .cancelled, .tooLate, .nothingToCancel, .notForwarded, .superseded: break
            case nil: throw ErrorBody(.storageFailed, transaction: id)
            }
            // It has ended in this very moment.
            let after = try await fresh(transaction)
            if after.state == .approved || after.state.successors.isEmpty {
                throw ErrorBody(after.settlementRefusal, transaction: id)
            }
        }
        throw ErrorBody(.storageFailed, transaction: id)
    }

    /// As it is now.
    func fresh(_ transaction: Transaction) async throws(ErrorBody) -> Transaction {
        do throws(JournalError) { return try await runner.transaction(transaction.id) ?? transaction } catch {
            throw ErrorBody(ErrorCode(error), transaction: transaction.id)
        }
    }
}
