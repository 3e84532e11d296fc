// SPDX-License-Identifier: Apache-2.0
import EMVCrypto
import TestSupport
import Testing

/// The division guesses each digit from the highest limbs, so that limbs at the ends of their range are what may go wrong.
@Suite struct ModulusTests {
    private static let edges: [UInt64] = [0, 1, 2, 1 << 63, (1 << 63) - 1, (1 << 63) + 1, .max, .max - 1]

    @Test(arguments: 1...8)
    func `a residue equals the one that shifting and subtracting gives`(_ count: Int) throws {
        var generator = SeededGenerator(seed: UInt64(count))
        for _ in 0..<200 {
            let (modulus, number) = try ModulusTests.operands(count, 2 * count, &generator)
            let limbs = modulus.limbs
            #expect(modulus.residue(number) == ModulusTests.residue(number, limbs), "\(number) modulo \(limbs)")
        }
    }

    @Test(arguments: 1...8)
    func `a power equals the residues of products in full`(_ count: Int) throws {
        var generator = SeededGenerator(seed: 100 + UInt64(count))
        for _ in 0..<100 {
            let (modulus, number) = try ModulusTests.operands(count, count, &generator)
            let base = modulus.residue(number)
            let square = modulus.residue(ModulusTests.product(base, base))
            let cube = modulus.residue(ModulusTests.product(square, base))
            #expect(modulus.power(base, [1]) == base)
            #expect(modulus.power(base, [2]) == square)
            #expect(modulus.power(base, [3]) == cube)
            #expect(modulus.product(square, base) == cube)
            #expect(modulus.power(base, [6]) == modulus.residue(ModulusTests.product(cube, cube)))
        }
    }

    /// Found by a search with Python's own numbers, which gave the remainders too: a digit of each quotient is guessed one
    /// too high.
    @Test func `a digit that was guessed too high is corrected`() throws {
        let half: UInt64 = 1 << 63
        let cases: [(number: [UInt64], modulus: [UInt64], residue: [UInt64])] = [
            ([1, 1, 1, 0, half - 1, 1], [.max, half, half], [0, half - 3, 9]),
            (
                [2, .max - 1, half, 2, half, 2, .max - 1, 1], [.max, half, 1, .max],
                [half - 1, 0, 0x4000_0000_0000_0006, half + 2]
            ),
            (
                [half, .max - 1, .max - 1, half + 1, half - 1, 2, .max, .max - 1], [3, half + 1, .max, .max - 1],
                [half + 9, .max - 1, .max - 2, 0x3FFF_FFFF_FFFF_FFFF]
            ),
            ([2, .max - 1, .max - 1, 2, .max, half - 1], [.max, half - 1, half], [10, .max - 2, half - 7]),
            // Two digits at a time: the second too high, and the first.
            (
                [1, .max, half, 0, .max, .max - 1, half, half + 1], [half + 1, 2, half + 1, half],
                [half + 2, half + 10, 26, 13]
            ),
            (
                [half - 1, 2, .max, .max - 1, half - 1, 2, half, half + 1], [.max, half, half, half + 1],
                [half - 16, half + 23, half - 1, 19]
            ),
        ]
        for (number, limbs, residue) in cases {
            let modulus = try #require(Modulus(Modulus.bytes(limbs, count: limbs.count * 8)))
            #expect(modulus.residue(number) == residue)
        }
    }

    @Test func `bytes and limbs are the same number`() {
        for count in 0..<40 {
            let bytes = (0..<count).map { UInt8($0 + 1) }
            let limbs = Modulus.limbs(bytes)
            #expect(limbs.count == (count + 7) / 8)
            #expect(Modulus.bytes(limbs, count: count) == bytes)
            #expect(Modulus.bytes(limbs, count: count + 9) == [UInt8](repeating: 0, count: 9) + bytes)
            #expect(Modulus.bytes(limbs, count: count / 2) == bytes.suffix(count / 2))
        }
        #expect(Modulus.limbs([1, 2, 3, 4, 5, 6, 7, 8, 9]) == [0x0203_0405_0607_0809, 1])
    }

    private static func operands(
        _ count: Int, _ length: Int, _ generator: inout SeededGenerator
    ) throws -> (Modulus, [UInt64]) {
        func limb() -> UInt64 {
            Int.random(in: 0..<4, using: &generator) == 0
                ? generator.next() : edges[Int.random(in: edges.indices, using: &generator)]
        }
        var limbs = (0..<count).map { _ in limb() }
        limbs[0] |= 1
        if limbs[count - 1] < 2 { limbs[count - 1] = 3 }
        return (
            try #require(Modulus(Modulus.bytes(limbs, count: count * 8))), (0..<length).map { _ in limb() }
        )
    }

    /// Bit by bit: doubled, and less the modulus where that is not above it.
    private static func residue(_ number: [UInt64], _ modulus: [UInt64]) -> [UInt64] {
        var rest = [UInt64](repeating: 0, count: modulus.count)
        for bit in (0..<number.count * 64).reversed() {
            var carry = number[bit / 64] >> UInt64(bit % 64) & 1
            for index in rest.indices { (rest[index], carry) = (rest[index] << 1 | carry, rest[index] >> 63) }
            guard carry == 1 || !Modulus.isBelow(rest, modulus) else { continue }
            var borrow: UInt64 = 0
            for index in rest.indices {
                let less = UInt128(modulus[index]) + UInt128(borrow)
                borrow = UInt128(rest[index]) < less ? 1 : 0
                rest[index] = UInt64(truncatingIfNeeded: UInt128(rest[index]) &- less)
            }
        }
        return rest
    }

    private static func product(_ left: [UInt64], _ right: [UInt64]) -> [UInt64] {
        var product = [UInt64](repeating: 0, count: left.count + right.count)
        for (outer, digit) in right.enumerated() {
            var carry: UInt64 = 0
            for (inner, limb) in left.enumerated() {
                let sum = UInt128(limb) * UInt128(digit) + UInt128(product[outer + inner]) + UInt128(carry)
                product[outer + inner] = UInt64(truncatingIfNeeded: sum)
                carry = UInt64(truncatingIfNeeded: sum >> 64)
            }
            product[outer + left.count] = carry
        }
        return product
    }
}
