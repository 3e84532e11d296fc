// SPDX-License-Identifier: Apache-2.0
import PaymentValues
import StrictJSON

extension OrderBook {
    /// Milliseconds between two questions after a card was read: often at first, seldom later.
    private static let watch: (often: UInt64, seldom: UInt64, changes: Int) = (30_000, 600_000, 20)
    /// Seconds that one question may be left open by the daemon.
    private static let longestWait = 25

    /// What is to be done for an order now. The lines have to be on the disk before.
    ///
    /// A result about a transaction comes out only right after it was read: what was read in an earlier attempt may have changed while
    /// the line was down.
    package mutating func step(_ key: OrderKey, _ clock: Clock) -> (lines: [Line], step: OrderStep) {
        guard let entry = entries[key], let run = runs[key] else { return ([], .rest) }
        if entry.outcome != nil { return tellOutcome(key, clock) }
        switch entry.kind {
        case .tomb: return ([], .rest)
        case .start: return entry.transaction == nil ? start(entry, run, clock) : begun(entry, run, clock)
        case .cancel: return cancel(entry, run, clock)
        case .report: return report(entry, run, clock)
        }
    }

    // MARK: - A start

    private mutating func start(
        _ entry: OrderEntry, _ run: Run, _ clock: Clock
    ) -> (lines: [Line], step: OrderStep) {
        guard clock.now >= run.askAt else { return ([], .wait(until: run.askAt)) }
        let left = min(entry.expires - clock.wall, entry.life)
        let mustEnd = entry.isWithdrawn || left < 1
        if let refusal = run.refusal {
            return run.mayHaveBegun ? ([], .withdraw(id: entry.key.id)) : end(entry.key, refusal, clock)
        }
        if run.mayHaveBegun {
            guard run.isUnknown else { return ([], .find(id: entry.key.id)) }
            // It may still be on its way there: only the daemon can say that it never begins.
            if mustEnd { return ([], .withdraw(id: entry.key.id)) }
        }
        guard !mustEnd, let start = entry.start else {
            return end(
                entry.key,
                .refused(
                    entry.isWithdrawn ? OrderRefusal.cancelled.rawValue : OrderRefusal.expired.rawValue,
                    isRetryable: !entry.isWithdrawn), clock)
        }
        runs[entry.key]?.mayHaveBegun = true
        runs[entry.key]?.isUnknown = false
        return ([], .begin(body: body(start, deadline: left, expires: entry.expires)))
    }

    /// The request as the daemon gets it. `deadline` ends with the order, whatever this clock says of its beginning.
    private func body(_ start: Order.Start, deadline: Int64, expires: Int64) -> String {
        let end = "\"notAfter\":\"\(Timestamp(milliseconds: expires * 1_000))\","
        return "{\"deadline\":\(deadline),\"detached\":true,\"lane\":\(JSONEscape.quoted(start.lane)),\(end)"
            + start.request.dropFirst()
    }

    private mutating func begun(
        _ entry: OrderEntry, _ run: Run, _ clock: Clock
    ) -> (lines: [Line], step: OrderStep) {
        let key = entry.key
        if let fresh = run.fresh {
            runs[key]?.fresh = nil
            let isHeard = entry.isHeard && entry.said == fresh.state.rawValue
            if fresh.state.isToldOf, !isHeard, clock.now >= run.due { return say(key, fresh, clock) }
            if isHeard, fresh.state == .approved, fresh.needsConfirmation, let id = entry.transaction {
                return ([], .confirm(transaction: id))
            }
        }
        guard let id = entry.transaction, let state = entry.state else { return ([], .rest) }
        let isHeard = entry.isHeard && entry.said == state.rawValue
        if isOver(entry, clock.wall) { return ([], .rest) }
        let at = state.isSettled && !isHeard ? max(run.due, run.askAt) : run.askAt
        guard clock.now >= at else { return ([], .wait(until: at)) }
        guard !state.isSettled, state != .created, state != .preparing else {
            return ([], .look(transaction: id, wait: 0))
        }
        // Until the next attempt to tell that the reader waits, and no longer.
        let rest = run.due > clock.now && !isHeard ? Int(clamping: (run.due - clock.now) / 1_000) : Self.longestWait
        let isTold = isHeard || state != .armed
        return ([], .look(transaction: id, wait: isTold ? Self.longestWait : min(max(1, rest), Self.longestWait)))
    }

    // MARK: - A cancel, a report

    private mutating func cancel(
        _ entry: OrderEntry, _ run: Run, _ clock: Clock
    ) -> (lines: [Line], step: OrderStep) {
        let key = entry.key
        let other = OrderKey(sender: key.sender, id: entry.of ?? "")
        guard let start = entries[other] else { return end(key, .neverBegan, clock) }
        if start.transaction == nil {
            if start.outcome != nil { return end(key, .neverBegan, clock) }
            if runs[other]?.mayHaveBegun == false {
                // Decided here, in one step with whether it begins.
                entries[other]?.outcome = .refused(OrderRefusal.cancelled.rawValue)
                let ended = end(key, .neverBegan, clock)
                return (line(other) + ended.lines, ended.step)
            }
        }
        guard clock.now >= run.askAt else { return ([], .wait(until: run.askAt)) }
        return ([], .withdraw(id: other.id))
    }

    private mutating func report(
        _ entry: OrderEntry, _ run: Run, _ clock: Clock
    ) -> (lines: [Line], step: OrderStep) {
        let key = entry.key
        if let fresh = run.fresh {
            runs[key]?.fresh = nil
            if clock.now >= run.due { return say(key, fresh, clock) }
        }
        if entry.isHeard { return ([], .rest) }
        let at = max(run.due, run.askAt)
        guard clock.now >= at else { return ([], .wait(until: at)) }
        if let id = entry.transaction { return ([], .look(transaction: id, wait: 0)) }
        let other = OrderKey(sender: key.sender, id: entry.of ?? "")
        switch entries[other]?.kind {
        case nil where run.isUnknown: return end(key, .init(outcome: "unknown"), clock)
        case nil: return ([], .find(id: other.id))
        case .tomb: return end(key, .neverBegan, clock)
        case .cancel, .report: return end(key, .init(outcome: "unknown"), clock)
        case .start:
            if let outcome = entries[other]?.outcome { return end(key, outcome, clock) }
            guard let id = entries[other]?.transaction else { return ([], .wait(until: clock.now + 100)) }
            entries[key]?.transaction = id
            return ([], .look(transaction: id, wait: 0))
        }
    }

    // MARK: - Telling

    private mutating func end(
        _ key: OrderKey, _ outcome: OrderEntry.Outcome, _ clock: Clock
    ) -> (lines: [Line], step: OrderStep) {
        entries[key]?.outcome = outcome
        entries[key]?.isHeard = false
        return tellOutcome(key, clock)
    }

    private mutating func tellOutcome(_ key: OrderKey, _ clock: Clock) -> (lines: [Line], step: OrderStep) {
        guard let entry = entries[key], let run = runs[key], !(entry.isHeard && entry.said == Self.outcome) else {
            return ([], .rest)
        }
        guard clock.now >= run.due else { return (line(key), .wait(until: run.due)) }
        number(key, Self.outcome)
        let saying = OrderSaying(
            key: key, seq: entries[key]?.seq ?? 0, of: entry.of, snapshot: nil, outcome: entry.outcome)
        return (line(key), .say(saying))
    }

    private mutating func say(
        _ key: OrderKey, _ snapshot: Snapshot, _ clock: Clock
    ) -> (lines: [Line], step: OrderStep) {
        number(key, snapshot.state.rawValue)
        let entry = entries[key]
        let saying = OrderSaying(key: key, seq: entry?.seq ?? 0, of: entry?.of, snapshot: snapshot, outcome: nil)
        return (line(key), .say(saying))
    }

    /// What a result says of an outcome.
    private static let outcome = "outcome"

    /// Another statement gets another number: a backend that has the number already passes over what comes under it.
    private mutating func number(_ key: OrderKey, _ said: String) {
        guard entries[key]?.said != said || entries[key]?.seq == 0 else { return }
        entries[key]?.seq += 1
        entries[key]?.said = said
        entries[key]?.isHeard = false
        runs[key]?.misses = 0
    }
}
