// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// Nothing that the programs write or say holds a card number.
struct LeakTests {
    @Test(arguments: ["visa", "mastercard"])
    func `logs, events, journal, messages and the ledger hold no card number in any form`(card: String) throws {
        let shop = try Shop()
        try shop.awaitReader()
        for amount in ["12.50 EUR", "12.51 EUR", "12.96 EUR"] {
            try shop.card("present \(card)")
            _ = try shop.pay(amount)
            try shop.card("remove")
        }
        _ = try shop.curl(["http://localhost/v1/events", "--max-time", "1", "-H", "Last-Event-ID: 0"])
        _ = try shop.ledger()
        let files = try #require(FileManager.default.enumerator(at: shop.folder, includingPropertiesForKeys: nil))
        var searched = 0
        for case let file as URL in files {
            guard let data = try? Data(contentsOf: file) else { continue }
            searched += 1
            for (name, pattern) in CardNumbers.patterns {
                #expect(data.range(of: pattern) == nil, "\(name) in \(file.lastPathComponent)")
            }
        }
        #expect(searched >= 5)
    }

    @Test func `the search finds a card number in each form it looks for`() {
        for (name, pattern) in CardNumbers.patterns {
            #expect((Data("noise".utf8) + pattern + Data([0])).range(of: pattern) != nil, "\(name)")
        }
        #expect(CardNumbers.patterns.count >= 10)
    }
}

/// The test cards' numbers in every encoding that the programs use.
enum CardNumbers {
    static let patterns: [(String, Data)] = ["4761739001010010", "5413330089601034"].flatMap { number in
        let packed = Data(
            stride(from: 0, to: number.count, by: 2).map { offset in
                let start = number.index(number.startIndex, offsetBy: offset)
                return UInt8(number[start..<number.index(start, offsetBy: 2)], radix: 16) ?? 0
            })
        let text = Data(number.utf8)
        return [("digits \(number.suffix(4))", text), ("BCD \(number.suffix(4))", packed)]
            + (0..<3).flatMap { shift in
                [("Base64 of digits", text), ("Base64 of BCD", packed)].map { name, bytes in
                    (name, base64(bytes, shift: shift))
                }
            }
    }

    /// The characters that do not depend on what stands around, for each of the three alignments.
    private static func base64(_ bytes: Data, shift: Int) -> Data {
        let text = (Data(repeating: 0, count: shift) + bytes).base64EncodedString()
        let first = shift == 0 ? 0 : shift + 1
        let whole = (shift + bytes.count) / 3 * 4
        return Data(text.utf8.prefix(whole).dropFirst(first))
    }
}
