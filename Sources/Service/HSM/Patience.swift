// SPDX-License-Identifier: Apache-2.0
import Linux
import Synchronization

/// Tells what has waited for a time that is the same for all, in the order in which it came: one sleep at a time for any number of
/// them, where a timer for each costs more than what it watches.
final class Patience: Sendable {
    private struct Watched {
        let until: UInt64
        let tell: @Sendable () -> Void
    }

    private struct State {
        var watched: [Watched] = []
        var isSleeping = false
    }

    private let limit: Duration
    private let state = Mutex(State())

    init(_ limit: Duration) { self.limit = limit }

    var nanoseconds: UInt64 {
        let (seconds, attoseconds) = limit.components
        return UInt64(clamping: seconds) &* 1_000_000_000 &+ UInt64(clamping: attoseconds / 1_000_000_000)
    }

    /// - Parameter tell: once the time is over, whether or not somebody still waits; it must keep nothing alive.
    func watch(_ tell: @escaping @Sendable () -> Void) {
        let until = MachineClock.awake &+ nanoseconds
        let isFirst = state.withLock { state in
            state.watched.append(Watched(until: until, tell: tell))
            defer { state.isSleeping = true }
            return !state.isSleeping
        }
        if isFirst { Task { await sleep() } }
    }

    private func sleep() async {
        while true {
            // A cancelled sleep ends early, which does no harm: what is not due yet is looked at again.
            try? await Task.sleep(for: limit / 4)
            let now = MachineClock.awake
            let (due, isOver) = state.withLock { state -> ([Watched], Bool) in
                let due = state.watched.prefix { $0.until <= now }
                state.watched.removeFirst(due.count)
                state.isSleeping = !state.watched.isEmpty
                return (Array(due), state.watched.isEmpty)
            }
            for watched in due { watched.tell() }
            if isOver { return }
        }
    }
}
