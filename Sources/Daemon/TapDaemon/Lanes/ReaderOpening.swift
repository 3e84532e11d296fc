// SPDX-License-Identifier: Apache-2.0
import POSAPI
import ReaderCore
import Synchronization

/// A call on a reader's thread that opens the reader. It may never come back.
final class ReaderOpening: Sendable {
    typealias Outcome = Result<LaneStatus.Reader, ReaderError>

    private let ended = OneShot()
    private let outcome = Mutex<Outcome?>(nil)

    func end(_ result: Outcome) {
        outcome.withLock { $0 = result }
        ended.fire()
    }

    /// - Returns: `nil` where it takes longer.
    func result(atMost limit: Duration) async -> Outcome? {
        await ended.wait(atMost: limit)
        return outcome.withLock { $0 }
    }
}
