// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// How often a journal was written to its disk, and how often that came to nothing. For every thread.
public final class CommitCount: Sendable {
    private let done = Atomic<Int>(0)
    private let synced = Atomic<Int>(0)
    private let failed = Atomic<Int>(0)

    init() {}

    /// Commits that had something to write, since the journal was opened.
    public var commits: Int { done.load(ordering: .relaxed) }

    /// Those of them that were on the disk when they returned.
    public var durableCommits: Int { synced.load(ordering: .relaxed) }

    /// Statements that the disk or the file did not take, since the journal was opened.
    public var failures: Int { failed.load(ordering: .relaxed) }

    func noteCommit(isDurable: Bool) {
        _ = done.add(1, ordering: .relaxed)
        if isDurable { _ = synced.add(1, ordering: .relaxed) }
    }

    func noteFailure() { _ = failed.add(1, ordering: .relaxed) }
}
