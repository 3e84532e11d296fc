// SPDX-License-Identifier: Apache-2.0
import POSAPI
import PaymentValues
import Transactions

/// What is special about a story.
struct Setting {
    /// A mend that is undone where the simulation stands in for the daemon, or between it and the machine: whether the
    /// simulation would find what was mended. No program contains it.
    enum PutBack: String, CaseIterable {
        case a1 = "A1"
        case a2 = "A2"
        case a3 = "A3"
        case a4 = "A4"
        case a5 = "A5"
        case a6 = "A6"
        case a7 = "A7"
        case a8 = "A8"
        case f1 = "F1"
    }

    /// What a seed may bring, and a story that is being shrunk may do without.
    enum Trouble: String, CaseIterable {
        case deaths, clocks, sleep, outages, disk, files, change, tills, lies
    }

    var putBack: PutBack?
    var without: Set<Trouble> = []
    /// At most so many.
    var sales: Int?

    func allows(_ trouble: Trouble) -> Bool { !without.contains(trouble) }
}

extension Story {
    /// What holds after every step, for every transaction.
    mutating func check(_ number: Int, _ machine: TransactionMachine) {
        let state = machine.transaction.state
        // Nothing is said that is not on the disk, but an end that the disk does not take.
        if writing[number] == nil, state != rows[number].transaction.state, state != .failed {
            faults.append("\(number) is \(state), and \(rows[number].transaction.state) on the disk")
        }
        // R3: what has no end has a time of its own.
        if machine.due == nil, writing[number] == nil, !machine.isOver, state != .stored, state != .approved,
            !rows[number].isQueued
        {
            faults.append("\(number) has no timer in \(state)")
        }
        // R2: no time is further away than the longest that a state may take, whatever the wall clock says.
        if let due = machine.due, due - now.monotonic > 86_400_001, setting.putBack != .a3 {
            faults.append("\(number) waits for \(due - now.monotonic) ms in \(state)")
        }
    }

    /// The shortest story of this seed that is still one: without trouble that it does not need, with as few sales as it
    /// takes.
    static func shrunk(seed: UInt64, _ setting: Setting, _ fails: (inout Story) -> Bool) -> Setting {
        var best = setting
        func stillFails(_ setting: Setting) -> Bool {
            var story = Story(seed: seed, setting)
            return fails(&story)
        }
        for trouble in Setting.Trouble.allCases {
            var less = best
            less.without.insert(trouble)
            if stillFails(less) { best = less }
        }
        for sales in 1..<30 {
            var less = best
            less.sales = sales
            if stillFails(less) { return less }
        }
        return best
    }
}

extension Effect {
    var isContradiction: Bool { if case .local(.log) = self { true } else { false } }
}
