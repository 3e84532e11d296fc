// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Two readings of one series: the best round says what the code costs, the middle one what it costs beside others.
struct Reading {
    /// Nanoseconds for one call.
    var median: Double
    var minimum: Double

    init(_ samples: [Double]) {
        let sorted = samples.sorted()
        median = sorted.percentile(50)
        minimum = sorted.first ?? 0
    }
}

/// One thing to measure. `body` does it once and returns anything that depends on the result, so that none of it can be
/// left out.
struct Subject {
    let name: String
    let body: () -> Int

    init(_ name: String, _ body: @escaping () -> Int) {
        self.name = name
        self.body = body
    }
}

enum Stopwatch {
    /// Measures all subjects in turns, round by round, so that what else the machine does meets them alike. Counts the
    /// processor time of this thread: what other programs take of the machine does not count, cold caches do.
    static func readings(of subjects: [Subject], rounds: Int = 41) -> [Reading] {
        let calls = subjects.map { callsPerRound($0) }
        var samples = subjects.map { _ in [Double]() }
        var total = 0
        for _ in 0..<rounds {
            for (index, subject) in subjects.enumerated() {
                let start = processorTime()
                for _ in 0..<calls[index] { total &+= subject.body() }
                samples[index].append(Double(processorTime() &- start) / Double(calls[index]))
            }
        }
        Ballast.keep(total)
        return samples.map { Reading($0) }
    }

    /// As many as take about two milliseconds.
    private static func callsPerRound(_ subject: Subject) -> Int {
        var calls = 1
        var total = 0
        while calls < 1 << 20 {
            let start = processorTime()
            for _ in 0..<calls { total &+= subject.body() }
            if processorTime() &- start > 2_000_000 { break }
            calls *= 2
        }
        Ballast.keep(total)
        return calls
    }

    private static func processorTime() -> UInt64 { time(CLOCK_THREAD_CPUTIME_ID) }

    /// Nanoseconds on the monotonic clock.
    static func wallTime() -> UInt64 { time(CLOCK_MONOTONIC) }

    private static func time(_ clock: clockid_t) -> UInt64 {
        var time = timespec()
        _ = unsafe clock_gettime(clock, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }
}

/// Where results go that nobody reads.
enum Ballast {
    /// The compiler cannot know that it is never true.
    static func keep(_ value: Int) {
        if value == Int.min { print("unlikely") }
    }
}

extension [Double] {
    /// Of sorted numbers, by the nearest rank.
    func percentile(_ percent: Double) -> Double {
        guard !isEmpty else { return 0 }
        let rank = Int((Double(count) * percent / 100 - 1e-9).rounded(.up))
        return self[Swift.min(count - 1, Swift.max(0, rank - 1))]
    }
}
