// SPDX-License-Identifier: Apache-2.0
public import Codes

/// How prices are written on the line: value × scale × 10^−decimals, in units of the currency. (MDB/ICP 4.2, 7.4.1)
public struct MDBPrices: Equatable, Sendable {
    public let currency: CurrencyCode
    public let scale: UInt8
    public let decimals: UInt8

    /// - Returns: `nil` for a scale of 0, and for more than nine decimals.
    public init?(currency: CurrencyCode, scale: UInt8 = 1, decimals: UInt8 = 2) {
        guard scale > 0, decimals <= 9 else { return nil }
        self.currency = currency
        self.scale = scale
        self.decimals = decimals
    }

    /// Four digits, two a byte: a 1 in front says ISO 4217.
    var currencyDigits: [UInt8] {
        let number = currency.numeric
        let digits = [1, number / 100 % 10, number / 10 % 10, number % 10].map { UInt8(truncatingIfNeeded: $0) }
        return [digits[0] << 4 | digits[1], digits[2] << 4 | digits[3]]
    }

    private static func power(_ exponent: Int) -> Int64 {
        (0..<max(0, exponent)).reduce(1) { result, _ in result * 10 }
    }

    private var up: Int64 { Self.power(currency.exponent - Int(decimals)) }
    private var down: Int64 { Self.power(Int(decimals) - currency.exponent) }

    /// - Returns: minor units; `nil` for a price that the currency has no coin for.
    public func amount(of value: UInt32) -> Int64? {
        let scaled = Int64(value) * Int64(scale)
        let (whole, overflow) = scaled.multipliedReportingOverflow(by: up)
        guard !overflow, whole.isMultiple(of: down) else { return nil }
        return whole / down
    }

    /// - Parameter amount: minor units.
    /// - Returns: `nil` for a sum that the scale cannot say: it is never rounded.
    public func value(of amount: Int64) -> UInt32? {
        let (scaled, overflow) = amount.multipliedReportingOverflow(by: down)
        let (unit, isFar) = Int64(scale).multipliedReportingOverflow(by: up)
        guard !overflow, !isFar, amount >= 0, scaled.isMultiple(of: unit) else { return nil }
        return UInt32(exactly: scaled / unit)
    }
}
