// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Work that outlives the call which started it, as children of one task: nothing runs that nobody waits for.
final class WorkQueue: Sendable {
    typealias Work = @Sendable () async -> Void

    private let work: AsyncStream<Work>
    private let intake: AsyncStream<Work>.Continuation

    init() { (work, intake) = AsyncStream.makeStream() }

    /// - Returns: `false` once the queue is closed.
    @discardableResult
    func add(_ work: @escaping Work) -> Bool {
        if case .enqueued = intake.yield(work) { return true }
        return false
    }

    /// Takes no more work; `run` returns when what was taken is done.
    func close() { intake.finish() }

    /// Call it once. Cancelling its task cancels the work.
    func run() async {
        await withDiscardingTaskGroup { group in
            for await work in work { group.addTask { await work() } }
        }
    }
}
