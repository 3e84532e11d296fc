// SPDX-License-Identifier: Apache-2.0
import Configuration
import Journal
import LocalHTTP
import Logging
import StoreAndForward
import Transactions
import Wire

/// What clients wish of a transaction that there is, and what the host does with those that there are.
extension TransactionRunner {
    // MARK: - Cancelling

    /// Cancels a transaction if it is not too late, and says what came of it.
    func cancel(_ id: TransactionID, by canceller: Canceller) async throws(JournalError) -> CancelAnswer? {
        let answer = await wish(id) { .cancel(canceller, $0) }
        guard let transaction = try await transaction(id) else { return nil }
        switch answer {
        case .cancelled: return CancelAnswer(outcome: .cancelled, transaction: transaction)
        case .tooLate(let phase, let becomesReversal):
            return CancelAnswer(
                outcome: .tooLate, phase: phase, becomesReversal: becomesReversal ? true : nil, transaction: transaction
            )
        case .nothingToCancel, .superseded, .done, .refused, .notForwarded:
            return CancelAnswer(outcome: .nothingToCancel, transaction: transaction)
        case nil:
            guard transaction.state.isSettled else {
                return CancelAnswer(outcome: .tooLate, phase: transaction.state, transaction: transaction)
            }
            return CancelAnswer(
                outcome: transaction.state == .cancelled ? .cancelled : .nothingToCancel, transaction: transaction)
        }
    }

    /// Somebody on this connection cares for the transaction from now on.
    ///
    /// - Returns: whether that is new.
    func hold(_ id: TransactionID, by connection: UInt64) -> Bool {
        guard live[id] != nil else { return false }
        return holders.retain(id, by: connection)
    }

    /// The connection has gone.
    ///
    /// - Returns: the holders' generation, where nobody is left and it can still be cancelled; `nil` where somebody is.
    func letGo(_ id: TransactionID, by connection: UInt64) -> Int? {
        guard let generation = holders.release(id, by: connection), isAbandoned(id, since: generation) else {
            return nil
        }
        return generation
    }

    /// Nobody cares for it, nobody has since, and it can still be cancelled.
    func isAbandoned(_ id: TransactionID, since generation: Int) -> Bool {
        guard let running = live[id], !running.machine.demand.isDetached else { return false }
        return holders.isAbandoned(id, since: generation) && running.transaction.state.isCancellable
    }

    /// Accepts nothing more and cancels what has not got a card.
    ///
    /// - Returns: when each of those is settled.
    func stop() -> [OneShot] {
        isStopping = true
        let cancellable = live.values.filter(\.transaction.state.isCancellable)
        for running in cancellable { take(.cancel(.shutdown, nil), running.transaction.id) }
        return cancellable.map(\.isSettled)
    }

    // MARK: - After the end

    /// Confirms an approval; the same again changes nothing.
    ///
    /// - Returns: the transaction after that.
    func confirm(_ transaction: Transaction) async throws(ErrorBody) -> Transaction {
        let id = transaction.id
        let outcome: ConfirmationOutcome
        do throws(JournalError) { outcome = try await journal.confirm(id, at: .now) } catch {
            throw ErrorBody(ErrorCode(error), transaction: id)
        }
        switch outcome {
        case .confirmed: take(.confirmed, id)
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
    func reverse(_ transaction: Transaction, _ reason: ReversalDemand.Reason) async throws(ErrorBody) -> Transaction {
        let id = transaction.id
        // What it is may change between two looks, but not for ever.
        for _ in 0..<4 {
            if live[id] == nil, try await revive(id) == nil { throw ErrorBody(.transactionUnknown) }
            let answer = await wish(id) { .reverse(reason, $0) }
            switch answer {
            case .done: return try await fresh(transaction)
            case .refused(let code): throw ErrorBody(code, transaction: id)
            case .cancelled, .tooLate, .nothingToCancel, .notForwarded, .superseded: break
            case nil: throw ErrorBody(.storageFailed, transaction: id)
            }
            // Being forwarded, in this very moment or since an earlier run.
            if try await fresh(transaction).state.reversalRule == .follows, live[id] == nil {
                throw ErrorBody(.queueStored, transaction: id)
            }
        }
        throw ErrorBody(.storageFailed, transaction: id)
    }

    /// Makes a machine of what the journal has of a transaction, so that something can happen to it again.
    private func revive(_ id: TransactionID) async throws(ErrorBody) -> Transaction? {
        let record: JournalRecord?
        do throws(JournalError) { record = try await journal.record(id) } catch {
            throw ErrorBody(ErrorCode(error), transaction: id)
        }
        guard let record else { return nil }
        if live[id] == nil, let running = recorded(record) {
            live[id] = running
            running.isSettled.fire()
        }
        return record.transaction
    }

    private func recorded(_ record: JournalRecord) -> Running? {
        guard let services else { return nil }
        var demand = Demand(kind: .sale, uid: record.uid)
        let adapter = settings.snapshot.adapter
        demand.times = adapter.times.ofMachine
        let machine = TransactionMachine(
            recorded: record.transaction, demand, reversal: record.reversal, at: .now)
        return Running(
            machine,
            RunTerms(
                terminal: profiles.currentTerminal(), adapter: adapter, offline: services.stored.settings()))
    }

    private func fresh(_ transaction: Transaction) async throws(ErrorBody) -> Transaction {
        do throws(JournalError) { return try await self.transaction(transaction.id) ?? transaction } catch {
            throw ErrorBody(ErrorCode(error), transaction: transaction.id)
        }
    }

    // MARK: - Stored payments

    /// Sends a stored payment, or asks what became of it where it went out before.
    ///
    /// - Returns: why it was not answered; `nil` where it was, or is not to be forwarded any more.
    func forward(_ entry: QueueEntry, _ request: AuthorizationRequest, over connection: HTTPClientConnection?) async
        -> ErrorCode?
    {
        let id = entry.transaction.id
        if live[id] == nil {
            let record = JournalRecord(
                transaction: entry.transaction, uid: entry.uid, requestHash: "")
            guard let running = recorded(record) else { return .daemonUnavailable }
            running.isSettled.fire()
            live[id] = running
        }
        live[id]?.connection = connection
        guard case .notForwarded(let code) = await wish(id, patience: nil, { .forward(request, $0) }) else {
            return nil
        }
        return code
    }

    // MARK: - After a restart

    /// Brings what an earlier run of the daemon left open to a definite state, and goes on with reversals and with
    /// approvals that nobody has confirmed yet.
    func recover() async throws(JournalError) {
        for record in try await journal.unfinished() { try await recover(record) }
        for (id, _) in try await journal.unconfirmed() {
            guard let record = try await journal.record(id), let running = recorded(record) else { continue }
            running.isSettled.fire()
            live[id] = running
            take(.recover, id)
        }
        try await journal.scrub()
    }

    private func recover(_ record: JournalRecord) async throws(JournalError) {
        guard let services, let running = recorded(record) else { return }
        let id = record.transaction.id
        live[id] = running
        var machine = running.machine
        let effects = machine.take(.recover, at: .now)
        live[id]?.machine = machine
        guard case .write(let write) = effects.first else { return take(.due, id) }
        if let failure = try await self.write(write, id, running, services) {
            return take(.notWritten(write.number, failure), id)
        }
        take(.written(write.number), id)
    }
}
