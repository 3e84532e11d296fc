// SPDX-License-Identifier: Apache-2.0

/// What waits for the sessions of a token, in which order it gets there, and how long that will take. All sessions take from one queue. What continues a
/// payment goes before what begins one: a payment whose seal came too late would have used the token for nothing.
struct TokenLoad<Job: Sendable>: Sendable {
    enum Kind: Sendable {
        /// An envelope is to be opened: nothing of its payment was done yet.
        case first
        case following
    }

    enum Admission: Equatable, Sendable {
        /// At once, in this session.
        case begins(Int)
        case waits
        /// Too many wait, or it would be given up before its turn: it hears so at once, and takes nobody's turn.
        case refused
    }

    private struct Waiting {
        /// Of jobs of one kind, in the order in which they came.
        var jobs: [Job] = []
        /// Nanoseconds that a call of this kind takes: of the last ones, the later the more.
        var time: UInt64 = 0
    }

    private let sessions: Int
    private var idle: [Int]
    private var first = Waiting()
    private var following = Waiting()

    init(sessions: Int) {
        self.sessions = max(1, sessions)
        // The first one is taken first.
        idle = Array((0..<self.sessions).reversed())
    }

    /// - Parameters:
    ///   - most: calls that may wait or run, for all sessions.
    ///   - limit: nanoseconds for which what begins a payment may wait for its turn.
    mutating func admit(_ job: Job, _ kind: Kind, most: Int, limit: UInt64) -> Admission {
        if let session = idle.popLast() { return .begins(session) }
        let ahead = sessions + first.jobs.count
        guard ahead + following.jobs.count < most else { return .refused }
        guard kind == .first else {
            following.jobs.append(job)
            return .waits
        }
        let work = UInt64(clamping: ahead) &* first.time &+ UInt64(clamping: following.jobs.count) &* following.time
        guard work / UInt64(clamping: sessions) <= limit else { return .refused }
        first.jobs.append(job)
        return .waits
    }

    /// Calls that wait for their turn, of each kind.
    var waiting: (first: Int, following: Int) { (first.jobs.count, following.jobs.count) }

    /// - Parameter nanoseconds: that a call took.
    mutating func note(_ kind: Kind, took nanoseconds: UInt64) {
        // Beyond a minute it is refused all the same.
        let last = min(nanoseconds, 60_000_000_000)
        let time = kind == .first ? first.time : following.time
        let mean = time == 0 ? last : (time * 7 + last) / 8
        if kind == .first { first.time = mean } else { following.time = mean }
    }

    /// What a session that is done takes up; `nil` where nothing waits: then it is idle.
    mutating func next(for session: Int) -> (job: Job, kind: Kind)? {
        if !following.jobs.isEmpty { return (following.jobs.removeFirst(), .following) }
        if !first.jobs.isEmpty { return (first.jobs.removeFirst(), .first) }
        idle.append(session)
        return nil
    }
}
