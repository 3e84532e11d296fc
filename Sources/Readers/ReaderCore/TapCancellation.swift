// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// One wish to stop waiting, made on any thread and seen by the reader's.
public final class TapCancellation: Sendable {
    private struct State {
        var isCancelled = false
        var handler: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    public init() {}

    public var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Sets the wish for good and wakes the waiter, if one has registered.
    public func cancel() {
        let handler = state.withLock { state -> (@Sendable () -> Void)? in
            state.isCancelled = true
            return state.handler
        }
        handler?()
    }

    /// Runs `wait` with `wake` registered: `wake` is called, on the cancelling thread, when the wish comes meanwhile,
    /// and at once where it came before.
    public func withWaker<Result, Failure: Error>(
        _ wake: @escaping @Sendable () -> Void, _ wait: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let alreadyCancelled = state.withLock { state in
            state.handler = wake
            return state.isCancelled
        }
        defer { state.withLock { $0.handler = nil } }
        if alreadyCancelled { wake() }
        return try wait()
    }
}
