// SPDX-License-Identifier: Apache-2.0
import Linux
import Synchronization

/// How far the books were at one moment.
struct StoreMark: Equatable, Sendable {
    /// Counted up by a person, after a restore.
    var generation: Int64
    /// The number of a transaction that was committed: PostgreSQL never gives a smaller one later, unless what came after it is gone.
    var transaction: Int64
    /// A replica has told the others that the books are behind what it knows.
    var isDoubted = false
}

/// The newest of the books that this replica was told of, kept beside them. Books that are older were restored: they lack payments that tills were told of,
/// and would have them charged again. They are believed once a person has counted the generation up.
final class StoreMemory: Sendable {
    private struct State {
        var newest: StoreMark?
        /// Of a payment whose till was told since.
        var heard: Int64 = 0
        var isBehind = false
        /// When it was written last, in nanoseconds of `MachineClock.awake`.
        var written: UInt64?
    }

    struct Unreadable: Error {}

    private static let interval: UInt64 = 10_000_000_000

    private let path: String?
    private let state: Mutex<State>

    /// - Parameter path: of the file that outlives the program; `nil` to remember for as long as it runs.
    /// - Throws: where the file is there and says nothing that can be read.
    init(path: String?) throws(Unreadable) {
        self.path = path
        var state = State()
        if let path, FileSystem.exists(path) {
            guard let bytes = try? FileSystem.bytes(of: path, atMost: 256) else { throw Unreadable() }
            let words = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace)
            guard words.count == 3, let generation = Int64(words[0]), let transaction = Int64(words[1]),
                ["behind", "known"].contains(words[2])
            else { throw Unreadable() }
            state.newest = StoreMark(generation: generation, transaction: transaction)
            state.isBehind = words[2] == "behind"
        }
        self.state = Mutex(state)
    }

    /// The books lack something that this replica was told of.
    var isBehind: Bool { state.withLock { $0.isBehind } }

    /// How far books have to be that have all that this replica was told of; `nil` before it has seen any.
    var known: StoreMark? {
        state.withLock { state in
            state.newest.map { StoreMark(generation: $0.generation, transaction: max($0.transaction, state.heard)) }
        }
    }

    /// What was committed under this number is about to be told.
    func hear(_ transaction: Int64) { state.withLock { $0.heard = max($0.heard, transaction) } }

    /// The books are about to be looked at: whatever was heard of until now has a smaller number than that look.
    func beginLook() {
        state.withLock { state in
            if !state.isBehind, let newest = state.newest {
                state.newest?.transaction = max(newest.transaction, state.heard)
            }
        }
    }

    /// Looks at the books as they are now.
    ///
    /// - Parameter now: nanoseconds of a clock that nobody sets.
    /// - Returns: whether they have just turned out to be behind.
    /// - Throws: where the file cannot be written; what was seen counts all the same.
    func see(_ mark: StoreMark, at now: UInt64) throws(SystemError) -> Bool {
        let (text, isNews) = state.withLock { state -> (String?, Bool) in
            let (newest, was) = (state.newest ?? mark, state.isBehind)
            if mark.generation > newest.generation || state.newest == nil {
                (state.newest, state.isBehind, state.heard) = (mark, mark.isDoubted, 0)
            } else if mark.generation < newest.generation || mark.transaction < newest.transaction || mark.isDoubted {
                state.isBehind = true
            } else if !state.isBehind {
                state.newest = mark
            }
            let isDue = state.written.map { now &- $0 >= Self.interval } ?? true
            guard isDue || state.isBehind != was || mark.generation != newest.generation else { return (nil, false) }
            state.written = now
            let kept = state.newest ?? mark
            return (
                "\(kept.generation) \(kept.transaction) \(state.isBehind ? "behind" : "known")\n",
                state.isBehind && !was
            )
        }
        if let path, let text { try DurableFile.replace(path, with: Array(text.utf8).span, mode: 0o600) }
        return isNews
    }
}
