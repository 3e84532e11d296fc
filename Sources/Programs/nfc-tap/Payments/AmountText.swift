// SPDX-License-Identifier: Apache-2.0
import Glibc
import Linux
import PaymentValues

/// An amount as people type it: `12.50 EUR`, `12,5 EUR`, `EUR 12.50`, `12.50EUR`, `1250 JPY`; without a currency that of
/// the environment's NFC_TAP_CURRENCY.
enum AmountText {
    enum Problem: Error, Equatable {
        case noCurrency
        case unknownCurrency(String)
        case notANumber(String)
        /// More decimals than the currency has.
        case tooManyDecimals(currency: String, decimals: Int)
        case outOfRange
    }

    static func parse(_ words: [String]) throws(Problem) -> Money {
        var words = words.flatMap { $0.split(separator: " ") }.flatMap(apart)
        if words.count == 1, let usual = usualCurrency { words.append(usual) }
        guard words.count == 2 else { throw .noCurrency }
        let isCodeFirst = words[1].first?.isNumber == true
        let code = (isCodeFirst ? words[0] : words[1]).uppercased()
        guard let currency = Currency(code) else { throw .unknownCurrency(code) }
        return Money(value: try minorUnits(isCodeFirst ? words[1] : words[0], currency), currency: currency)
    }

    /// The currency if none is named.
    static var usualCurrency: String? { Environment.value("NFC_TAP_CURRENCY") }

    /// `12.50EUR` and `EUR12.50` as two words.
    private static func apart(_ word: Substring) -> [String] {
        let isLetter = { (character: Character) in character.isASCII && character.isLetter }
        if word.count > 3, word.prefix(3).allSatisfy(isLetter), word.dropFirst(3).first?.isNumber == true {
            return [String(word.prefix(3)), String(word.dropFirst(3))]
        }
        if word.count > 3, word.suffix(3).allSatisfy(isLetter), word.dropLast(3).last?.isNumber == true {
            return [String(word.dropLast(3)), String(word.suffix(3))]
        }
        return [String(word)]
    }

    private static func minorUnits(_ text: String, _ currency: Currency) throws(Problem) -> Int64 {
        let parts = text.split(omittingEmptySubsequences: false) { $0 == "." || $0 == "," }
        guard (1...2).contains(parts.count), parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(isDigit) }) else {
            throw .notANumber(text)
        }
        let fraction = parts.count == 2 ? parts[1] : ""
        guard fraction.count <= currency.exponent else {
            throw .tooManyDecimals(currency: currency.code, decimals: currency.exponent)
        }
        let digits = parts[0] + fraction + String(repeating: "0", count: currency.exponent - fraction.count)
        guard let value = Int64(digits), value <= Limits.amount else { throw .outOfRange }
        return value
    }

    private static func isDigit(_ unit: UInt8) -> Bool { (0x30...0x39).contains(unit) }
}

extension AmountText.Problem: CustomStringConvertible {
    var description: String {
        switch self {
        case .noCurrency: "give an amount and a currency, as in 12.50 EUR, or set NFC_TAP_CURRENCY"
        case .unknownCurrency(let code): "\(code) is not a currency of ISO 4217; give three letters, as in EUR"
        case .notANumber(let text): "\(text) is not an amount; write digits with . or , before the decimals"
        case .tooManyDecimals(let currency, let decimals): "\(currency) has \(decimals) decimals"
        case .outOfRange: "the amount has more than twelve digits in minor units"
        }
    }
}
