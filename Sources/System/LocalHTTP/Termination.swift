// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Something that happens once, and those who wait for it.
final class Termination: Sendable {
    private struct State {
        var hasHappened = false
        var lastID: UInt64 = 0
        var observers: [UInt64: @Sendable () -> Void] = [:]
    }

    private let state = Mutex(State())

    var hasHappened: Bool { state.withLock { $0.hasHappened } }

    /// Calls all observers, the first time only.
    func happen() {
        let observers = state.withLock { state -> [@Sendable () -> Void] in
            guard !state.hasHappened else { return [] }
            state.hasHappened = true
            defer { state.observers = [:] }
            return state.observers.sorted { $0.key < $1.key }.map(\.value)
        }
        for observer in observers { observer() }
    }

    /// Calls `body` when it happens, at once if it has. The number is for `forget`.
    func observe(_ body: @escaping @Sendable () -> Void) -> UInt64 {
        let id = state.withLock { state -> UInt64? in
            guard !state.hasHappened else { return nil }
            state.lastID += 1
            state.observers[state.lastID] = body
            return state.lastID
        }
        guard let id else {
            body()
            return 0
        }
        return id
    }

    func forget(_ id: UInt64) {
        state.withLock { _ = $0.observers.removeValue(forKey: id) }
    }

    /// Suspends until it happens or the task is cancelled.
    func wait() async {
        let wakeUp = WakeUp()
        let id = observe { wakeUp.call() }
        await withTaskCancellationHandler {
            await wakeUp.wait()
        } onCancel: {
            wakeUp.call()
        }
        forget(id)
    }
}

/// Resumes one waiting task, whichever comes first: the call or the wait.
final class WakeUp: Sendable {
    private enum State {
        case untouched, waiting(CheckedContinuation<Void, Never>), called
    }

    private let state = Mutex(State.untouched)

    func call() {
        let waiting = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard case .waiting(let continuation) = state else {
                state = .called
                return nil
            }
            state = .called
            return continuation
        }
        waiting?.resume()
    }

    func wait() async {
        await withCheckedContinuation { continuation in
            let isCalled = state.withLock { state -> Bool in
                if case .called = state { return true }
                state = .waiting(continuation)
                return false
            }
            if isCalled { continuation.resume() }
        }
    }
}
