// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Events on their way to one subscriber: bounded, so that a slow client costs itself its stream and nobody anything else.
///
/// The producer never waits. When the queue is full it takes one last event, `event: overflow`, and the stream is closed
/// after it; the client connects again with `Last-Event-ID`.
public final class EventQueue: Sendable {
    public enum Admission: Equatable, Sendable {
        case queued
        /// This event did not fit, and none will after it.
        case overflowed
        /// The stream has ended, for whatever reason.
        case closed
    }

    private struct State {
        var pending: [UInt8] = []
        var count = 0
        var isFinished = false
        var waiting: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())
    private let ended = Termination()
    private let maximumEvents: Int
    private let maximumBytes: Int

    /// `maximumBytes` counts the events as they are sent, including field names.
    public init(maximumEvents: Int = 256, maximumBytes: Int = 256 * 1024) {
        self.maximumEvents = maximumEvents
        self.maximumBytes = maximumBytes
    }

    /// Queues an event. Never suspends or blocks.
    @discardableResult
    public func send(_ event: ServerSentEvent) -> Admission {
        let bytes = event.encoded
        return wakingReader { state in
            guard !state.isFinished else { return .closed }
            guard state.count < maximumEvents, state.pending.count + bytes.count <= maximumBytes else {
                state.pending += Self.overflow
                state.isFinished = true
                return .overflowed
            }
            state.pending += bytes
            state.count += 1
            return .queued
        }
    }

    /// Ends the stream after what is queued.
    public func finish() { wakingReader { $0.isFinished = true } }

    /// Calls `body` once when the server lets go of the stream: everything is sent, or the client has gone. It runs
    /// outside of `send`, so it may take the locks that the producer holds while sending.
    public func onEnd(_ body: @escaping @Sendable () -> Void) { _ = ended.observe(body) }

    /// Everything queued, as soon as there is something; `nil` once the stream has ended.
    func next() async -> [UInt8]? {
        while true {
            let batch = state.withLock { state -> [UInt8]?? in
                if !state.pending.isEmpty {
                    defer { (state.pending, state.count) = ([], 0) }
                    return .some(state.pending)
                }
                return state.isFinished ? .some(nil) : .none
            }
            if let batch { return batch }
            await waitForChange()
        }
    }

    /// The client has gone: nothing is sent any more.
    func close() {
        wakingReader { state in
            state.isFinished = true
            (state.pending, state.count) = ([], 0)
        }
        ended.happen()
    }

    private func waitForChange() async {
        await withCheckedContinuation { continuation in
            let mayGoOn = state.withLock { state -> Bool in
                if !state.pending.isEmpty || state.isFinished { return true }
                state.waiting = continuation
                return false
            }
            if mayGoOn { continuation.resume() }
        }
    }

    private func wakingReader<Result: Sendable>(_ change: (inout sending State) -> Result) -> Result {
        let (result, waiting) = state.withLock { state -> (Result, CheckedContinuation<Void, Never>?) in
            let result = change(&state)
            defer { state.waiting = nil }
            return (result, state.waiting)
        }
        waiting?.resume()
        return result
    }

    private static let overflow = ServerSentEvent(
        name: "overflow", data: "{\"reason\":\"client too slow\"}"
    ).encoded
}
