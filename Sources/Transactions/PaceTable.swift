// SPDX-License-Identifier: Apache-2.0
/// How many transactions each user has begun that came to nothing at once: each leaves rows in the journal for months, and a
/// program in a loop would fill the disk. What reads a card, or waits for one as a till does, costs nothing.
public struct PaceTable: Sendable {
    /// At once: more than all lanes of a till server, several times.
    public static let burst: Int64 = 256
    /// One more in so many milliseconds.
    public static let pause: Int64 = 1_000
    /// What ends sooner, in milliseconds, and without a card, came to nothing at once.
    public static let shortest: Int64 = 10_000

    /// By user: when the whole burst is there again, on the monotonic clock.
    private var full: [UInt32: Int64] = [:]

    public init() {}

    /// - Returns: whether the user may begin one more.
    public mutating func take(_ uid: UInt32, at now: Moment) -> Bool {
        let until = max(full[uid] ?? 0, now.monotonic) + Self.pause
        guard until - now.monotonic <= Self.burst * Self.pause else { return false }
        full[uid] = until
        return true
    }

    /// It did not come to nothing.
    public mutating func giveBack(_ uid: UInt32, at now: Moment) {
        guard let until = full[uid] else { return }
        full[uid] = until - Self.pause > now.monotonic ? until - Self.pause : nil
    }
}
