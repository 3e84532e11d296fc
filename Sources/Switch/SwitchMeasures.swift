// SPDX-License-Identifier: Apache-2.0
import Linux
import Metrics
import Synchronization

/// What one replica has counted since its start. Labels are of these enumerations alone: no merchant, till or card stands in them.
final class SwitchMeasures: Sendable {
    /// Where the time of a payment goes.
    enum Stage: String, CaseIterable, Sendable {
        /// The envelope is opened and the card named.
        case keys
        /// Until it is written down that the acquirer will be asked.
        case firstCommit = "first_commit"
        /// From the message to its answer.
        case acquirer
        /// Until the answer is written down.
        case secondCommit = "second_commit"
    }

    enum Outcome: String, CaseIterable, Sendable {
        case approved, partial, declined
        /// No answer that could be believed: it is taken back.
        case unknown
        /// Refused before the acquirer was asked.
        case refused
        /// A till asked too often.
        case throttled
    }

    private struct State {
        var outcomes: [Outcome: Double] = [:]
        var stages: [Stage: Histogram] = [:]
        /// When messages left that have no answer yet.
        var sent: [String: UInt64] = [:]
    }

    private let state = Mutex(State())

    func count(_ outcome: Outcome) { state.withLock { $0.outcomes[outcome, default: 0] += 1 } }

    func count(_ decision: HostDecision) {
        switch decision.kind {
        case .approved: count(.approved)
        case .partial: count(.partial)
        case .declined: count(.declined)
        case .unknown: count(.unknown)
        }
    }

    /// - Parameter begin: of `MachineClock.awake`.
    func observe(_ stage: Stage, since begin: UInt64) {
        let seconds = Double(MachineClock.awake &- begin) / 1e9
        state.withLock { $0.stages[stage, default: Histogram()].observe(seconds: seconds) }
    }

    func sent(_ id: String) { state.withLock { $0.sent[id] = MachineClock.awake } }

    /// What was sent is answered, or given up.
    func answered(_ id: String) {
        guard let begin = state.withLock({ $0.sent.removeValue(forKey: id) }) else { return }
        observe(.acquirer, since: begin)
    }

    var families: [MetricFamily] {
        let (outcomes, stages) = state.withLock { ($0.outcomes, $0.stages) }
        var payments = MetricFamily(
            "nfc_tap_switch_payments_total", .counter, help: "Payments decided by this replica, by what became of them."
        )
        for outcome in Outcome.allCases { payments.add(outcomes[outcome] ?? 0, [("outcome", outcome.rawValue)]) }
        var times = MetricFamily(
            "nfc_tap_switch_stage_seconds", .histogram, help: "Where the time of a payment goes.")
        for stage in Stage.allCases { times.add(stages[stage] ?? Histogram(), [("stage", stage.rawValue)]) }
        return [payments, times]
    }
}
