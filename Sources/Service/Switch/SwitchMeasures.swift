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

    /// What should not happen, counted since the start. Each has a line in the log.
    enum Fault: String, CaseIterable, Sendable {
        /// The keys could not be used just then.
        case keysUnavailable = "keys_unavailable"
        /// More waited for the keys than they could do in time.
        case keysBusy = "keys_busy"
        /// An envelope, or a row of the books, names a key that is not here.
        case unknownKey = "unknown_key"
        /// What the books have sealed could not be read: it stays so.
        case unreadable
        /// The host contradicts itself or what it was asked.
        case contradiction
        case lateApproval = "late_approval"
        case unknownCode = "unknown_code"
        /// The host refused a reversal, an advice or a day.
        case refusedByHost = "refused_by_host"
        /// An answer to nothing that was asked.
        case stray
        /// An answer with the trace number of a question and another field than was sent.
        case answerDiffers = "answer_differs"
        /// The acquirer does not read what is sent.
        case lineFull = "line_full"
        /// Field 55 of an answer, which never reached the card.
        case issuerData = "issuer_data"
        /// A code of the host that is missing or wrong, or a key of it that could not be taken.
        case notAuthentic = "not_authentic"
        /// Bytes of the host that are no message.
        case frame
    }

    private struct State {
        var faults: [Fault: Double] = [:]
        var outcomes: [Outcome: Double] = [:]
        var stages: [Stage: Histogram] = [:]
        /// When messages left that have no answer yet.
        var sent: [String: UInt64] = [:]
    }

    private let state = Mutex(State())

    func count(_ outcome: Outcome) { state.withLock { $0.outcomes[outcome, default: 0] += 1 } }

    func count(_ fault: Fault) { state.withLock { $0.faults[fault, default: 0] += 1 } }

    func counted(_ fault: Fault) -> Double { state.withLock { $0.faults[fault] ?? 0 } }

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
        let (outcomes, stages, counted) = state.withLock { ($0.outcomes, $0.stages, $0.faults) }
        var faults = MetricFamily(
            "nfc_tap_switch_faults_total", .counter, help: "What should not happen, by kind; the log says which.")
        for fault in Fault.allCases { faults.add(counted[fault] ?? 0, [("fault", fault.rawValue)]) }
        var payments = MetricFamily(
            "nfc_tap_switch_payments_total", .counter, help: "Payments decided by this replica, by outcome."
        )
        for outcome in Outcome.allCases { payments.add(outcomes[outcome] ?? 0, [("outcome", outcome.rawValue)]) }
        var times = MetricFamily(
            "nfc_tap_switch_stage_seconds", .histogram, help: "Where the time of a payment goes.")
        for stage in Stage.allCases { times.add(stages[stage] ?? Histogram(), [("stage", stage.rawValue)]) }
        return [payments, times, faults]
    }
}
