// SPDX-License-Identifier: Apache-2.0
public import PaymentValues

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

    /// So many bytes of a request count as one transaction more: what is written down with it stays for months, whatever became of it.
    public static let bytes = 4_096

    /// When the whole burst is there again, on the monotonic clock.
    private var full: [Principal: Int64] = [:]

    public init() {}

    /// - Parameter bytes: of the request. What they cost beyond the first of them is not given back.
    /// - Returns: whether it may begin one more.
    public mutating func take(_ principal: Principal, bytes: Int = 0, at now: Moment) -> Bool {
        if full.count >= Self.tills { full = full.filter { $0.value > now.monotonic } }
        guard principal.till == nil || full[principal] != nil || full.count < Self.tills else { return false }
        let count = 1 + Int64(clamping: max(0, bytes) / Self.bytes)
        let until = max(full[principal] ?? 0, now.monotonic) + min(count, Self.burst) * Self.pause
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
