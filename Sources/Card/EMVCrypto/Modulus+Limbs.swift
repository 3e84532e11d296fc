// SPDX-License-Identifier: Apache-2.0
extension Modulus {
    /// Big-endian bytes as little-endian limbs, as many as the bytes fill.
    package static func limbs(_ bytes: [UInt8]) -> [UInt64] {
        var limbs = [UInt64](repeating: 0, count: (bytes.count + 7) / 8)
        var end = bytes.count
        for index in limbs.indices {
            if end >= 8 {
                // Of a part that is eight bytes long, one load is made.
                let part = bytes.span.extracting((end - 8)..<end)
                let high =
                    UInt64(part[0]) &<< 56 | UInt64(part[1]) &<< 48 | UInt64(part[2]) &<< 40 | UInt64(part[3]) &<< 32
                let low = UInt64(part[4]) &<< 24 | UInt64(part[5]) &<< 16 | UInt64(part[6]) &<< 8 | UInt64(part[7])
                limbs[index] = high | low
            } else {
                for byte in bytes[..<end] { limbs[index] = limbs[index] &<< 8 | UInt64(byte) }
            }
            end -= 8
        }
        return limbs
    }

    /// Limbs as exactly `count` big-endian bytes; higher ones are left out.
    package static func bytes(_ limbs: [UInt64], count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var span = bytes.mutableSpan
        var end = count
        for limb in limbs where end > 0 {
            if end >= 8 {
                for place in 0..<8 {
                    span[end &- 8 &+ place] = UInt8(truncatingIfNeeded: limb &>> UInt64(56 &- 8 &* place))
                }
            } else {
                for place in 0..<end {
                    span[place] = UInt8(truncatingIfNeeded: limb &>> UInt64(8 &* (end - 1 - place)))
                }
            }
            end -= 8
        }
        return bytes
    }

    /// left · right in `product`, which has as many limbs as both together.
    static func multiply(
        _ left: borrowing Span<UInt64>, _ right: borrowing Span<UInt64>, _ product: inout [UInt64]
    ) {
        let count = left.count
        var result = product.mutableSpan
        for index in 0..<count { result[index] = 0 }
        for outer in 0..<right.count {
            let carry = addProduct(left, right[outer], to: &result, at: outer)
            result[outer &+ count] = carry
        }
    }

    /// number² in `product`, which has twice as many limbs.
    static func square(_ number: borrowing Span<UInt64>, _ product: inout [UInt64]) {
        let count = number.count
        var result = product.mutableSpan
        for index in 0..<count { result[index] = 0 }
        // Each product of two different limbs once …
        for outer in 0..<count {
            let rest = number.extracting((outer &+ 1)..<count)
            let carry = addProduct(rest, number[outer], to: &result, at: 2 &* outer &+ 1)
            result[outer &+ count] = carry
        }
        // … then all of it doubled, and the square of each limb.
        var carry: UInt64 = 0
        var shifted: UInt64 = 0
        for index in 0..<count {
            let (low, high) = (result[2 &* index], result[2 &* index &+ 1])
            let square = UInt128(number[index]) &* UInt128(number[index])
            var sum = UInt128(low &<< 1 | shifted) &+ UInt128(UInt64(truncatingIfNeeded: square)) &+ UInt128(carry)
            result[2 &* index] = UInt64(truncatingIfNeeded: sum)
            sum = (sum &>> 64) &+ UInt128(high &<< 1 | low &>> 63) &+ (square &>> 64)
            result[2 &* index &+ 1] = UInt64(truncatingIfNeeded: sum)
            carry = UInt64(truncatingIfNeeded: sum &>> 64)
            shifted = high &>> 63
        }
    }

    /// Adds row · digit to as many limbs of `number` from `start` on, and returns the carry out of them: a · b + c + d of
    /// 64-bit values fits into 128 bits exactly.
    @inline(__always)
    static func addProduct(
        _ row: borrowing Span<UInt64>, _ digit: UInt64, to number: inout MutableSpan<UInt64>, at start: Int
    ) -> UInt64 {
        let count = row.count
        // As long as the row, it needs no check in the loop.
        var part = number._mutatingExtracting(start..<(start + count))
        var carry: UInt64 = 0
        for index in 0..<count {
            let sum = UInt128(row[index]) &* UInt128(digit) &+ UInt128(part[index]) &+ UInt128(carry)
            part[index] = UInt64(truncatingIfNeeded: sum)
            carry = UInt64(truncatingIfNeeded: sum &>> 64)
        }
        return carry
    }

    /// Whether `left` < `right`, both of the same number of limbs.
    package static func isBelow(_ left: [UInt64], _ right: [UInt64]) -> Bool {
        for (one, other) in zip(left.reversed(), right.reversed()) where one != other { return one < other }
        return false
    }

    /// Subtracts and tells whether the result fell below zero, and so wrapped around.
    static func subtract(_ subtrahend: [UInt64], from number: inout [UInt64]) -> Bool {
        var borrow = false
        for index in number.indices where index < subtrahend.count {
            let (part, below) = number[index].subtractingReportingOverflow(subtrahend[index])
            let (rest, belowAgain) = part.subtractingReportingOverflow(borrow ? 1 : 0)
            number[index] = rest
            borrow = below || belowAgain
        }
        return borrow
    }

    /// Adds; a carry out of the highest limb is dropped.
    static func add(_ addend: [UInt64], to number: inout [UInt64]) {
        var carry = false
        for index in number.indices where index < addend.count {
            let (part, above) = number[index].addingReportingOverflow(addend[index])
            let (sum, aboveAgain) = part.addingReportingOverflow(carry ? 1 : 0)
            number[index] = sum
            carry = above || aboveAgain
        }
    }
}
