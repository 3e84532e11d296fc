import Configuration
import Journal
import Logging
import Wire

/// Takes payments back until the adapter acknowledges it, however often that has to be tried, also over restarts.
struct Reversals: Sendable {
    let store: TransactionStore
    let settings: CurrentSettings
    let queue: WorkQueue
    let logger: Logger
    private var adapter: AdapterLink { settings.snapshot.adapter }

    /// The change of state that begins a reversal.
    static func start(
        _ id: TransactionID, _ reason: DeclineReason, _ cause: ReversalRequest.Reason, _ error: ErrorCode?, _ mode: Mode
    ) -> StateChange {
        var change = StateChange(.reversing)
        change.result = .takenBack(reason, mode: mode)
        change.error = error.map { ErrorDetail($0, transaction: id) }
        change.reversal = ReversalPlan(reason: cause, due: change.at)
        return change
    }

    /// Takes over a transaction in state `reversing`.
    func take(_ id: TransactionID) { queue.add { await reverse(id) } }

    private func reverse(_ id: TransactionID) async {
        while let plan = await store.live[id]?.reversal {
            let wait = plan.due.milliseconds - Timestamp.now.milliseconds
            if wait > 0 {
                do { try await Task.sleep(for: .milliseconds(wait)) } catch { return }
            }
            let acknowledgement = await adapter.reverse(id, plan.reason)
            guard !Task.isCancelled else { return }
            switch acknowledgement {
            case .acknowledged: return await acknowledge(id)
            // The request may still be in the adapter's socket the first time; later it never comes.
            case .neverSeen where plan.attempts > 0: return await acknowledge(id)
            case .neverSeen, .none: await postpone(id, plan)
            }
        }
    }

    private func postpone(_ id: TransactionID, _ plan: ReversalPlan) async {
        let pauses = adapter.times.reversal
        let pause = pauses.indices.contains(plan.attempts) ? pauses[plan.attempts] : pauses.last ?? .seconds(600)
        let due = Timestamp(milliseconds: Timestamp.now.milliseconds + Int64(pause / .milliseconds(1)))
        let next = ReversalPlan(reason: plan.reason, attempts: plan.attempts + 1, due: due)
        logger.warning(
            "reversal not acknowledged", metadata: ["transaction": "\(id)", "attempts": "\(next.attempts)"])
        await store.plan(next, for: id)
    }

    private func acknowledge(_ id: TransactionID) async {
        guard let transaction = await store.live[id]?.transaction else { return }
        var change = StateChange(.reversed)
        change.result = transaction.result
        change.result?.reversal = .done
        await store.changeForCertain(id, [change])
        var event = Event(.paymentReversed, lane: transaction.lane)
        event.transaction = id
        event.result = change.result
        store.publish(event)
    }
}

extension TransactionStore {
    /// Notes when a reversal is tried again. What the journal does not take is only known until the next start.
    func plan(_ reversal: ReversalPlan, for id: TransactionID) async {
        live[id]?.reversal = reversal
        do throws(JournalError) { try await journal.plan(reversal, for: id) } catch {
            logger.error("reversal not planned", metadata: ["transaction": "\(id)", "error": "\(error)"])
        }
    }

    /// Brings what an earlier run of the daemon left open to a definite state: nothing sent ends, what may have been
    /// charged is taken back.
    ///
    /// - Returns: what has to be reversed.
    func recover() async throws(JournalError) -> [TransactionID] {
        var toReverse: [TransactionID] = []
        for record in try await journal.unfinished() {
            let id = record.transaction.id
            var known = LiveTransaction(transaction: record.transaction, uid: record.uid)
            known.reversal = record.reversal
            live[id] = known
            switch record.transaction.state {
            case .created, .preparing, .armed, .reading, .sealed:
                var change = StateChange(.failed)
                change.error = ErrorDetail(.interrupted, transaction: id)
                try await recover(id, change, .readNotCompleted)
            case .sent, .unknown:
                let change = Reversals.start(id, .hostTimeout, .timeout, .interrupted, record.transaction.mode)
                try await recover(id, change, .paymentDeclined)
                toReverse.append(id)
            case .reversing:
                toReverse.append(id)
            case .approved, .declined, .stored, .delivered, .cancelled, .failed, .reversed, .completed:
                live[id] = nil
            }
        }
        try await journal.scrub()
        return toReverse
    }

    private func recover(_ id: TransactionID, _ change: StateChange, _ name: EventName) async throws(JournalError) {
        guard let lane = live[id]?.transaction.lane else { return }
        try await self.change(id, [change])
        var event = Event(name, lane: lane)
        event.transaction = id
        event.result = change.result
        event.error = change.error
        publish(event)
    }
}
