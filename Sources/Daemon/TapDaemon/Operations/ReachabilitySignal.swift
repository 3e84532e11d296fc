// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Tells somebody who is made later that the payment service can be reached.
final class ReachabilitySignal: Sendable {
    private let listener = Mutex<(@Sendable () async -> Void)?>(nil)

    func onRing(_ listener: @escaping @Sendable () async -> Void) { self.listener.withLock { $0 = listener } }

    func ring() async { await listener.withLock { $0 }?() }
}
