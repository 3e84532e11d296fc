// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import tap_simulation

/// A part of `make simulate-operations` in every test run.
struct OperationStoryTests {
    @Test("Whatever the payment service says and whenever the daemon dies, books, model and purse come to the same")
    func books() {
        for seed in 0..<UInt64(3_000) {
            let story = OperationStory(seed: seed)
            #expect(story.faults.isEmpty, "SEED=\(seed): \(story.faults)")
            guard story.faults.isEmpty else { return }
        }
    }
}
