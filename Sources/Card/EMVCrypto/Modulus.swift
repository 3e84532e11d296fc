// SPDX-License-Identifier: Apache-2.0
/// Arithmetic modulo an odd number, on little-endian 64-bit limbs: products in full, then the remainder of a long division.
///
/// A card's keys are used once, mostly for e = 3: what Montgomery's method has to compute beforehand would cost more
/// than all that follows. For public data and published test keys only: neither time nor memory accesses are independent
/// of the operands.
package struct Modulus: Sendable {
    /// The modulus n; its highest limb is not zero.
    package let limbs: [UInt64]
    private let division: LongDivision

    /// - Parameter bytes: big-endian, leading zeros allowed.
    /// - Returns: `nil` for an even number and for one below 3.
    package init?(_ bytes: [UInt8]) {
        var limbs = Modulus.limbs(bytes)
        while limbs.last == 0 { limbs.removeLast() }
        guard let lowest = limbs.first, lowest & 1 == 1, limbs.count > 1 || lowest > 1,
            let division = LongDivision(by: limbs)
        else { return nil }
        self.limbs = limbs
        self.division = division
    }

    /// base^exponent mod n.
    ///
    /// - Parameters:
    ///   - base: below n, `limbs.count` limbs.
    ///   - exponent: any number of limbs; zero gives 1.
    package func power(_ base: [UInt64], _ exponent: [UInt64]) -> [UInt64] {
        guard base.count == limbs.count, let top = exponent.lastIndex(where: { $0 != 0 }) else {
            return [1] + [UInt64](repeating: 0, count: limbs.count - 1)
        }
        let bits = top * 64 + 63 - exponent[top].leadingZeroBitCount
        var result = base
        var wide = [UInt64](repeating: 0, count: 2 * limbs.count)
        for bit in (0..<bits).reversed() {
            Modulus.square(result.span, &wide)
            division.remainder(of: &wide, in: &result)
            guard exponent[bit / 64] >> UInt64(bit % 64) & 1 == 1 else { continue }
            Modulus.multiply(result.span, base.span, &wide)
            division.remainder(of: &wide, in: &result)
        }
        return result
    }

    /// left · right mod n, both below n.
    package func product(_ left: [UInt64], _ right: [UInt64]) -> [UInt64] {
        var wide = [UInt64](repeating: 0, count: left.count + right.count)
        var result = limbs
        Modulus.multiply(left.span, right.span, &wide)
        division.remainder(of: &wide, in: &result)
        return result
    }

    /// left − right mod n, both below n.
    package func difference(_ left: [UInt64], _ right: [UInt64]) -> [UInt64] {
        var result = left
        if Modulus.subtract(right, from: &result) { Modulus.add(limbs, to: &result) }
        return result
    }

    /// A number of at most twice as many limbs as n, modulo n.
    package func residue(_ number: [UInt64]) -> [UInt64] {
        // The highest limb takes what the division shifts out.
        var wide = number + [UInt64](repeating: 0, count: max(0, 2 * limbs.count - number.count) + 1)
        var result = limbs
        division.remainder(of: &wide, in: &result)
        return result
    }
}
