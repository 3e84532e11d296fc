// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// One stream or request of a till, until it ends, which it does once.
final class Presence: Sendable {
    private let upstream: Upstream
    private let till: String
    private let hasEnded = Atomic<Bool>(false)

    init(_ upstream: Upstream, _ till: String) {
        self.upstream = upstream
        self.till = till
    }

    func end() {
        guard !hasEnded.exchange(true, ordering: .relaxed) else { return }
        Task { [upstream, till] in await upstream.leave(till) }
    }
}
