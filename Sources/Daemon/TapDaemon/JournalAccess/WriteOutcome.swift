// SPDX-License-Identifier: Apache-2.0
import Journal
import Synchronization

/// What came of one change among several that were written together.
final class WriteOutcome<Value: Sendable>: Sendable {
    private let result = Mutex<Result<Value, JournalError>?>(nil)

    func run(_ body: () throws(JournalError) -> Value) {
        let outcome = Result { () throws(JournalError) in try body() }
        result.withLock { $0 = outcome }
    }

    /// - Throws: `.failed` where the change was never tried.
    func get() throws(JournalError) -> Value {
        guard let outcome = result.withLock({ $0 }) else { throw .failed(code: 0) }
        return try outcome.get()
    }
}
