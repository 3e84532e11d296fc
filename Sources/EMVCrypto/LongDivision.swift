/// Division of long numbers by one and the same divisor, limb by limb (Knuth, The Art of Computer Programming, vol. 2,
/// §4.3.1, algorithm D). Each digit of the quotient comes from the three highest limbs of the dividend and the two of the
/// divisor, by a reciprocal instead of a division (Möller and Granlund, Improved division by invariant integers, 2011).
struct LongDivision: Sendable {
    /// The divisor shifted left until its highest bit is set.
    private let divisor: [UInt64]
    private let shift: UInt64
    /// 2^(64 · limbs) − divisor: to add its multiples is to subtract the divisor's.
    private let complement: [UInt64]
    /// The divisor's two highest limbs; the lower one is 0 where there is none.
    private let high: UInt64
    private let low: UInt64
    /// ⌊(2^192 − 1) / (high · 2^64 + low)⌋ − 2^64.
    private let reciprocal: UInt64

    /// - Parameter number: little-endian; `nil` where its highest limb is missing or 0.
    init?(by number: [UInt64]) {
        guard let highest = number.last, highest != 0 else { return nil }
        shift = UInt64(highest.leadingZeroBitCount)
        var divisor = number
        LongDivision.shiftLeft(&divisor, by: shift)
        var complement = [UInt64](repeating: 0, count: divisor.count)
        _ = Modulus.subtract(divisor, from: &complement)
        self.divisor = divisor
        self.complement = complement
        high = divisor[divisor.count - 1]
        low = divisor.count > 1 ? divisor[divisor.count - 2] : 0
        reciprocal = LongDivision.reciprocal(high, low)
    }

    /// The remainder of `dividend`, which is used up.
    ///
    /// - Parameters:
    ///   - dividend: longer than the divisor; below divisor · 2^(64 · (dividend's limbs − divisor's)).
    ///   - remainder: as many limbs as the divisor.
    func remainder(of dividend: inout [UInt64], in remainder: inout [UInt64]) {
        LongDivision.shiftLeft(&dividend, by: shift)
        let complement = complement.span
        var rest = remainder.mutableSpan
        let count = rest.count
        // As long as the complement, it needs no check in the loop.
        precondition(count == complement.count && count < dividend.count)
        var position = dividend.count &- count
        for index in 0..<count { rest[index] = dividend[position &+ index] }
        while position > 0 {
            position &-= 1
            var above = dividend[position]
            let digit = quotient(
                rest[count &- 1], count > 1 ? rest[count &- 2] : above,
                count > 2 ? rest[count &- 3] : count > 1 ? above : 0)
            // The rest moves up by one limb while the product is taken from it.
            var carry: UInt64 = 0
            for index in 0..<count {
                let limb = rest[index]
                let sum = UInt128(complement[index]) &* UInt128(digit) &+ UInt128(above) &+ UInt128(carry)
                rest[index] = UInt64(truncatingIfNeeded: sum)
                carry = UInt64(truncatingIfNeeded: sum &>> 64)
                above = limb
            }
            // The digit may be one too high: once in 2^64 times, or when somebody looks for it.
            if above &+ carry != digit { _ = Modulus.addProduct(divisor.span, 1, to: &rest, at: 0) }
        }
        LongDivision.shiftRight(&remainder, by: shift)
    }

    /// ⌊(first · 2^128 + second · 2^64 + third) / (high · 2^64 + low)⌋, at most 2^64 − 1 (Möller and Granlund,
    /// algorithm 4).
    @inline(__always)
    private func quotient(_ first: UInt64, _ second: UInt64, _ third: UInt64) -> UInt64 {
        if first > high || first == high && second >= low { return .max }
        let divisor = UInt128(high) &<< 64 | UInt128(low)
        let estimate = UInt128(reciprocal) &* UInt128(first) &+ (UInt128(first) &<< 64 | UInt128(second))
        var digit = UInt64(truncatingIfNeeded: estimate &>> 64)
        var rest = UInt128(second &- digit &* high) &<< 64 | UInt128(third)
        rest = rest &- divisor &- UInt128(low) &* UInt128(digit)
        digit &+= 1
        if UInt64(truncatingIfNeeded: rest &>> 64) >= UInt64(truncatingIfNeeded: estimate) {
            digit &-= 1
            rest = rest &+ divisor
        }
        return rest >= divisor ? digit &+ 1 : digit
    }

    /// Möller and Granlund, algorithm 6.
    private static func reciprocal(_ high: UInt64, _ low: UInt64) -> UInt64 {
        var result = UInt64(truncatingIfNeeded: UInt128.max / UInt128(high))
        var rest = high &* result &+ low
        if rest < low {
            result &-= 1
            if rest >= high {
                result &-= 1
                rest &-= high
            }
            rest &-= high
        }
        let product = UInt128(result) &* UInt128(low)
        let (sum, overflow) = rest.addingReportingOverflow(UInt64(truncatingIfNeeded: product &>> 64))
        if overflow {
            result &-= 1
            if sum > high || sum == high && UInt64(truncatingIfNeeded: product) >= low { result &-= 1 }
        }
        return result
    }

    /// By 0 to 63 bits; what leaves the highest limb is lost.
    private static func shiftLeft(_ number: inout [UInt64], by shift: UInt64) {
        guard shift > 0 else { return }
        var carry: UInt64 = 0
        for index in number.indices {
            let limb = number[index]
            number[index] = limb &<< shift | carry
            carry = limb &>> (64 &- shift)
        }
    }

    private static func shiftRight(_ number: inout [UInt64], by shift: UInt64) {
        guard shift > 0 else { return }
        var carry: UInt64 = 0
        for index in number.indices.reversed() {
            let limb = number[index]
            number[index] = limb &>> shift | carry
            carry = limb &<< (64 &- shift)
        }
    }
}
