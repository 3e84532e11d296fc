// SPDX-License-Identifier: Apache-2.0
import PaymentValues
import Synchronization
import Transactions

/// Who may have the events from before and when: a monitor that asks for all of them again and again waits its turn, so that
/// payments do not wait for it.
final class ReplayLimiter: Sendable {
    /// At once, of one principal.
    static let burst: Int64 = 8
    /// Milliseconds for each beyond.
    static let pause: Int64 = 250

    private let until = Mutex<[Principal: Int64]>([:])

    /// Milliseconds to wait for the principal's next turn, which is taken.
    func take(_ principal: Principal, at now: Moment) -> Int64 {
        until.withLock { until in
            if until.count > 256 { until = until.filter { $0.value > now.monotonic } }
            let next = max(until[principal] ?? 0, now.monotonic) + Self.pause
            until[principal] = next
            return max(0, next - now.monotonic - Self.burst * Self.pause)
        }
    }

    /// Returns when it is its turn.
    func wait(_ principal: Principal) async {
        let wait = take(principal, at: .now)
        if wait > 0 { try? await Task.sleep(for: .milliseconds(wait)) }
    }
}
