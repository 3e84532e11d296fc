// SPDX-License-Identifier: Apache-2.0

/// What waits for the sessions of a token, and how long that will take.
struct TokenLoad {
    /// Calls that wait or run, for each session.
    private var waiting: [Int]
    /// What a call takes, in nanoseconds: of the last ones, the later the more.
    private var time: UInt64 = 0

    init(sessions: Int) { waiting = [Int](repeating: 0, count: sessions) }

    /// - Parameters:
    ///   - most: calls that may wait or run, for all sessions.
    ///   - limit: nanoseconds after which a call is given up.
    /// - Returns: the session that it waits for; `nil` for too many, and for one that would be given up before its turn: it hears so at once, and takes
    ///   nobody's turn.
    mutating func admit(most: Int, limit: UInt64) -> Int? {
        guard waiting.reduce(0, +) < most, let least = waiting.indices.min(by: { waiting[$0] < waiting[$1] }),
            UInt64(clamping: waiting[least]) &* time <= limit
        else { return nil }
        waiting[least] += 1
        return least
    }

    /// - Parameter nanoseconds: that the call took; `nil` where it was left undone.
    mutating func end(_ session: Int, after nanoseconds: UInt64?) {
        waiting[session] -= 1
        guard let nanoseconds else { return }
        // Beyond a minute it is refused all the same.
        let last = min(nanoseconds, 60_000_000_000)
        time = time == 0 ? last : (time * 7 + last) / 8
    }
}
