import CardBytes
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
        guard let currency, let name = ISOCodes.currency(currency) else { return "\(minorUnits) minor units" }
        let exponent = ISOCodes.exponent(name)
        let digits = String(minorUnits)
        guard exponent > 0 else { return "\(digits) \(name)" }
        let padded = String(repeating: "0", count: max(0, exponent + 1 - digits.count)) + digits
        return "\(padded.dropLast(exponent)).\(padded.suffix(exponent)) \(name)"
    }

    /// `EUR`, or the number where the code is not known.
    static func currency(_ code: UInt64) -> String { ISOCodes.currency(code) ?? "currency \(code)" }

    static func country(_ code: UInt64) -> String { ISOCodes.country(code) ?? "country \(code)" }
}
