// SPDX-License-Identifier: Apache-2.0
import Linux
public import Logging
import Synchronization

/// Keeps lines that may come a thousand times in a second few: of each kind the first one at once, then one in ten seconds that says how many were left out.
public final class LogPace: Sendable {
    private struct Kind {
        var told: UInt64
        var untold = 0
    }

    private static let interval: UInt64 = 10_000_000_000
    private static let mostKinds = 256

    private let kinds = Mutex<[String: Kind]>([:])

    public init() {}

    /// How many lines of this kind were left out since the last one that was told; `nil` where this one is left out, too.
    ///
    /// - Parameters:
    ///   - kind: one of a few texts of the program, never of whoever is on the other side.
    ///   - now: nanoseconds of a clock that nobody sets.
    func take(_ kind: String, at now: UInt64) -> Int? {
        kinds.withLock { kinds in
            guard var known = kinds[kind], now &- known.told < Self.interval else {
                let untold = kinds[kind]?.untold ?? 0
                if kinds.count >= Self.mostKinds { kinds = [:] }
                kinds[kind] = Kind(told: now)
                return untold
            }
            known.untold += 1
            kinds[kind] = known
            return nil
        }
    }

    /// Logs the line, or leaves it out.
    ///
    /// - Parameter kind: the message itself where it is `nil`.
    public func log(
        _ logger: Logger, _ level: Logger.Level, _ message: String, kind: String? = nil,
        _ metadata: Logger.Metadata = [:]
    ) {
        guard let untold = take(kind ?? message, at: MachineClock.awake) else { return }
        var metadata = metadata
        if untold > 0 { metadata["more"] = "\(untold)" }
        logger.log(level: level, "\(message)", metadata: metadata)
    }
}
