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

    /// Takes a payment back on the wish of the shop; the same wish again changes nothing.
    ///
    /// - Returns: the transaction after that.
    /// - Throws: `transaction.not_approved` and the like, by the table of `TransactionState.reversalRule`.
    func reverse(_ transaction: Transaction, _ reason: ReversalDemand.Reason) async throws(ErrorBody) -> Transaction {
        let id = transaction.id
        let rule = transaction.state.reversalRule
        if case .refused(let code) = rule { throw ErrorBody(code, transaction: id) }
        if rule == .follows, await store.isForwarded(id) { throw ErrorBody(.queueStored, transaction: id) }
        do throws(JournalError) {
            switch rule {
            case .begins:
                if try await store.takeBack(id, .takenBack, reason.forAdapter, unconfirmedOnly: false) {
                    reversals.take(id)
                }
            case .follows: await store.reverseOnceApproved(id)
            case .repeats, .refused: break
            }
            return try await store.transaction(id) ?? transaction
        } catch {
            throw ErrorBody(ErrorCode(error), transaction: id)
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
        do throws(JournalError) { return try await store.transaction(id) ?? transaction } catch {
            throw ErrorBody(ErrorCode(error), transaction: id)
        }
    }
}

extension TransactionStore {
    /// Begins to take an approved payment back. For the shop it has not taken place from here on.
    ///
    /// - Returns: `false` where it is not approved (any more), or confirmed and `unconfirmedOnly`.
    func takeBack(
        _ id: TransactionID, _ reason: DeclineReason, _ cause: ReversalRequest.Reason, unconfirmedOnly: Bool
    ) async throws(JournalError) -> Bool {
        guard let record = try await journal.record(id) else { throw .unknownTransaction }
        var change = Reversals.start(id, reason, cause, nil, record.transaction.mode)
        change.result?.pspReference = record.transaction.result?.pspReference
        guard try await journal.beginReversal(id, change, unconfirmedOnly: unconfirmedOnly) else { return false }
        var known = LiveTransaction(transaction: record.transaction, uid: record.uid)
        known.apply(change)
        known.announce()
        live[id] = known
        logger.info("state changed", metadata: ["transaction": "\(id)", "state": "\(change.state.rawValue)"])
        var event = Event(.paymentDeclined, lane: record.transaction.lane)
        event.transaction = id
        event.result = change.result
        publish(event)
        return true
    }

    func isForwarded(_ id: TransactionID) -> Bool { live[id]?.isForwarded ?? false }

    /// Takes a payment that has been sent back if it turns out to be approved.
    func reverseOnceApproved(_ id: TransactionID) { live[id]?.mustBeReversed = true }
}
