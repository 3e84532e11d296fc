// SPDX-License-Identifier: Apache-2.0
import PaymentValues
import Synchronization
import Transactions

/// Lanes on which somebody says that the customer is shown the amount. It counts for a minute: whoever has gone says nothing.
final class LaneDisplays: Sendable {
    /// In milliseconds; said again three times meanwhile.
    static let life: Int64 = 60_000

    private struct Report {
        let lanes: Set<String>
        /// On the monotonic clock.
        let until: Int64
    }

    private let reports = Mutex<[Principal: Report]>([:])

    /// Takes the place of what the same one has said before.
    func note(_ lanes: Set<String>, by principal: Principal, at now: Moment) {
        reports.withLock { reports in
            reports = reports.filter { $0.value.until > now.monotonic }
            reports[principal] = lanes.isEmpty ? nil : Report(lanes: lanes, until: now.monotonic &+ Self.life)
        }
    }

    func shows(_ lane: String, at now: Moment) -> Bool {
        reports.withLock { $0.values.contains { $0.until > now.monotonic && $0.lanes.contains(lane) } }
    }
}
