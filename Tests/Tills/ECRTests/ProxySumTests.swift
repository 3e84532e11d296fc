// SPDX-License-Identifier: Apache-2.0
import Codes
import TestSupport
import Testing

@testable import ECR

/// Sums as programs write them that reckon in binary fractions.
struct ProxySumTests {
    private struct Row: Decodable {
        var form: String
        var decimals: Int
        var minor: Int64
        var text: String
    }

    /// As `JSON.stringify` writes it: both print the shortest text that is read as the same number.
    private static func javaScript(_ number: Double) -> String {
        let text = "\(number)"
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    private static func minorUnits(_ text: String, _ exponent: Int = 2) -> Int64? {
        try? DecimalAmount.minorUnits(text, exponent: exponent)
    }

    @Test("M1: a sum that Node.js has written means the minor units that it was made of")
    func sumsOfNode() throws {
        let rows = try VectorFile.rows("ecr/javascript-sums.jsonl", as: Row.self)
        #expect(rows.count == 380)
        // Enough of them are no sums of two decimals.
        #expect(rows.count { $0.text.utf8.count > 14 } > 40)
        for row in rows {
            #expect(Self.minorUnits(row.text, row.decimals) == row.minor, "\(row.form) \(row.text)")
            guard row.form == "multiplied" || row.form == "divided" else { continue }
            let units: Double = [2: 100, 3: 1_000][row.decimals] ?? 1
            let unit: Double = [2: 0.01, 3: 0.001][row.decimals] ?? 1
            let sum = row.form == "divided" ? Double(row.minor) / units : Double(row.minor) * unit
            #expect(Self.javaScript(sum) == row.text)
        }
    }

    @Test("M1: all sums from 0.01 to 2,000.00 are taken, rounded by multiplying and by dividing, and as sums of items")
    func allSums() {
        var (wrong, noisy, items) = (0, 0, 0.0)
        for minor in Int64(1)...200_000 {
            let (multiplied, divided) = (Double(minor) * 0.01, Double(minor) / 100)
            let price = Double(minor % 997 + 1) / 100
            items = minor % 997 == 0 ? 0 : items + price
            for (sum, meant) in [
                (multiplied, minor), (divided, minor), ((multiplied * 100).rounded() / 100, minor),
                ((divided / 0.01).rounded() * 0.01, minor), (multiplied + price - price, minor),
                (items, Self.items(minor)),
            ] where meant > 0 {
                let text = Self.javaScript(sum)
                if text.utf8.count > 8 { noisy += 1 }
                if Self.minorUnits(text) != meant { wrong += 1 }
            }
        }
        #expect(wrong == 0)
        #expect(noisy > 50_000)
    }

    /// What the prices since the last multiple of 997 make.
    private static func items(_ minor: Int64) -> Int64 {
        let count = minor % 997
        return count * (count + 3) / 2
    }

    @Test(
        "M1: a sum is refused whose distance from whole minor units is no float's noise",
        arguments: [
            "12.345", "12.3401", "12.34000001", "0.005", "0.00000001", "9999999999.991", "3.3333333333333335",
            "0.999999",
            "5.059999942779541",
        ])
    func realDecimals(text: String) {
        #expect(throws: DecimalAmount.Fault.decimals) { try DecimalAmount.minorUnits(text, exponent: 2) }
    }

    @Test(
        "M1: noise is rounded in both directions, in any currency, up to twelve digits",
        arguments: [
            ("5.0600000000000005", 2, 506), ("16.199999999999996", 2, 1_620), ("0.30000000000000004", 2, 30),
            ("0.7000000000000001", 2, 70), ("1.1300000000000001", 2, 113), ("0.09999999999990905", 2, 10),
            ("1249.9999999999998", 0, 1_250), ("4.6000000000000005", 3, 4_600),
            ("9999999999.990002", 2, 999_999_999_999),
            ("999999.9999999999", 2, 100_000_000), ("506.00000000000006e-2", 2, 506),
        ])
    func noise(text: String, exponent: Int, minor: Int64) {
        #expect(Self.minorUnits(text, exponent) == minor)
    }

    @Test("M1: noise does not lift a sum above twelve digits")
    func noiseAboveLimit() {
        #expect(throws: DecimalAmount.Fault.tooLarge) {
            try DecimalAmount.minorUnits("9999999999.999999", exponent: 2)
        }
    }
}
