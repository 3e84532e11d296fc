// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Events that have arrived and were not asked for yet. Bounded by pausing the socket, not by dropping.
final class EventInbox: Sendable {
    private struct State {
        var pending: [ServerSentEvent] = []
        var end: Result<Void, HTTPClientError>?
        var wakeUp: WakeUp?
        var resumeReading: (@Sendable () -> Void)?
    }

    private enum Turn {
        case event(ServerSentEvent, resumeReading: (@Sendable () -> Void)?)
        case ended(Result<Void, HTTPClientError>)
        case wait(WakeUp)
    }

    private let state = Mutex(State())
    private static let fullAt = 256

    /// Takes events in. `true`: the inbox is full; read on once `resume` is called.
    func deliver(_ events: [ServerSentEvent], resume: @escaping @Sendable () -> Void) -> Bool {
        let (isFull, wakeUp) = state.withLock { state -> (Bool, WakeUp?) in
            state.pending += events
            let isFull = state.pending.count >= Self.fullAt
            if isFull { state.resumeReading = resume }
            defer { state.wakeUp = nil }
            return (isFull, state.wakeUp)
        }
        wakeUp?.call()
        return isFull
    }

    /// No event comes after those that are here.
    func end(_ result: Result<Void, HTTPClientError>) {
        let wakeUp = state.withLock { state -> WakeUp? in
            if state.end == nil { state.end = result }
            defer { state.wakeUp = nil }
            return state.wakeUp
        }
        wakeUp?.call()
    }

    /// `nil` at the end, and when the task is cancelled.
    func next() async throws(HTTPClientError) -> ServerSentEvent? {
        while !Task.isCancelled {
            switch state.withLock({ Self.turn(&$0) }) {
            case .event(let event, let resumeReading):
                resumeReading?()
                return event
            case .ended(let result):
                try result.get()
                return nil
            case .wait(let wakeUp):
                await withTaskCancellationHandler {
                    await wakeUp.wait()
                } onCancel: {
                    wakeUp.call()
                }
            }
        }
        return nil
    }

    private static func turn(_ state: inout State) -> Turn {
        guard let event = state.pending.first else {
            if let end = state.end { return .ended(end) }
            let wakeUp = WakeUp()
            state.wakeUp = wakeUp
            return .wait(wakeUp)
        }
        state.pending.removeFirst()
        guard state.pending.count < fullAt / 4 else { return .event(event, resumeReading: nil) }
        defer { state.resumeReading = nil }
        return .event(event, resumeReading: state.resumeReading)
    }
}
