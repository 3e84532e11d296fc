// SPDX-License-Identifier: Apache-2.0
/// Division of long numbers by one and the same divisor, limb by limb (Knuth, The Art of Computer Programming, vol. 2,
/// §4.3.1, algorithm D). Each digit of the quotient comes from the three highest limbs of the dividend and the two of the
/// divisor, by a reciprocal instead of a division (Möller and Granlund, Improved division by invariant integers, 2011).
struct LongDivision: Sendable {
    /// The divisor shifted left until its highest bit is set.
    private let divisor: [UInt64]
    private let shift: UInt64
    /// 2^(64 · limbs) − divisor: to add its multiples is to subtract the divisor's.
    private let complement: [UInt64]
    /// The divisor's three highest limbs; 0 where there is none.
    private let high: UInt64
    private let low: UInt64
    private let third: UInt64
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
        third = divisor.count > 2 ? divisor[divisor.count - 3] : 0
        reciprocal = LongDivision.reciprocal(high, low)
    }

    /// The remainder of `dividend`, which is used up.
    ///
    /// - Parameters:
    ///   - dividend: longer than the divisor; below divisor · 2^(64 · (dividend's limbs − divisor's)).
    ///   - remainder: as many limbs as the divisor.
    func remainder(of dividend: inout [UInt64], in remainder: inout [UInt64]) {
        LongDivision.shiftLeft(&dividend, by: shift)
        var rest = remainder.mutableSpan
        let count = rest.count
        // As long as the complement, it needs no check in the loops.
        precondition(count == complement.count && count < dividend.count)
        var position = dividend.count &- count
        for index in 0..<count { rest[index] = dividend[position &+ index] }
        if count > 3 {
            while position > 1 {
                position &-= 2
                takeTwoDigits(dividend[position &+ 1], dividend[position], &rest)
            }
        }
        while position > 0 {
            position &-= 1
            takeDigit(dividend[position], &rest)
        }
        LongDivision.shiftRight(&remainder, by: shift)
    }

    /// `rest` · 2^64 + `next`, modulo the divisor.
    @inline(__always)
    private func takeDigit(_ next: UInt64, _ rest: inout MutableSpan<UInt64>) {
        let count = rest.count
        let complement = complement.span
        precondition(count == complement.count)
        let digit = quotient(
            rest[count &- 1], count > 1 ? rest[count &- 2] : next, count > 2 ? rest[count &- 3] : count > 1 ? next : 0)
        // The rest moves up by one limb while the product is taken from it.
        var above = next
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

    /// `rest` · 2^128 + `next` · 2^64 + `last`, modulo the divisor of at least four limbs: two digits in one pass, whose
    /// products the processor makes side by side.
    @inline(__always)
    private func takeTwoDigits(_ next: UInt64, _ last: UInt64, _ rest: inout MutableSpan<UInt64>) {
        let count = rest.count
        let complement = complement.span
        precondition(count == complement.count && count > 3)
        let (first, second) = twoDigits(
            UInt128(rest[count &- 1]) &<< 64 | UInt128(rest[count &- 2]),
            UInt128(rest[count &- 3]) &<< 64 | UInt128(rest[count &- 4]))
        // The rest moves up by two limbs while both products are taken from it, the first one limb above the second.
        var (above, aboveNext) = (last, next)
        var carry: UInt64 = 0
        var firstCarry: UInt64 = 0
        var before: UInt64 = 0
        for index in 0..<count {
            let limb = rest[index]
            var sum = UInt128(complement[index]) &* UInt128(second) &+ UInt128(above) &+ UInt128(carry)
            carry = UInt64(truncatingIfNeeded: sum &>> 64)
            sum = UInt128(before) &* UInt128(first) &+ UInt128(UInt64(truncatingIfNeeded: sum)) &+ UInt128(firstCarry)
            rest[index] = UInt64(truncatingIfNeeded: sum)
            firstCarry = UInt64(truncatingIfNeeded: sum &>> 64)
            before = complement[index]
            (above, aboveNext) = (aboveNext, limb)
        }
        var top = UInt128(before) &* UInt128(first) &+ UInt128(above) &+ UInt128(carry) &+ UInt128(firstCarry)
        top = top &+ UInt128(aboveNext) &<< 64
        // As above; a few times at most, whatever the numbers.
        for _ in 0..<3 where top != UInt128(first) &<< 64 | UInt128(second) {
            top = top &+ UInt128(Modulus.addProduct(divisor.span, 1, to: &rest, at: 0))
        }
    }

    /// The next two digits by the four highest limbs of the rest; together they may be too high by one.
    @inline(__always)
    private func twoDigits(_ upper: UInt128, _ lower: UInt128) -> (UInt64, UInt64) {
        var first = quotient(
            UInt64(truncatingIfNeeded: upper &>> 64), UInt64(truncatingIfNeeded: upper),
            UInt64(truncatingIfNeeded: lower &>> 64))
        // What the first digit leaves of the four limbs, by the divisor's three highest.
        let lowest = UInt128(first) &* UInt128(third)
        let middle = UInt128(first) &* UInt128(low) &+ (lowest &>> 64)
        let less = middle &<< 64 | UInt128(UInt64(truncatingIfNeeded: lowest))
        var (rest, isBelow) = lower.subtractingReportingOverflow(less)
        var top = upper &- UInt128(first) &* UInt128(high) &- (middle &>> 64) &- (isBelow ? 1 : 0)
        if top &>> 127 != 0 {
            first &-= 1
            let (sum, isAbove) = rest.addingReportingOverflow(UInt128(low) &<< 64 | UInt128(third))
            rest = sum
            top = top &+ UInt128(high) &+ (isAbove ? 1 : 0)
        }
        let second = quotient(
            UInt64(truncatingIfNeeded: top), UInt64(truncatingIfNeeded: rest &>> 64), UInt64(truncatingIfNeeded: rest))
        return (first, second)
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
