// SPDX-License-Identifier: Apache-2.0
import Codes

/// A currency in which a payment can be asked for, by ISO 4217.
public struct Currency: Hashable, Sendable {
    /// Three upper-case letters.
    public let code: String
    /// 1…999, as EMV tag 5F2A holds it in BCD.
    public let numeric: UInt16
    /// Decimals of the minor unit: 0, 2, 3 or 4.
    public let exponent: Int

    /// No currency (ISO 4217: XXX). No request can name it.
    public static let none = Currency(code: "XXX", numeric: 999, exponent: 0)

    private init(code: String, numeric: UInt16, exponent: Int) {
        self.code = code
        self.numeric = numeric
        self.exponent = exponent
    }

    /// - Returns: `nil` for what is no active currency of ISO 4217; case matters.
    public init?(_ code: String) {
        guard let known = CurrencyCode(code), known.isPayable else { return nil }
        self.init(code: code, numeric: known.numeric, exponent: known.exponent)
    }

    /// Codes of all currencies, sorted.
    public static var codes: [String] { CurrencyCode.all.filter(\.isPayable).map(\.letters) }
}

extension Currency: CustomStringConvertible {
    public var description: String { code }
}

extension Currency: Codable {
    public init(from decoder: any Decoder) throws {
        guard let currency = Currency(try decoder.singleValueContainer().decode(String.self)) else {
            throw decoder.refusal(.amountCurrencyUnknown)
        }
        self = currency
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(code)
    }
}
