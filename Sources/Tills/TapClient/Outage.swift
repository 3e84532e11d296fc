// SPDX-License-Identifier: Apache-2.0
import LocalHTTP

/// How long the daemon has been away, and how long to wait before it is tried again.
struct Outage {
    /// Of the daemon's socket.
    private let path: String
    private let maximum: Duration
    private var began: ContinuousClock.Instant?
    private var pause = Self.firstPause

    private static let firstPause = Duration.milliseconds(50)
    private static let longestPause = Duration.seconds(2)

    init(of path: String, maximum: Duration) { (self.path, self.maximum) = (path, maximum) }

    /// The daemon has answered.
    mutating func isOver() { (began, pause) = (nil, Self.firstPause) }

    /// Waits a little, each time longer.
    /// - Throws: what `error` means for the caller, when it has lasted too long or waiting cannot help.
    mutating func wait(after error: HTTPClientError) async throws(TapClientError) {
        let problem = TapClientError(error, at: path)
        let began = self.began ?? .now
        self.began = began
        guard problem.isRetryable, ContinuousClock.now - began < maximum else { throw problem }
        try await TapClient.pause(pause)
        pause = min(pause * 2, Self.longestPause)
    }
}
