import Journal
import Logging
import Wire

/// The second step of a close: approvals that their POS confirms in time, and those that are taken back, be it for want
/// of a confirmation or on demand.
struct TwoStepClose: Sendable {
    let store: TransactionStore
    let reversals: Reversals
    /// For the timers: what is left of them goes on with the next start.
    let queue: WorkQueue
    let logger: Logger

    /// Takes an approval back at `due`, unless it has been confirmed by then.
    func watch(_ id: TransactionID, due: Timestamp) {
        queue.add {
            while true {
                let wait = due.milliseconds - Timestamp.now.milliseconds
                // Not before the last moment in which a confirmation counts.
                guard wait >= 0 else { break }
                do { try await Task.sleep(for: .milliseconds(wait + 1)) } catch { return }
            }
            await takeBackUnconfirmed(id)
        }
    }

    private func takeBackUnconfirmed(_ id: TransactionID) async {
        while !Task.isCancelled {
            do throws(JournalError) {
                if try await store.takeBack(id, .notConfirmed, .timeout, unconfirmedOnly: true) {
                    logger.warning("approval not confirmed", metadata: ["transaction": "\(id)"])
                    reversals.take(id)
                }
                return
            } catch {
                logger.critical("journal not written", metadata: ["transaction": "\(id)", "error": "\(error)"])
                try? await Task.sleep(for: .seconds(1))
            }
        }
    }

    /// How long a wish waits for an answer that is being written down.
    static let patience: Duration = .seconds(5)

    /// Takes a payment back on the wish of the shop; the same wish again changes nothing.
    ///
    /// - Returns: the transaction after that.
    /// - Throws: `transaction.not_approved` and the like, by the table of `TransactionState.reversalRule`.
    func reverse(_ transaction: Transaction, _ reason: ReversalDemand.Reason) async throws(ErrorBody) -> Transaction {
        let id = transaction.id
        var known = transaction
        while true {
            let wish: ReversalWish
            do throws(JournalError) { wish = try await carryOut(reason, known) } catch {
                throw ErrorBody(ErrorCode(error), transaction: id)
            }
            let after = try await fresh(known)
            switch wish {
            case .done: return after
            case .refused(let code): throw ErrorBody(code, transaction: id)
            case .wasDecided:
                // Its state has changed meanwhile. Where it has not, the queue has just begun to forward it, or its answer
                // cannot be written down.
                if after.state.reversalRule == .follows {
                    throw ErrorBody(await store.live[id] == nil ? .queueStored : .storageFailed, transaction: id)
                }
                known = after
            }
        }
    }

    /// One attempt at it, with the payment as it was known to be.
    private func carryOut(
        _ reason: ReversalDemand.Reason, _ known: Transaction
    ) async throws(JournalError) -> ReversalWish {
        switch known.state.reversalRule {
        case .begins:
            if try await store.takeBack(known.id, .takenBack, reason.forAdapter, unconfirmedOnly: false) {
                reversals.take(known.id)
            }
            return .done
        case .follows: return await store.reverseOnceApproved(known.id)
        case .repeats: return .done
        case .refused(let code): return .refused(code)
        }
    }

    private func fresh(_ transaction: Transaction) async throws(ErrorBody) -> Transaction {
        do throws(JournalError) { return try await store.transaction(transaction.id) ?? transaction } catch {
            throw ErrorBody(ErrorCode(error), transaction: transaction.id)
        }
    }

    /// Confirms an approval; the same again changes nothing.
    ///
    /// - Returns: the transaction after that.
    func confirm(_ transaction: Transaction) async throws(ErrorBody) -> Transaction {
        let id = transaction.id
        let outcome: ConfirmationOutcome
        do throws(JournalError) { outcome = try await store.journal.confirm(id, at: .now) } catch {
            throw ErrorBody(ErrorCode(error), transaction: id)
        }
        switch outcome {
        case .confirmed: break
        case .notWanted: throw ErrorBody(.confirmationNotWanted, transaction: id)
        case .tooLate: throw ErrorBody(.confirmationTooLate, transaction: id)
        case .notApproved: throw ErrorBody(.transactionNotApproved, transaction: id)
        }
        return try await fresh(transaction)
    }
}

/// What came of a wish to take a payment back.
enum ReversalWish: Equatable, Sendable {
    case done
    case refused(ErrorCode)
    /// Nothing: its answer came first.
    case wasDecided
}

extension TransactionStore {
    /// Begins to take an approved payment back. For the shop it has not taken place from here on.
    ///
    /// - Returns: `false` where it is not approved (any more), or confirmed and `unconfirmedOnly`.
    func takeBack(
        _ id: TransactionID, _ reason: DeclineReason, _ cause: ReversalRequest.Reason, unconfirmedOnly: Bool
    ) async throws(JournalError) -> Bool {
        guard let found = try await journal.record(id)?.transaction else { throw .unknownTransaction }
        var change = Reversals.start(id, reason, cause, nil, found.mode)
        change.result?.pspReference = found.result?.pspReference
        // It may have been confirmed since: what the journal has in the moment of the change counts.
        guard let record = try await journal.beginReversal(id, change, unconfirmedOnly: unconfirmedOnly) else {
            return false
        }
        live[id] = LiveTransaction(transaction: record.transaction, uid: record.uid)
        noted(id, [change])
        var event = Event(.paymentDeclined, lane: record.transaction.lane)
        event.transaction = id
        event.result = change.result
        publish(event)
        return true
    }

    /// Takes a payment that has been sent back if it turns out to be approved. Where its answer has come, waits until that
    /// is written down.
    func reverseOnceApproved(_ id: TransactionID) async -> ReversalWish {
        guard let known = live[id] else { return .wasDecided }
        if known.isForwarded { return .refused(.queueStored) }
        guard known.isDecided || known.transaction.state.isSettled else {
            live[id]?.mustBeReversed = true
            return .done
        }
        await known.isSettled.wait(atMost: TwoStepClose.patience)
        return .wasDecided
    }
}
