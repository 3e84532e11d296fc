// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// What a handler has seen, for the test to look at.
final class Seen<Value: Sendable>: Sendable {
    private let values = Mutex<[Value]>([])

    var all: [Value] { values.withLock { $0 } }

    func add(_ value: Value) { values.withLock { $0.append(value) } }
}
