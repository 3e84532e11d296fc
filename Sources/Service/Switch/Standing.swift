// SPDX-License-Identifier: Apache-2.0
import Linux
import Synchronization

/// When this replica last renewed its lease in the books: whether a sale can be written is what that says, and nothing else is asked for it.
final class Lease: Sendable {
    /// Three renewals were missed; others take over what is open here after eight.
    static let freshSeconds: UInt64 = 6

    private let renewedAt = Mutex<UInt64?>(nil)

    /// - Parameter begin: of the renewal's question, in nanoseconds of `MachineClock.awake`.
    func renewed(at begin: UInt64) { renewedAt.withLock { $0 = begin } }

    /// In seconds; `nil` as long as there is none.
    func age(at now: UInt64) -> Double? { renewedAt.withLock { $0 }.map { Double(now &- $0) / 1e9 } }

    func isFresh(at now: UInt64) -> Bool { age(at: now).map { $0 < Double(Self.freshSeconds) } ?? false }
}

/// An answer that is found once in a second, however many ask for it.
actor CachedAnswer {
    private var known: (answer: SwitchAnswer, at: UInt64)?
    private var asking: Task<SwitchAnswer, Never>?

    func answer(_ ask: @escaping @Sendable () async -> SwitchAnswer) async -> SwitchAnswer {
        if let known, MachineClock.awake &- known.at < 1_000_000_000 { return known.answer }
        if let asking { return await asking.value }
        let task = Task { await ask() }
        asking = task
        let answer = await task.value
        (asking, known) = (nil, (answer, MachineClock.awake))
        return answer
    }
}
