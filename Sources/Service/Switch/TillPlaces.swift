// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Requests under way, by the name in the till's certificate: one certificate takes no more than its share, and all of them leave room for the proxy's own
/// questions.
final class TillPlaces: Sendable {
    private struct State {
        var running: [String: Int] = [:]
        var all = 0
    }

    private let most: Int
    private let mostOfAll: Int
    private let state = Mutex(State())

    init(most: Int = 256, mostOfAll: Int = 3_000) { (self.most, self.mostOfAll) = (most, mostOfAll) }

    /// - Returns: whether there is a place; leave it afterwards.
    func enter(_ till: String) -> Bool {
        state.withLock { state in
            guard state.all < mostOfAll, state.running[till, default: 0] < most else { return false }
            state.running[till, default: 0] += 1
            state.all += 1
            return true
        }
    }

    func leave(_ till: String) {
        state.withLock { state in
            guard let count = state.running[till] else { return }
            state.running[till] = count > 1 ? count - 1 : nil
            state.all -= 1
        }
    }
}
