// SPDX-License-Identifier: Apache-2.0

/// What happens to answers on their way, at random but the same for each seed, in hundredths.
public struct LineFaults: Equatable, Sendable {
    public var lost = 0
    public var twice = 0
    public var delayed = 0
    public var late = 0
    private var state: UInt64

    public init(seed: UInt64) { state = seed }

    /// - Returns: milliseconds after which each copy is sent.
    mutating func copies(after milliseconds: UInt64, rules: HostRules) -> [UInt64] {
        let draw = Int(next() % 100)
        if draw < lost { return [] }
        if draw < lost + twice { return [milliseconds, milliseconds + 20] }
        if draw < lost + twice + delayed { return [milliseconds + 200 + next() % 1_800] }
        if draw < lost + twice + delayed + late { return [milliseconds + rules.late] }
        return [milliseconds]
    }

    /// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
    private mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
