// SPDX-License-Identifier: Apache-2.0
import LocalHTTP

/// How often a till may ask. Time is in nanoseconds of a clock that nobody sets.
struct RateLimits: Sendable {
    private let requests: Double
    private let creates: Double
    private var buckets: [String: (requests: TokenBucket, creates: TokenBucket)] = [:]
    /// Seconds' worth that may come at once.
    private static let burst = 3.0

    /// - Parameters: of one till in a second.
    init(requests: Int = 10, creates: Int = 1) {
        self.requests = Double(requests)
        self.creates = Double(creates)
    }

    /// - Returns: seconds after which to ask again; `nil` where the till may ask now.
    mutating func wait(of till: String, isCreating: Bool, at now: UInt64) -> Int? {
        var own =
            buckets[till]
            ?? (
                TokenBucket(level: requests * Self.burst, filledAt: now),
                TokenBucket(level: creates * Self.burst, filledAt: now)
            )
        defer { buckets[till] = own }
        if let wait = own.requests.take(requests, requests * Self.burst, now) { return wait }
        return isCreating ? own.creates.take(creates, creates * Self.burst, now) : nil
    }
}

/// How many refused tokens there were within a minute: beyond five nobody gets to try, while tills with a good one go on.
/// On loopback all have one address, so that a page with an old token must not keep the shop from selling.
struct FailureWindow: Sendable {
    private var times: [UInt64] = []
    private static let length: UInt64 = 60 * 1_000_000_000
    static let most = 5

    /// One more has failed.
    ///
    /// - Returns: whether it is one too many.
    mutating func failed(at now: UInt64) -> Bool {
        times.removeAll { now &- $0 >= Self.length }
        guard times.count < Self.most else { return true }
        times.append(now)
        return false
    }
}
