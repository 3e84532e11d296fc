// SPDX-License-Identifier: Apache-2.0

/// Tells a page's questions about its payment from those by which every open page looks whether the proxy is there. Neither says
/// which payment it asks about: known pages ask for a payment once a second, and for the proxy once in five.
///
/// A question is about the payment if it names the terminal, as those of a page with a terminal id do. Without, it comes within the
/// first seconds of the payment, or is one of at least three within five seconds and keeps their pace. Two open windows of a
/// till together ask for the proxy less often than that.
struct ProxyQuestions: Sendable {
    /// Shorter than the time between two questions of one page for the proxy.
    private static let window: Int64 = 4_900
    private static let fewest = 3
    private static let second: Int64 = 1_000
    /// Shorter than the time after which a page that has just started a payment asks for the proxy at the latest.
    private static let beginning: Int64 = 4_500

    private var begun: Int64?
    private var times: [Int64] = []
    /// Its page names the terminal, and so does each of its questions.
    private var areNamed = false

    /// The page was answered that its payment runs, or the program begins again with it.
    mutating func begin(at now: Int64) { (begun, areNamed) = (now, false) }

    /// - Parameter isNamed: it names this terminal.
    /// - Returns: whether its page waits for the payment that runs.
    mutating func ask(isNamed: Bool, at now: Int64) -> Bool {
        times.removeAll { Self.isPast($0, Self.window, now) }
        // More than that say nothing more.
        if times.count >= Self.fewest { times.removeFirst() }
        times.append(now)
        guard !isNamed else {
            areNamed = true
            return true
        }
        guard !areNamed else { return false }
        return isInPace || begun.map { !Self.isPast($0, Self.beginning, now) } == true
    }

    /// A page that has stopped asking is followed by a longer gap, even if another one asks then.
    private var isInPace: Bool {
        guard times.count >= Self.fewest else { return false }
        let (before, gap) = (times[1] - times[0], times[2] - times[1])
        return gap <= max(before, Self.second) * 3 / 2
    }

    private static func isPast(_ then: Int64, _ time: Int64, _ now: Int64) -> Bool {
        let (elapsed, overflow) = now.subtractingReportingOverflow(then)
        return overflow || elapsed < 0 || elapsed >= time
    }
}
