// SPDX-License-Identifier: Apache-2.0
/// How long the slow answers take.
public struct SandboxTiming: Equatable, Sendable {
    /// Amounts ending in 97.
    public var slow: Duration
    /// Amounts ending in 99: later than the daemon waits.
    public var late: Duration

    public init(slow: Duration = .seconds(20), late: Duration = .seconds(35)) {
        self.slow = slow
        self.late = late
    }
}
