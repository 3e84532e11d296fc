// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Synchronization
import Transactions

/// Rings once, at the earliest time that somebody wants.
final class AlarmClock: Sendable {
    /// Milliseconds. What is further away is looked at again then.
    private static let slice: Int64 = 30_000
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
            let (far, isTooFar) = time.subtractingReportingOverflow(Moment.now.monotonic)
            let wait = isTooFar ? AlarmClock.slice : min(max(0, far), AlarmClock.slice)
            let timer = DispatchSource.makeTimerSource(queue: AlarmClock.queue)
            timer.schedule(deadline: .now() + .milliseconds(Int(wait) + 1), leeway: .milliseconds(1))
            timer.setEventHandler { [weak self] in
                self?.state.withLock { if $0.time == time { ($0.time, $0.timer) = (nil, nil) } }
                ring()
            }
            timer.activate()
            state.timer = timer
        }
    }
}
