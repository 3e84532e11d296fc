// SPDX-License-Identifier: Apache-2.0
public import Wire

/// How many transactions each principal has begun that came to nothing at once: each leaves rows in the journal for months, and a
/// program in a loop would fill the disk. What reads a card, or waits for one as a till does, costs nothing.
public struct PaceTable: Sendable {
    /// At once: more than all lanes of a till server, several times.
    public static let burst: Int64 = 256
    /// One more in so many milliseconds.
    public static let pause: Int64 = 1_000
    /// What ends sooner, in milliseconds, and without a card, came to nothing at once.
    public static let shortest: Int64 = 10_000

    /// Tills that may be behind with it at a time: a gateway can name as many as it likes.
    public static let tills = 256

    /// When the whole burst is there again, on the monotonic clock.
    private var full: [Principal: Int64] = [:]

    public init() {}

    /// - Returns: whether it may begin one more.
    public mutating func take(_ principal: Principal, at now: Moment) -> Bool {
        if full.count >= Self.tills { full = full.filter { $0.value > now.monotonic } }
        guard principal.till == nil || full[principal] != nil || full.count < Self.tills else { return false }
        let until = max(full[principal] ?? 0, now.monotonic) + Self.pause
        guard until - now.monotonic <= Self.burst * Self.pause else { return false }
        full[principal] = until
        return true
    }

    /// It did not come to nothing.
    public mutating func giveBack(_ principal: Principal, at now: Moment) {
        guard let until = full[principal] else { return }
        full[principal] = until - Self.pause > now.monotonic ? until - Self.pause : nil
    }
}
