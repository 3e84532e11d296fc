// SPDX-License-Identifier: Apache-2.0
import Linux
import Synchronization

/// One timer that rings at the time it was last set to.
final class AlarmBell: Sendable {
    private let task = Mutex<Task<Void, Never>?>(nil)
    private let bell: @Sendable () -> Void

    init(_ bell: @escaping @Sendable () -> Void) { self.bell = bell }

    /// - Parameter time: milliseconds of `MachineClock.all`; `nil` for never.
    func ring(at time: UInt64?) {
        var next: Task<Void, Never>?
        if let time, time != .max {
            let now = MachineClock.all / 1_000_000
            let pause = Int64(clamping: time > now ? time - now : 0)
            next = Task { [bell] in
                guard (try? await Task.sleep(for: .milliseconds(pause + 1))) != nil else { return }
                bell()
            }
        }
        task.withLock { task in
            task?.cancel()
            task = next
        }
    }

    func stop() { ring(at: nil) }
}
