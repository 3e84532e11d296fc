// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Codes
import EMV

/// What is known beside a value when it is read.
struct ValueContext {
    var kernel: KernelIdentifier?
    /// 5F2A or 9F42 beside an amount, as a number.
    var currency: UInt64?
    var unmasked: Bool

    /// An amount in minor units with its currency, where there is one.
    func amount(_ minorUnits: UInt64) -> String { CodeNames.amount(minorUnits, currency: currency) }
}

extension CodeNames {
    /// `12.34 EUR`, or minor units where the currency is not known.
    static func amount(_ minorUnits: UInt64, currency: UInt64?) -> String {
        guard let currency = currency.flatMap({ CurrencyCode(numeric: $0) }) else { return "\(minorUnits) minor units" }
        let digits = String(minorUnits)
        let exponent = currency.exponent
        guard exponent > 0 else { return "\(digits) \(currency.letters)" }
        let padded = String(repeating: "0", count: max(0, exponent + 1 - digits.count)) + digits
        return "\(padded.dropLast(exponent)).\(padded.suffix(exponent)) \(currency.letters)"
    }

    /// `EUR`, or the number where the code is not known.
    static func currency(_ code: UInt64) -> String { CurrencyCode(numeric: code)?.letters ?? "currency \(code)" }

    static func country(_ code: UInt64) -> String { CountryCode(numeric: code)?.letters ?? "country \(code)" }
}
