// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Dispatch
import ReaderCore
import Synchronization

/// Rings once, at the earliest time that somebody wants.
final class AlarmClock: Sendable {
    private static let queue = DispatchQueue(label: "nfc-tap.alarm")

    private struct State {
        var time: Int64?
        var timer: (any DispatchSourceTimer)?
    }

    private let state = Mutex(State())

    deinit { state.withLock { $0.timer?.cancel() } }

    /// - Parameter time: milliseconds of the monotonic clock; `nil` for not at all. The time that was set before counts no
    ///   more.
    func set(at time: Int64?, _ ring: @escaping @Sendable () -> Void) {
        state.withLock { state in
            guard state.time != time else { return }
            state.timer?.cancel()
            (state.time, state.timer) = (time, nil)
            guard let time else { return }
            let wait = max(0, time - Int64(clamping: monotonicNow().nanoseconds / 1_000_000))
            let timer = DispatchSource.makeTimerSource(queue: AlarmClock.queue)
            // A day at a time: what is further away is looked at again then.
            timer.schedule(deadline: .now() + .milliseconds(Int(min(wait, 86_400_000)) + 1), leeway: .milliseconds(1))
            timer.setEventHandler { [weak self] in
                self?.state.withLock { if $0.time == time { ($0.time, $0.timer) = (nil, nil) } }
                ring()
            }
            timer.activate()
            state.timer = timer
        }
    }
}
