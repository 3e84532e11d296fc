// SPDX-License-Identifier: Apache-2.0
import Dispatch

/// Runs blocking code on a thread of its own, so that it never holds up the tasks it waits for.
func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        DispatchQueue(label: "blocking test client").async {
            continuation.resume(with: Result { try body() })
        }
    }
}
