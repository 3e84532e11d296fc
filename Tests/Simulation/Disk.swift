// SPDX-License-Identifier: Apache-2.0
import POSAPI
import PSPAPI
import PaymentValues
import StoreAndForward
import Transactions

/// What is on the disk of one transaction.
struct Row {
    var transaction: Transaction
    let uid: UInt32
    var demand: TransactionParameters
    var plan: ReversalPlan?
    var request: AuthorizationRequest?
    var isQueued = false
    /// Why a person has to look after it.
    var open: OpenReason?
    /// Of the payment service that was in force when it was stored.
    var service = 0
    var attempts = 0
    var due = Timestamp(milliseconds: 0)

    /// A time further away than the longest pause was laid down by a clock that has been put back since (rule R2).
    func isDue(at now: Timestamp) -> Bool {
        due <= now || due.milliseconds - now.milliseconds > demand.times.attempts.longest.inMilliseconds
    }

    /// As the journal takes a write: by the table of legal changes.
    mutating func take(_ write: Write, mayStore: Bool) -> WriteFailure? {
        switch write.form {
        case .append, .charge: break
        case .store(let request, _):
            guard mayStore else { return .notStorable(.pspUnreachable) }
            self.request = request
        case .forward: guard transaction.state == .stored, isQueued else { return .superseded }
        case .reversal(let unconfirmedOnly):
            guard transaction.state == .approved else { return .superseded }
            if unconfirmedOnly, transaction.confirmation?.confirmedAt != nil { return .superseded }
        case .plan(let next):
            plan = next
            return transaction.state == .reversing ? nil : .illegal
        case .open(_, let next): plan = next ?? plan
        case .settle: guard open != nil else { return .notSettled(.openItemNotOpen) }
        // Nobody asks for a PIN here.
        case .pin, .contradict: return nil
        }
        var state = transaction.state
        for change in write.changes {
            guard state.successors.contains(change.state) else { return .illegal }
            state = change.state
        }
        for change in write.changes { note(change) }
        if case .store = write.form { isQueued = true }
        if case .open(let reason, _) = write.form { open = reason }
        if state == .approved || state == .declined { isQueued = false }
        return nil
    }

    private mutating func note(_ change: StateChange) {
        if change.state != transaction.state { open = nil }
        transaction.state = change.state
        transaction.history.append(Transaction.Step(state: change.state, at: change.at))
        transaction.updatedAt = change.at
        if let lane = change.lane { transaction.lane = lane }
        if let result = change.result { transaction.result = result }
        if let due = change.confirmBy { transaction.confirmation = Confirmation(due: due) }
        if let reversal = change.reversal { plan = reversal }
    }
}

/// What happens at a time of its own.
struct Occurrence {
    enum What {
        case sale(till: Int)
        case input(Int, Input)
        case disk(Int, Write)
        case due(Int)
        case cancel(Int), reverse(Int), confirm(Int)
        case round
        case loss, restored
        case crash(after: Int), sleep(Int64), keeper, again(Int)
        case clock(Int64), outage(service: Int, isUp: Bool), full(Bool), change(service: Int)
        case honesty
        case arrival(Int, service: Int, amount: Int64)
    }

    let time: Int64
    let order: Int
    /// Of the daemon: what was on its way in an earlier one never arrives. 0 for what outlives it.
    let life: Int
    let what: What
}

/// Occurrences in the order of their times: a binary heap.
struct Agenda {
    private var heap: [Occurrence] = []
    private var count = 0

    mutating func add(_ what: Occurrence.What, at time: Int64, life: Int) {
        count += 1
        heap.append(Occurrence(time: time, order: count, life: life, what: what))
        var child = heap.count - 1
        while child > 0, isBefore(child, (child - 1) / 2) {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    mutating func next() -> Occurrence? {
        guard let first = heap.first, let last = heap.popLast() else { return nil }
        guard !heap.isEmpty else { return first }
        heap[0] = last
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && isBefore(child, least) {
                least = child
            }
            guard least != parent else { return first }
            heap.swapAt(parent, least)
            parent = least
        }
    }

    private func isBefore(_ one: Int, _ other: Int) -> Bool {
        (heap[one].time, heap[one].order) < (heap[other].time, heap[other].order)
    }
}
