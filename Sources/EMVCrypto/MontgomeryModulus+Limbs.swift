extension MontgomeryModulus {
    /// Big-endian bytes as little-endian limbs, as many as the bytes fill.
    package static func limbs(_ bytes: [UInt8]) -> [UInt64] {
        var limbs = [UInt64](repeating: 0, count: (bytes.count + 7) / 8)
        var position = bytes.count
        for byte in bytes {
            position &-= 1
            // The shift counts modulo 64.
            limbs[position &>> 3] |= UInt64(byte) &<< UInt64(position &<< 3)
        }
        return limbs
    }

    /// Limbs as exactly `count` big-endian bytes; higher ones are left out.
    package static func bytes(_ limbs: [UInt64], count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        for position in 0..<min(count, limbs.count * 8) {
            bytes[count - 1 - position] = UInt8(
                truncatingIfNeeded: limbs[position / 8] >> (UInt64(position % 8) * 8))
        }
        return bytes
    }

    /// left · right / R mod n in `product`, which has one limb more than n. `left` · `right` must be below n · R.
    ///
    /// Both halves of the method run in one loop: a · b + t + carry of 64-bit values fits into 128 bits exactly.
    @inline(__always)
    static func multiply(
        _ left: borrowing Span<UInt64>, _ right: borrowing Span<UInt64>, _ modulus: borrowing Span<UInt64>,
        _ inverse: UInt64, _ product: inout [UInt64]
    ) {
        let count = modulus.count
        var result = product.mutableSpan
        for index in 0...count { result[index] = 0 }
        for outer in 0..<count {
            let digit = UInt128(right[outer])
            var sum = UInt128(left[0]) &* digit &+ UInt128(result[0])
            let multiple = UInt128(UInt64(truncatingIfNeeded: sum) &* inverse)
            var carry = sum &>> 64
            sum = UInt128(modulus[0]) &* multiple &+ UInt128(UInt64(truncatingIfNeeded: sum))
            var reduction = sum &>> 64
            for inner in 1..<count {
                sum = UInt128(left[inner]) &* digit &+ UInt128(result[inner]) &+ carry
                carry = sum &>> 64
                sum = UInt128(modulus[inner]) &* multiple &+ UInt128(UInt64(truncatingIfNeeded: sum)) &+ reduction
                reduction = sum &>> 64
                result[inner &- 1] = UInt64(truncatingIfNeeded: sum)
            }
            sum = UInt128(result[count]) &+ carry &+ reduction
            result[count &- 1] = UInt64(truncatingIfNeeded: sum)
            result[count] = UInt64(truncatingIfNeeded: sum &>> 64)
        }
        reduce(&result, modulus)
    }

    /// Takes n away once where the number, with one limb more than n, is not below n.
    @inline(__always)
    private static func reduce(_ number: inout MutableSpan<UInt64>, _ modulus: borrowing Span<UInt64>) {
        let count = modulus.count
        if number[count] == 0 {
            var index = count &- 1
            while index > 0, number[index] == modulus[index] { index &-= 1 }
            if number[index] < modulus[index] { return }
        }
        var borrow: UInt64 = 0
        for index in 0..<count {
            let (part, below) = number[index].subtractingReportingOverflow(modulus[index])
            let (rest, belowAgain) = part.subtractingReportingOverflow(borrow)
            number[index] = rest
            borrow = below || belowAgain ? 1 : 0
        }
        number[count] = 0
    }

    /// Twice `number` modulo n; `number` is below n and has one limb more.
    static func double(_ number: inout [UInt64], _ modulus: borrowing Span<UInt64>) {
        var result = number.mutableSpan
        var carry: UInt64 = 0
        for index in 0..<modulus.count {
            let limb = result[index]
            result[index] = limb &<< 1 | carry
            carry = limb &>> 63
        }
        result[modulus.count] = carry
        reduce(&result, modulus)
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
