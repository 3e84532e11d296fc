// SPDX-License-Identifier: Apache-2.0
import PSPAPI
import PaymentValues

/// What became of a backend's orders, as a machine without I/O: taken, begun, armed, settled, told.
///
/// Each change comes out as a line; it has to be on the disk before the step that came with it is carried out. The wall clock judges an
/// order's life alone; pauses are of a clock that nobody sets, in milliseconds.
package struct OrderBook: Sendable {
    /// A change, to be written down.
    package enum Line: Codable, Equatable, Sendable {
        case entry(OrderEntry)
        case forgotten(OrderKey)
    }

    package struct Clock: Sendable {
        /// Seconds since 1970.
        package var wall: Int64
        /// Milliseconds.
        package var now: UInt64

        package init(wall: Int64, now: UInt64) { (self.wall, self.now) = (wall, now) }
    }

    package enum Verdict: Equatable, Sendable {
        case taken([Line])
        /// Acknowledged once more; nothing begins by it.
        case again
    }

    /// What is known of an entry in this run alone.
    struct Run: Sendable {
        /// The daemon may have the request.
        var mayHaveBegun = false
        /// A request may still be on its way to the daemon, though nobody waits for its answer.
        var hasStray = false
        /// What the daemon said to a later request, before the earlier one is barred.
        var refusal: OrderEntry.Outcome?
        /// Read from the daemon, and not used yet.
        var fresh: Snapshot?
        /// Times that the backend did not take the result.
        var misses = 0
        /// When it may be told again.
        var due: UInt64 = 0
        /// When the daemon may be asked again.
        var askAt: UInt64 = 0
        /// Questions without another answer than before.
        var asked = 0
        /// The daemon did not know the key when it was asked.
        var isUnknown = false
    }

    /// Seconds for which an order, or a tomb, is kept at least.
    package static let memory: Int64 = 86_400
    /// Entries that are kept; a sender that has so many in a day gets no more.
    package static let capacity = 20_000
    static let retries = RetrySchedule(
        .seconds(1), .seconds(2), .seconds(5), .seconds(15), .seconds(30), .seconds(120), .seconds(600))

    package internal(set) var judge: OrderJudge
    package internal(set) var entries: [OrderKey: OrderEntry] = [:]
    var runs: [OrderKey: Run] = [:]

    package init(judge: OrderJudge) { self.judge = judge }

    // MARK: - What was written down

    /// Takes a line of an earlier run.
    package mutating func read(_ line: Line) {
        switch line {
        case .entry(let entry):
            entries[entry.key] = entry
            var run = Run()
            (run.mayHaveBegun, run.hasStray) = (true, true)
            runs[entry.key] = run
        case .forgotten(let key):
            entries[key] = nil
            runs[key] = nil
        }
    }

    /// Lines that say the same as all that were read and written.
    package var lines: [Line] { entries.values.sorted { $0.takenAt < $1.takenAt }.map { .entry($0) } }

    // MARK: - Orders

    /// Judges one order of an answer to a poll. Cancels come first: see `inTurn(_:)`.
    ///
    /// An order that is here already is acknowledged whenever it comes: a refusal would say that nothing began.
    ///
    /// - Throws: why it is not taken.
    package mutating func take(
        _ order: Order, clock: Clock, clockHolds: Bool
    ) throws(OrderRefusal) -> Verdict {
        let known = entries[order.key]
        if let known, known.kind != .tomb {
            guard known.digest == order.digest else { throw .idUsed }
            return .again
        }
        try judge.judgeTimes(of: order, now: clock.wall, clockHolds: clockHolds)
        if known != nil { throw .cancelled }
        guard entries.count < Self.capacity else { throw .dayLimit }
        if case .start(let start) = order.purpose {
            try judge.judge(start, of: order.key.sender, spent: spent(by: order.key.sender, start.currency, clock.wall))
        }
        var entry = OrderEntry(order, takenAt: clock.wall)
        var lines: [Line] = []
        if case .cancel(let id) = order.purpose {
            let other = OrderKey(sender: order.key.sender, id: id)
            switch entries[other]?.kind {
            case nil:
                lines.append(keep(OrderEntry(tombOf: other, by: order, at: clock.wall)))
                entry.outcome = .neverBegan
            case .tomb: entry.outcome = .neverBegan
            case .start:
                entries[other]?.isWithdrawn = true
                if let changed = entries[other] { lines.append(.entry(changed)) }
                runs[other]?.askAt = 0
            case .cancel, .report: entry.outcome = .init(outcome: "nothingToCancel")
            }
        }
        runs[order.key] = Run()
        lines.append(keep(entry))
        return .taken(lines)
    }

    /// Orders of an answer in the order in which they are judged: cancels first.
    package static func inTurn(_ orders: [Order]) -> [Order] {
        let isCancel = { (order: Order) in
            if case .cancel = order.purpose { true } else { false }
        }
        return orders.filter(isCancel) + orders.filter { !isCancel($0) }
    }

    /// The line is there again: what waited for it waits no longer.
    package mutating func lineIsBack() {
        for key in runs.keys { runs[key]?.due = 0 }
    }

    /// What is left to do, oldest first: after a start of the program.
    package func open(wall: Int64) -> [OrderKey] {
        entries.values.filter { $0.kind != .tomb && !isOver($0, wall) }.sorted {
            ($0.takenAt, $0.key.id) < ($1.takenAt, $1.key.id)
        }.map(\.key)
    }

    /// Results that the backend has not taken, and when the oldest of them was ordered.
    package var untold: (count: Int, since: Int64?) {
        let waiting = entries.values.filter {
            $0.kind != .tomb && !$0.isHeard && ($0.outcome != nil || $0.state?.isSettled == true)
        }
        return (waiting.count, waiting.map(\.takenAt).min())
    }

    /// Drops what nobody can ask for any more.
    package mutating func tidy(wall: Int64) -> [Line] {
        let old = entries.values.filter { entry in
            let (age, overflow) = wall.subtractingReportingOverflow(entry.takenAt)
            return !overflow && age > Self.memory && isOver(entry, wall)
        }
        return old.map { entry in
            entries[entry.key] = nil
            runs[entry.key] = nil
            return .forgotten(entry.key)
        }
    }

    /// Nothing is left to do but to remember it.
    func isOver(_ entry: OrderEntry, _ wall: Int64) -> Bool {
        guard entry.isHeard else { return false }
        if entry.outcome != nil || entry.kind != .start { return true }
        guard let state = entry.state, state.isSettled, entry.said == state.rawValue else { return false }
        guard state.mayChange else { return true }
        let (age, overflow) = wall.subtractingReportingOverflow(entry.takenAt)
        return !overflow && age > (state == .approved ? 1 : 30) * Self.memory
    }

    private func spent(by sender: String, _ currency: String, _ wall: Int64) -> Int64 {
        entries.values.reduce(0) { sum, entry in
            guard entry.counts, entry.key.sender == sender, entry.start?.currency == currency,
                entry.takenAt > wall - Self.memory
            else { return sum }
            return sum.addingReportingOverflow(entry.start?.value ?? 0).partialValue
        }
    }

    func line(_ key: OrderKey) -> [Line] { entries[key].map { [.entry($0)] } ?? [] }

    private mutating func keep(_ entry: OrderEntry) -> Line {
        entries[entry.key] = entry
        if runs[entry.key] == nil { runs[entry.key] = Run() }
        return .entry(entry)
    }
}
