// SPDX-License-Identifier: Apache-2.0
/// Random transaction selection (EMV Book 3 §10.6.2). Amounts in minor units, percentages 0…99.
public struct RandomSelection: Equatable, Sendable {
    public var floorLimit: UInt64
    /// Below it every transaction has the same chance; above it the chance grows towards `maximumPercentage`.
    public var threshold: UInt64
    public var targetPercentage: UInt8
    public var maximumPercentage: UInt8

    public init(floorLimit: UInt64, threshold: UInt64, targetPercentage: UInt8, maximumPercentage: UInt8) {
        self.floorLimit = floorLimit
        self.threshold = threshold
        self.targetPercentage = targetPercentage
        self.maximumPercentage = maximumPercentage
    }

    /// - Parameter random: any number; it is brought to 1…99.
    public func selects(amount: UInt64, random: UInt32) -> Bool {
        guard amount < floorLimit else { return false }
        let draw = UInt64(random % 99) + 1
        let base = UInt64(targetPercentage)
        guard amount >= threshold, floorLimit > threshold else { return draw <= base }
        let growth = UInt64(maximumPercentage) - min(base, UInt64(maximumPercentage))
        // Halved until the product fits: the quotient keeps more digits than a percentage needs.
        var part = amount - threshold
        var whole = floorLimit - threshold
        while part > 0xFFFF_FFFF {
            part >>= 1
            whole >>= 1
        }
        return draw <= growth * part / max(whole, 1) + base
    }
}
