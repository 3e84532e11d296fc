// SPDX-License-Identifier: Apache-2.0
/// How often this machine itself stands still: a virtual one does whenever its host runs somebody else.
enum PauseProbe {
    /// - Returns: nanoseconds of each pause above one millisecond that a thread without anything to wait for had.
    static func pauses(in seconds: UInt64) -> [Double] {
        var pauses: [Double] = []
        var last = Stopwatch.wallTime()
        let end = last + seconds * 1_000_000_000
        while last < end {
            let now = Stopwatch.wallTime()
            if now - last > 1_000_000 { pauses.append(Double(now - last)) }
            last = now
        }
        return pauses
    }
}
