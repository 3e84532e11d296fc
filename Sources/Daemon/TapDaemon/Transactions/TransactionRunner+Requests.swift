// SPDX-License-Identifier: Apache-2.0
import Journal
import LocalHTTP
import PINDevice
import POSAPI
import PSPAPI
import PaymentValues
import ReaderCore
import Transactions

/// What clients wish of a transaction that there is, and what the host does with those that there are.
extension TransactionRunner {
    /// Lets a client's wish happen to a transaction, and waits for its answer.
    ///
    /// - Returns: `nil` where there is none in time.
    func wish(
        _ id: TransactionID, patience: Duration? = WaitingClients.patience, _ input: (RequestID) -> Input
    ) async -> RequestAnswer? {
        guard books.live[id] != nil else { return .superseded }
        let wish = wishes.number()
        let input = input(wish)
        return await withCheckedContinuation { continuation in
            wishes.wait(wish, continuation)
            take(input, id)
            if let patience { WaitingClients.after(patience) { [weak self] in await self?.giveUp(wish) } }
        }
    }

    /// The same as long as no card was read, in one step with the look at that.
    ///
    /// - Returns: `nil` where it is too late for it, or there is no answer in time.
    func wishBeforeCard(_ id: TransactionID, _ input: (RequestID) -> Input) async -> RequestAnswer? {
        guard let state = books.live[id]?.transaction.state, [.created, .preparing, .armed].contains(state) else {
            return nil
        }
        return await wish(id, input)
    }

    /// - Parameter wish: `nil` for every one, those that are still to come included: at a stop nothing answers them.
    func giveUp(_ wish: RequestID?) {
        if let wish { wishes.answer(wish, nil) } else { wishes.close() }
    }

    /// Accepts nothing more and cancels what has not got a card.
    ///
    /// - Returns: when each of those is settled.
    func stop() -> [OneShot] {
        books.isStopping = true
        for conversation in books.conversations.values { conversation.cancel() }
        for wait in books.standing.values { wait.cancel() }
        let cancellable = books.cancellable
        for running in cancellable { take(.cancel(.shutdown, nil), running.transaction.id) }
        return cancellable.map(\.isSettled)
    }

    // MARK: - What the journal has

    /// Makes a machine of what the journal has of a transaction, where there is none, so that something can happen to it.
    ///
    /// - Returns: whether the transaction is known.
    func revive(_ id: TransactionID) async throws(JournalError) -> Bool {
        guard books.live[id] == nil else { return true }
        guard let record = try await journal.record(id) else { return false }
        if books.live[id] == nil { books.revive(recorded(record)) }
        return true
    }

    private func recorded(_ record: JournalRecord) -> LiveTransaction {
        LiveTransaction(
            record,
            TransactionContext(
                terminal: profiles.currentTerminal(), route: paymentServices.route(record.service),
                offline: services.queue.settings()), settings.snapshot.adapter.times)
    }

    /// Sends a stored payment, or asks what became of it where it went out before.
    ///
    /// - Parameter keyLife: how long the service keeps keys, as it says now.
    func forward(
        _ entry: QueueEntry, _ request: AuthorizationRequest, to route: ServiceRoute,
        over connection: HTTPClientConnection?, keyLife: Duration
    ) async -> QueueForwarder.Outcome {
        let id = entry.transaction.id
        if books.live[id] == nil {
            let record = JournalRecord(
                transaction: entry.transaction, owner: entry.owner, requestHash: "", service: route.service,
                open: entry.open)
            books.revive(recorded(record))
        }
        books.live[id]?.connection = connection
        books.live[id]?.terms.route = route
        let latest = clock.latest
        switch await wish(id, patience: nil, { .forward(request, $0, keyLife: keyLife, latest: latest) }) {
        case .notForwarded(let code): return .unanswered(code)
        case .cancelled, .tooLate, .nothingToCancel, .done, .refused, .superseded: return .ended
        case nil: return .stopping
        }
    }

    /// The configuration has changed: whoever can be asked now is asked at once.
    func hasten() {
        for (id, running) in books.live where running.machine.open == .otherService { take(.hasten, id) }
    }

    // MARK: - After a restart

    /// Brings what an earlier run of the daemon left open to a definite state, and goes on with reversals and with
    /// approvals that nobody has confirmed yet.
    func recover() async throws(JournalError) {
        let configuration = settings.snapshot
        let awaited = try await journal.use { (journal) throws(JournalError) in try journal.awaitedPINs() }
        // A device may still ask for a PIN that nobody takes any more. One whose driver hangs does not hold up the start.
        for (id, name, _) in awaited {
            guard let link = PINDeviceSlots.link(name, configuration) else { continue }
            services.lasting.add { await link.withdraw(id) }
        }
        let asked = Set(awaited.map(\.payment))
        let unfinished = try await journal.use { (journal) throws(JournalError) in try journal.unfinished() }
        // What names a payment is the operations' engine's: it is never reversed for want of an answer.
        for record in unfinished where !record.transaction.isOperation {
            try await recover(record, isPINAwaited: asked.contains(record.transaction.id))
        }
        let unconfirmed = try await journal.use { (journal) throws(JournalError) in try journal.unconfirmed() }
        for (id, _) in unconfirmed {
            guard let record = try await journal.record(id) else { continue }
            books.revive(recorded(record))
            // It stands as it is until its till confirms it, or its time is over.
            take(.due, id)
        }
        try await journal.use { (journal) throws(JournalError) in
            // Nothing was dropped where there was nothing to do.
            if journal.needsScrub || !unfinished.isEmpty { try journal.scrub() }
        }
    }

    private func recover(_ record: JournalRecord, isPINAwaited: Bool) async throws(JournalError) {
        let (id, running) = (record.transaction.id, recorded(record))
        books.live[id] = running
        var machine = running.machine
        let effects = machine.take(.recover(isPINAwaited: isPINAwaited), at: .now)
        books.live[id]?.machine = machine
        guard case .write(let write) = effects.first else { return take(.due, id) }
        let run = EffectRun(running: running, runner: self)
        if let failure = try await run.record(write) { return take(.notWritten(write.number, failure), id) }
        take(.written(write.number), id)
    }
}
