// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Synchronization

/// Something that happens once, for any number of tasks to wait for.
final class OneShot: Sendable {
    private struct Waiting {
        let continuation: CheckedContinuation<Void, Never>
        /// Ends the wait; `nil` for one without a limit.
        let timer: (any DispatchSourceTimer)?

        /// Never under the lock: resuming waits for the lock of the task, and a task that is cancelled holds that one
        /// while it asks for ours.
        func end() {
            timer?.cancel()
            continuation.resume()
        }
    }

    private struct State {
        var hasFired = false
        var waiting: [UInt64: Waiting] = [:]
        var nextKey: UInt64 = 0
    }

    private static let clock = DispatchQueue(label: "nfc-tap.occasions")

    private let state = Mutex(State())

    var hasFired: Bool { state.withLock { $0.hasFired } }

    func fire() {
        let waiting = state.withLock { state in
            defer { state.waiting = [:] }
            state.hasFired = true
            return Array(state.waiting.values)
        }
        for each in waiting { each.end() }
    }

    /// Returns when it has happened, or at once when the task is cancelled.
    func wait() async { await wait(until: nil) }

    /// Returns when it has happened, `limit` has passed, or at once when the task is cancelled.
    func wait(atMost limit: Duration) async {
        let nanoseconds = limit.components.seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let rest = Int(limit.components.attoseconds / 1_000_000_000)
        let (total, isTooLong) = Int(nanoseconds.partialValue).addingReportingOverflow(rest)
        await wait(until: nanoseconds.overflow || isTooLong ? nil : .now() + .nanoseconds(total))
    }

    private func wait(until end: DispatchTime?) async {
        let key = state.withLock { state in
            state.nextKey &+= 1
            return state.nextKey
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state -> Bool in
                    if state.hasFired || Task.isCancelled { return true }
                    state.waiting[key] = Waiting(continuation: continuation, timer: end.map { timer(key, $0) })
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            leave(key)
        }
    }

    /// Not `Task.sleep`: where it is cancelled, what belongs to it stays in memory until its time has passed.
    private func timer(_ key: UInt64, _ end: DispatchTime) -> any DispatchSourceTimer {
        let timer = DispatchSource.makeTimerSource(queue: OneShot.clock)
        timer.schedule(deadline: end)
        timer.setEventHandler { [weak self] in self?.leave(key) }
        timer.activate()
        return timer
    }

    private func leave(_ key: UInt64) {
        state.withLock { $0.waiting.removeValue(forKey: key) }?.end()
    }
}
