// SPDX-License-Identifier: Apache-2.0

/// A sum that a till writes as a JSON number in major units: `12.5`, `16.1`, `1e2`. It is never a binary fraction, in which 16.1 is
/// something else.
enum DecimalAmount {
    /// - Returns: `nil` for a sum with more decimals than the currency has, below zero, or beyond twelve digits.
    static func minorUnits(_ text: String, exponent: Int) -> Int64? {
        let parts = text.split(separator: "e", omittingEmptySubsequences: false)
        let upper = parts.count == 1 ? text.split(separator: "E", omittingEmptySubsequences: false) : parts
        guard (1...2).contains(upper.count), text.utf8.count <= 40, (0...4).contains(exponent) else { return nil }
        let mantissa = upper[0].split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(mantissa.count), mantissa.allSatisfy(isNumber) else { return nil }
        var shift = exponent
        if upper.count == 2 {
            let sign = upper[1].first == "+" || upper[1].first == "-"
            guard isNumber(upper[1].dropFirst(sign ? 1 : 0)), let power = Int(upper[1]), abs(power) <= 40 else {
                return nil
            }
            shift += power
        }
        var digits = mantissa.joined().utf8.map { Int64($0) - 0x30 }
        if mantissa.count == 2 { shift -= mantissa[1].utf8.count }
        while shift < 0 {
            guard digits.popLast() ?? 0 == 0 else { return nil }
            shift += 1
        }
        digits += Array(repeating: 0, count: shift)
        var amount: Int64 = 0
        for digit in digits {
            amount = amount * 10 + digit
            guard amount <= TillOrder.maximumAmount else { return nil }
        }
        return amount
    }

    private static func isNumber(_ text: some StringProtocol) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }
}
