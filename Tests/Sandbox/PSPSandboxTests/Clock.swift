// SPDX-License-Identifier: Apache-2.0
import PaymentValues
import Synchronization

/// A clock that goes on when it is told to.
final class Clock: Sendable {
    private let time = Mutex(Timestamp.now)

    var now: Timestamp { time.withLock { $0 } }

    func advance(_ seconds: Int64) { time.withLock { $0 = $0.advanced(bySeconds: seconds) } }
}
