// SPDX-License-Identifier: Apache-2.0
/// An amount in the minor units of its currency: 1250 EUR is 12.50 euros, 1250 JPY is 1250 yen.
public struct Money: Hashable, Sendable {
    public var value: Int64
    public var currency: Currency

    public init(value: Int64, currency: Currency) {
        self.value = value
        self.currency = currency
    }
}

extension Money {
    /// Of what is about no amount at all.
    public static let none = Money(value: 0, currency: .none)
}

extension Money: CustomStringConvertible {
    /// `12.50 EUR`, with as many decimals as ISO 4217 gives the currency.
    public var description: String {
        let digits = String(value.magnitude)
        let exponent = currency.exponent
        let padded = String(repeating: "0", count: max(0, exponent + 1 - digits.utf8.count)) + digits
        let whole = padded.dropLast(exponent)
        let fraction = padded.suffix(exponent)
        return (value < 0 ? "-" : "") + whole + (exponent > 0 ? "." + fraction : "") + " " + currency.code
    }
}

extension Money: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case value, currency
    }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.strictContainer(keyedBy: CodingKeys.self)
        value = try members.decodeWhole(Int64.self, forKey: .value)
        currency = try members.decode(Currency.self, forKey: .currency)
    }
}
