// SPDX-License-Identifier: Apache-2.0
import Metrics
import POSAPI
import PaymentValues
import Synchronization

/// What the daemon counts while it runs. Everything is bounded by enumerations.
final class Measures: Sendable {
    private struct Change: Hashable {
        let type: TransactionType
        let state: TransactionState
    }

    private struct State {
        var changes: [Change: UInt64] = [:]
        var phases: [TapPhase: Histogram] = [:]
        var events: [EventName: UInt64] = [:]
        var remote = Status.Remote()
        var remoteRefusals: [String: UInt64] = [:]
    }

    /// What a backend is refused with by itself; the rest is counted together.
    private static let remoteCodes: [ErrorCode] = [
        .remoteAmountExceeded, .remoteCurrencyNotAllowed, .remoteDayExceeded, .remoteUnseen, .requestTooLate,
        .requestCancelled, .readerBusy, .laneNotYours, .authRoleMissing, .sessionNotOwner,
    ]
    private static let otherCodes = "other"

    private let state = Mutex(State())

    func changed(_ type: TransactionType, to new: TransactionState) {
        state.withLock { $0.changes[Change(type: type, state: new), default: 0] &+= 1 }
    }

    func took(_ phase: TapPhase, seconds: Double) {
        state.withLock { $0.phases[phase, default: Histogram()].observe(seconds: seconds) }
    }

    func published(_ event: EventName) {
        state.withLock { $0.events[event, default: 0] &+= 1 }
    }

    /// A backend has begun something, or was told of it again.
    func startedRemotely() {
        state.withLock {
            $0.remote.started &+= 1
            $0.remote.lastStart = .now
        }
    }

    /// - Parameter code: `nil` for one that this version does not know.
    func refusedRemotely(_ code: ErrorCode?) {
        let name = code.flatMap { Self.remoteCodes.contains($0) ? $0.rawValue : nil } ?? Self.otherCodes
        state.withLock {
            $0.remote.refused &+= 1
            ($0.remote.lastRefusal, $0.remote.lastCode) = (.now, code?.rawValue ?? Self.otherCodes)
            $0.remoteRefusals[name, default: 0] &+= 1
        }
    }

    var remote: Status.Remote { state.withLock { $0.remote } }

    /// Every series is there from the start, so that a rate can be taken of the first event too.
    var families: [MetricFamily] {
        let state = state.withLock { $0 }
        var changes = MetricFamily(
            "nfc_tap_transactions_total", .counter, help: "Transactions that came into a state, by type.")
        for type in TransactionType.allCases {
            for name in TransactionState.allCases {
                let count = state.changes[Change(type: type, state: name)] ?? 0
                changes.add(Double(count), [("type", type.rawValue), ("state", name.rawValue)])
            }
        }
        var phases = MetricFamily(
            "nfc_tap_phase_seconds", .histogram, help: "Time of each phase of a tap, from the end of the one before.")
        for phase in TapPhase.allCases { phases.add(state.phases[phase] ?? Histogram(), [("phase", phase.rawValue)]) }
        var events = MetricFamily("nfc_tap_events_total", .counter, help: "Events published, by name.")
        for name in EventName.allCases { events.add(Double(state.events[name] ?? 0), [("event", name.rawValue)]) }
        var starts = MetricFamily(
            "nfc_tap_remote_starts_total", .counter, help: "Starts of backends that were answered with a transaction.")
        starts.add(Double(state.remote.started))
        var refusals = MetricFamily(
            "nfc_tap_remote_refusals_total", .counter, help: "Calls of backends that were refused, by code.")
        for code in Self.remoteCodes.map(\.rawValue) + [Self.otherCodes] {
            refusals.add(Double(state.remoteRefusals[code] ?? 0), [("code", code)])
        }
        return [changes, phases, events, starts, refusals]
    }
}
