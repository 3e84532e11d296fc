// SPDX-License-Identifier: Apache-2.0
import POSAPI
import PaymentValues
import Synchronization

/// One preparation of one lane, for any number of callers to wait for. It goes on whoever leaves.
final class LanePreparation: Sendable {
    private struct State {
        var step: PrepareStep? = .reader
        var isQuiet: Bool
        /// What it failed of.
        var failure: ErrorCode?
    }

    let reason: PrepareReason
    /// It has come to its end, well or not.
    let finished = OneShot()
    private let state: Mutex<State>

    /// - Parameter isQuiet: the daemon tries something again that failed: nobody is told unless it succeeds.
    init(_ reason: PrepareReason, isQuiet: Bool) {
        self.reason = reason
        state = Mutex(State(isQuiet: isQuiet))
    }

    var step: PrepareStep? { state.withLock { $0.step } }

    /// What it failed of; `nil` as long as it has not.
    var failure: ErrorCode? { state.withLock { $0.failure } }

    var isQuiet: Bool { state.withLock { $0.isQuiet } }

    /// How much of it is done, 1…100. How long a reader takes to be opened is not known, so that there is none before.
    var percent: Int? {
        guard let step else { return 100 }
        let done = PrepareStep.allCases.firstIndex(of: step) ?? 0
        return done == 0 ? nil : done * 100 / PrepareStep.allCases.count
    }

    /// Somebody waits for it.
    func join() { state.withLock { $0.isQuiet = false } }

    /// `nil` after the last step.
    func begin(_ step: PrepareStep?) { state.withLock { $0.step = step } }

    func end(_ failure: ErrorCode?) {
        state.withLock { $0.failure = failure }
        finished.fire()
    }

    /// The event that tells how far it is.
    func progress(_ lane: String, for transaction: TransactionID? = nil) -> Event {
        var event = Event(.prepareProgress, lane: lane)
        event.transaction = transaction
        event.percent = percent
        event.reason = reason
        event.step = step
        return event
    }
}
