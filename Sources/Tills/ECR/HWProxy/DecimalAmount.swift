// SPDX-License-Identifier: Apache-2.0
import Codes

/// A sum that a till writes as a JSON number in major units: `12.5`, `16.1`, `1e2`. It is read as decimal text and never becomes a
/// binary fraction here, in which 16.1 is something else.
///
/// A till that reckons in binary fractions writes 5.0600000000000005 where it means 5.06. Such a sum is rounded if its distance
/// from whole minor units is a float's noise: at most a ten-millionth of a minor unit, or 10⁻¹⁴ of the sum where that is more,
/// which is 45 units in the last place of a double. A tenth of a cent is no noise in any sum of twelve digits.
enum DecimalAmount {
    enum Fault: Error, Equatable {
        /// No number, or one below zero.
        case notASum
        /// More decimals than the currency has, beyond a float's noise.
        case decimals
        /// More than twelve digits.
        case tooLarge
    }

    /// - Throws: what is wrong with it.
    static func minorUnits(_ text: String, exponent: Int) throws(Fault) -> Int64 {
        let parts = text.split(omittingEmptySubsequences: false) { $0 == "e" || $0 == "E" }
        guard (1...2).contains(parts.count), text.utf8.count <= 40, (0...4).contains(exponent) else { throw .notASum }
        let mantissa = parts[0].split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(mantissa.count), mantissa.allSatisfy(isNumber) else { throw .notASum }
        var shift = exponent
        if parts.count == 2 {
            let sign = parts[1].first == "+" || parts[1].first == "-"
            guard isNumber(parts[1].dropFirst(sign ? 1 : 0)), let power = Int(parts[1]), abs(power) <= 40 else {
                throw .notASum
            }
            shift += power
        }
        let digits = mantissa.joined().utf8.map { Int64($0) - 0x30 }
        if mantissa.count == 2 { shift -= mantissa[1].utf8.count }
        guard shift < 0 else { return try whole(digits + Array(repeating: 0, count: shift)) }
        let fraction = Array(repeating: 0, count: max(0, -shift - digits.count)) + digits.suffix(-shift)
        return try rounded(whole(digits.dropLast(-shift)), fraction)
    }

    private static func whole(_ digits: some Sequence<Int64>) throws(Fault) -> Int64 {
        var amount: Int64 = 0
        for digit in digits {
            amount = amount * 10 + digit
            guard amount <= CurrencyCode.largestAmount else { throw .tooLarge }
        }
        return amount
    }

    /// What `noise` counts in: 10¹⁸ of them are a minor unit.
    private static let minorUnit: Int64 = 1_000_000_000_000_000_000

    private static func rounded(_ amount: Int64, _ fraction: [Int64]) throws(Fault) -> Int64 {
        guard fraction.contains(where: { $0 != 0 }) else { return amount }
        let first = fraction.prefix(18) + Array(repeating: 0, count: max(0, 18 - fraction.count))
        let part = first.reduce(0) { $0 * 10 + $1 }
        if amount > 0, part <= noise(amount) { return amount }
        let next = amount + 1
        guard minorUnit - part <= noise(next) else { throw .decimals }
        guard next <= CurrencyCode.largestAmount else { throw .tooLarge }
        return next
    }

    /// Never more than a hundredth of a minor unit.
    private static func noise(_ amount: Int64) -> Int64 { max(100_000_000_000, amount * 10_000) }

    private static func isNumber(_ text: some StringProtocol) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }
}
