// SPDX-License-Identifier: Apache-2.0
/// Where the terminal's random numbers come from: Unpredictable Number (9F37), relay-resistance entropy, random
/// selection. An input, so that a recorded transaction replays bit for bit.
public struct UnpredictableNumbers: Sendable {
    private enum Source: Sendable {
        case fixed([UInt32], next: Int)
        case system
    }

    private var source: Source

    private init(source: Source) { self.source = source }

    /// From the operating system's generator.
    public static var system: UnpredictableNumbers { UnpredictableNumbers(source: .system) }

    /// These numbers in their order, one a kernel run; after the last one it counts up from it, so that no number
    /// comes twice. Not for live use.
    public static func fixed(_ numbers: [UInt32]) -> UnpredictableNumbers {
        UnpredictableNumbers(source: .fixed(numbers, next: 0))
    }

    /// The next number.
    public mutating func next() -> UInt32 {
        switch source {
        case .system:
            return UInt32.random(in: .min ... .max)
        case .fixed(let numbers, let next):
            source = .fixed(numbers, next: next + 1)
            if next < numbers.count { return numbers[next] }
            return (numbers.last ?? 0) &+ UInt32(truncatingIfNeeded: next - numbers.count + 1)
        }
    }

    /// A source of its own for one kernel run, starting with the next number here.
    mutating func forOneRun() -> UnpredictableNumbers {
        switch source {
        case .system: .system
        case .fixed: .fixed([next()])
        }
    }
}
