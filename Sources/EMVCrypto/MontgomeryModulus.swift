/// Arithmetic modulo an odd number with Montgomery's method, on little-endian 64-bit limbs.
///
/// For public data and published test keys only: neither time nor memory accesses are independent of the operands.
package struct MontgomeryModulus: Sendable {
    /// The modulus n; its highest limb is not zero.
    package let limbs: [UInt64]
    /// −n⁻¹ mod 2⁶⁴.
    private let inverse: UInt64
    /// R² mod n with R = 2^(64 · limbs.count), which brings a number into Montgomery form.
    private let squaredRadix: [UInt64]

    /// - Parameter bytes: big-endian, leading zeros allowed.
    /// - Returns: `nil` for an even number and for one below 3.
    package init?(_ bytes: [UInt8]) {
        var limbs = MontgomeryModulus.limbs(bytes)
        while limbs.last == 0 { limbs.removeLast() }
        guard let lowest = limbs.first, let highest = limbs.last, lowest & 1 == 1, limbs.count > 1 || lowest > 1
        else { return nil }
        self.limbs = limbs
        // Newton's iteration doubles the number of right bits: 3 → 6 → … → 64.
        var inverted = lowest
        for _ in 0..<5 { inverted = inverted &* (2 &- lowest &* inverted) }
        inverse = 0 &- inverted

        // 2^(bits − 1) is below n; doubling it modulo n up to 2^(64k) gives R mod n.
        var power = [UInt64](repeating: 0, count: limbs.count + 1)
        power[limbs.count - 1] = 1 << (63 - UInt64(highest.leadingZeroBitCount))
        for _ in 0...highest.leadingZeroBitCount { MontgomeryModulus.double(&power, limbs.span) }
        // That is one in Montgomery form. k doublings of it give 2^k in Montgomery form, six squarings 2^(64k): R in
        // Montgomery form, that is R².
        for _ in limbs.indices { MontgomeryModulus.double(&power, limbs.span) }
        var product = power
        for _ in 0..<6 {
            MontgomeryModulus.multiply(power.span, power.span, limbs.span, inverse, &product)
            swap(&power, &product)
        }
        power.removeLast()
        squaredRadix = power
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
        let factor = multiplied(base, squaredRadix)
        var result = (bits == 0 ? base : factor) + [0]
        var product = [UInt64](repeating: 0, count: limbs.count + 1)
        for bit in (0..<max(bits, 0)).reversed() {
            MontgomeryModulus.multiply(result.span, result.span, limbs.span, inverse, &product)
            swap(&result, &product)
            guard exponent[bit / 64] >> UInt64(bit % 64) & 1 == 1 else { continue }
            // The last factor in plain form takes the result out of Montgomery form on the way.
            MontgomeryModulus.multiply(
                result.span, bit == 0 ? base.span : factor.span, limbs.span, inverse, &product)
            swap(&result, &product)
        }
        result.removeLast()
        return bits > 0 && exponent[0] & 1 == 0 ? multiplied(result, unit) : result
    }

    /// left · right mod n, both below n.
    package func product(_ left: [UInt64], _ right: [UInt64]) -> [UInt64] {
        multiplied(multiplied(left, squaredRadix), right)
    }

    /// left − right mod n, both below n.
    package func difference(_ left: [UInt64], _ right: [UInt64]) -> [UInt64] {
        var result = left
        if MontgomeryModulus.subtract(right, from: &result) { MontgomeryModulus.add(limbs, to: &result) }
        return result
    }

    /// A number of at most twice as many limbs as n, modulo n.
    package func residue(_ wide: [UInt64]) -> [UInt64] {
        let count = limbs.count
        func part(_ range: Range<Int>) -> [UInt64] { range.map { $0 < wide.count ? wide[$0] : 0 } }
        let high = multiplied(part(count..<count * 2), squaredRadix)
        let low = multiplied(multiplied(part(0..<count), squaredRadix), unit)
        var negative = [UInt64](repeating: 0, count: count)
        negative = difference(negative, high)
        return difference(low, negative)
    }

    private var unit: [UInt64] { [1] + [UInt64](repeating: 0, count: limbs.count - 1) }

    private func multiplied(_ left: [UInt64], _ right: [UInt64]) -> [UInt64] {
        var product = [UInt64](repeating: 0, count: limbs.count + 1)
        MontgomeryModulus.multiply(left.span, right.span, limbs.span, inverse, &product)
        product.removeLast()
        return product
    }
}
