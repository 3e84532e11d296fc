// SPDX-License-Identifier: Apache-2.0
import PSPAPI
import PaymentValues

extension OrderBook {
    /// What the daemon answered to a start, to a search by key, and to a look at a transaction.
    ///
    /// - Returns: lines that have to be on the disk before the next step.
    package mutating func answered(_ key: OrderKey, _ answer: DaemonAnswer, to step: OrderStep, now: UInt64) -> [Line] {
        guard let entry = entries[key] else { return [] }
        switch (answer, step) {
        case (.transaction(let snapshot), .begin), (.transaction(let snapshot), .find),
            (.transaction(let snapshot), .look), (.transaction(let snapshot), .confirm):
            return read(snapshot, key, entry, now)
        case (.outcome(let outcome), .withdraw): return withdrew(key, outcome, entry)
        case (.unknown, .find), (.unknown, .withdraw): return notKnown(key, entry, step, now)
        case (.unknown, .look), (.refused, .look): return gone(key, answer, entry)
        case (.refused(let code, let isRetryable), .begin):
            let refusal = OrderEntry.Outcome.refused(code, isRetryable: isRetryable)
            guard runs[key]?.hasStray == false else {
                runs[key]?.refusal = refusal
                return []
            }
            entries[key]?.outcome = refusal
            return line(key)
        case (.refused(let code, let isRetryable), .find), (.refused(let code, let isRetryable), .withdraw):
            // The daemon knows the key, and has no transaction for it any more, or does not let us see it.
            guard entry.transaction == nil else { return pause(key, now) }
            entries[key]?.outcome = .refused(code, isRetryable: isRetryable)
            return line(key)
        case (.unsent, .begin):
            // Nothing was asked for by this request: it can still be decided here, unless an earlier one is on its way.
            let hasStray = runs[key]?.hasStray ?? true
            runs[key]?.mayHaveBegun = hasStray
            return pause(key, now)
        case (.unclear, .begin):
            runs[key]?.hasStray = true
            return pause(key, now)
        case (_, _): return pause(key, now)
        }
    }

    /// Whether the backend took a result.
    ///
    /// - Parameter jitter: −1 to 1: a fifth of the pause each way.
    package mutating func heard(
        _ saying: OrderSaying, _ isTaken: Bool, now: UInt64, jitter: Double = 0
    ) -> [Line] {
        let key = saying.key
        guard entries[key]?.seq == saying.seq else { return [] }
        guard isTaken else {
            runs[key]?.misses += 1
            let pause = Self.retries.pause(after: runs[key]?.misses ?? 1)
            let milliseconds = Double(pause.components.seconds) * 1_000 * (1 + 0.2 * min(1, max(-1, jitter)))
            runs[key]?.due = now &+ UInt64(milliseconds)
            return []
        }
        entries[key]?.isHeard = true
        runs[key]?.misses = 0
        runs[key]?.due = 0
        // The 2xx is to what was read in this attempt, so that it may be confirmed at once.
        if let snapshot = saying.snapshot, snapshot.needsConfirmation, entries[key]?.kind == .start {
            runs[key]?.fresh = snapshot
        }
        return line(key)
    }

    private mutating func read(_ snapshot: Snapshot, _ key: OrderKey, _ entry: OrderEntry, _ now: UInt64) -> [Line] {
        let isNew = entry.transaction == nil
        let isChanged = entry.state != snapshot.state
        entries[key]?.transaction = snapshot.id
        entries[key]?.state = snapshot.state
        runs[key]?.fresh = snapshot
        if isChanged || isNew {
            // Something else is to be told: it has not been refused yet.
            runs[key]?.asked = 0
            runs[key]?.misses = 0
            runs[key]?.due = 0
        }
        let asked = runs[key]?.asked ?? 0
        runs[key]?.asked = asked + 1
        runs[key]?.askAt = now &+ Self.pause(in: snapshot.state, asked: asked, isTold: entry.isHeard && !isChanged)
        return isNew && entry.kind == .start ? line(key) : []
    }

    /// Milliseconds before the next look.
    private static func pause(in state: TransactionState, asked: Int, isTold: Bool) -> UInt64 {
        switch state {
        case .created, .preparing: return asked < 20 ? 50 : 1_000
        case .armed, .reading, .sealed, .sent, .unknown: return asked < 5 ? 0 : 200
        case .reversing: return asked < 10 ? 1_000 : 30_000
        case .approved, .stored: return isTold ? (asked < 20 ? 30_000 : 600_000) : 0
        case .declined, .cancelled, .failed, .reversed, .delivered, .completed: return 0
        }
    }

    private mutating func withdrew(
        _ key: OrderKey, _ outcome: OrderEntry.Outcome, _ entry: OrderEntry
    ) -> [Line] {
        guard entry.kind == .cancel else {
            // A start of which nobody knew whether it had come: now it never comes, or there is something to look at.
            let neverBegan = outcome.neverBegan == true
            runs[key]?.isUnknown = false
            runs[key]?.mayHaveBegun = !neverBegan
            if !neverBegan { runs[key]?.refusal = nil }
            return []
        }
        entries[key]?.outcome = outcome
        return line(key)
    }

    private mutating func notKnown(
        _ key: OrderKey, _ entry: OrderEntry, _ step: OrderStep, _ now: UInt64
    ) -> [Line] {
        switch (entry.kind, step) {
        case (.start, .find), (.report, _): runs[key]?.isUnknown = true
        case (.start, _): runs[key]?.mayHaveBegun = false
        case (.cancel, _):
            // Its order has been told as one that the daemon has lost: there is nothing left that could end.
            guard entries[OrderKey(sender: key.sender, id: entry.of ?? "")]?.outcome != nil else {
                return pause(key, now)
            }
            entries[key]?.outcome = .init(outcome: "nothingToCancel")
            return line(key)
        case (.tomb, _): return pause(key, now)
        }
        return []
    }

    /// The daemon has no such transaction any more.
    private mutating func gone(_ key: OrderKey, _ answer: DaemonAnswer, _ entry: OrderEntry) -> [Line] {
        if entry.isHeard, entry.state?.isSettled == true {
            runs[key]?.askAt = .max
            return []
        }
        var code = ErrorCode.transactionUnknown.rawValue
        if case .refused(let text, _) = answer { code = text }
        entries[key]?.outcome = .refused(code)
        return line(key)
    }

    private mutating func pause(_ key: OrderKey, _ now: UInt64) -> [Line] {
        let asked = runs[key]?.asked ?? 0
        runs[key]?.asked = asked + 1
        runs[key]?.askAt = now &+ min(100 << UInt64(min(asked, 6)), 5_000)
        return []
    }
}
