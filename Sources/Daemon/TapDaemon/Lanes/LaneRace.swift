// SPDX-License-Identifier: Apache-2.0
import Glibc
import Loyalty
import ReaderCore
import Synchronization
import TapSession

/// Lanes that wait for the same card: the first card that answers decides, in one place and before it gets a command. A
/// transaction on one lane is a race of one, so that its end does not depend on a thread that may hang.
final class LaneRace: Sendable {
    private struct State {
        var winner: String?
        /// No card can win any more.
        var isOver = false
        /// Lanes whose wait has not ended.
        var waiting: Set<String>
        /// Lanes whose thread has come back.
        var returned: Set<String> = []
        var failure: PaymentTapError?
        /// What has happened since `takeProgress`. Here, and not in the stream, because the lock is what the thread sanitizer
        /// sees (Tests/Checks/check-threads.sh).
        var progress: [TapProgress] = []
    }

    /// Wakes whoever calls `takeProgress`; ends with the winner's part, or with the wait.
    let news: AsyncStream<Void>
    /// A card has won, or none can.
    let isDecided = OneShot()
    /// A card has won, and every other lane's thread has come back.
    let othersAreFree = OneShot()
    private let output: AsyncStream<Void>.Continuation
    private let cancellations: [String: TapCancellation]
    private let state: Mutex<State>

    init(_ lanes: [String]) {
        (news, output) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        cancellations = Dictionary(lanes.map { ($0, TapCancellation()) }) { first, _ in first }
        state = Mutex(State(waiting: Set(lanes)))
    }

    var winner: String? { state.withLock { $0.winner } }

    /// What has happened on all lanes until a card has won, then on the winner's only, in its order and each once.
    func takeProgress() -> [TapProgress] {
        state.withLock { state in
            defer { state.progress = [] }
            return state.progress
        }
    }

    private func note(_ step: TapProgress, _ state: inout State) {
        state.progress.append(step)
        output.yield()
    }

    func place(of lane: String) -> RaceEntry {
        RaceEntry(race: self, lane: lane, cancellation: cancellations[lane] ?? TapCancellation())
    }

    /// A card has answered on this lane. The first one wins; from then on no other lane waits.
    ///
    /// - Returns: whether the card may get a command.
    func claim(_ lane: String) -> Bool {
        let (mayGoOn, isNew) = state.withLock { state -> (Bool, Bool) in
            if let winner = state.winner { return (winner == lane, false) }
            guard !state.isOver else { return (false, false) }
            state.winner = lane
            note(.won(lane), &state)
            return (true, true)
        }
        guard isNew else { return mayGoOn }
        for (name, cancellation) in cancellations where name != lane { cancellation.cancel() }
        isDecided.fire()
        checkOthers()
        return true
    }

    /// The transaction is not wanted any more. A card that has won is read to its end; no other is.
    func cancel() { end(.reader(.cancelled)) }

    /// Long after the last moment for a card none of the threads has said so: they hang.
    func giveUp() { end(.reader(.faulty(code: Int64(ETIMEDOUT)))) }

    private func end(_ error: PaymentTapError) {
        state.withLock { state in
            guard state.winner == nil, !state.isOver else { return }
            state.isOver = true
            note(.ended(error), &state)
            output.finish()
        }
        for cancellation in cancellations.values { cancellation.cancel() }
        isDecided.fire()
    }

    fileprivate func report(_ step: TapProgress, from lane: String) {
        let isOver = state.withLock { state -> Bool in
            if state.winner == lane {
                note(step, &state)
                return false
            }
            guard state.winner == nil, !state.isOver else { return false }
            switch step {
            case .signal, .loyaltySignal, .cardLeft: note(.waiting(lane, step), &state)
            // Two phones at a time give no pass, and the payment follows.
            case .passes(let outcome) where !outcome.hasPass: note(.waiting(lane, step), &state)
            case .ended(let error): leave(lane, error, &state)
            case .passes, .endedWithPasses, .result, .waiting, .left, .won:
                // Nothing is read without a card that has won.
                leave(lane, .incompleteRecord, &state)
            }
            return state.isOver
        }
        if isOver { isDecided.fire() }
    }

    /// One lane less. The last one ends the wait: with the time being over where that is so on any of them.
    private func leave(_ lane: String, _ error: PaymentTapError, _ state: inout State) {
        guard state.waiting.remove(lane) != nil else { return }
        note(.left(lane, error), &state)
        if state.failure != .reader(.timedOut) { state.failure = error }
        guard state.waiting.isEmpty else { return }
        state.isOver = true
        note(.ended(state.failure ?? error), &state)
        output.finish()
    }

    /// The lane's thread has come back.
    fileprivate func finish(_ lane: String) {
        state.withLock { state in
            state.returned.insert(lane)
            if state.winner == lane { output.finish() }
        }
        checkOthers()
    }

    private func checkOthers() {
        let areFree = state.withLock { state in
            state.winner.map { state.returned.union([$0]).count == cancellations.count } ?? false
        }
        if areFree { othersAreFree.fire() }
    }
}

/// One lane's place in a race: what its thread needs of it.
struct RaceEntry: Sendable {
    fileprivate let race: LaneRace
    fileprivate let lane: String
    let cancellation: TapCancellation

    func yield(_ step: TapProgress) { race.report(step, from: lane) }

    func finish() { race.finish(lane) }

    /// As `LaneRace.claim`.
    func claim() -> Bool { race.claim(lane) }
}
