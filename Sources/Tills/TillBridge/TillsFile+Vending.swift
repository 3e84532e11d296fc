// SPDX-License-Identifier: Apache-2.0
import Codes
package import MDB
import PaymentValues
import Settings

extension TillsFile.Till {
    /// A vending machine behind a line of words of nine bits.
    package struct Vending: Sendable {
        package var settings: MDBPeripheral.Settings
        /// The other end of the line writes FF 00 before a marked word itself.
        package var isEscaped: Bool
    }

    /// Seconds for a person with a card and for the payment service, and for the machine to let go of the goods. An approval is good for
    /// both and a minute more, of 600 in all.
    private static let (responseSeconds, vendSeconds) = (10...240, 5...300)

    mutating func readVending(_ table: inout ConfigurationTable) {
        let isEscaped = table.flag("escaped") ?? false
        if !isEscaped, case .serial(_, let baud) = line, baud != 9_600 {
            table.report("speed", "is not that of MDB", "remove it, or write escaped = true for an adapter")
        }
        if refundLimit != nil {
            table.report("refund-limit", "has no use with mdb", "remove it: a vending machine gives nothing back")
        }
        if let level = table.number("level", in: 1...3), level < 3 {
            table.report("level", "has no purchase without a card first", "write level = 3, or remove it")
        }
        let address = table.number("address", in: 1...2) ?? 1
        let scale = table.number("scale", in: 1...255) ?? 1
        let decimals = table.number("decimals", in: 0...9) ?? currency.exponent
        let response = table.number("response-seconds", in: Self.responseSeconds) ?? 30
        let vend = table.number("vend-seconds", in: Self.vendSeconds) ?? 60
        guard
            let prices = MDBPrices(
                currency: currency, scale: UInt8(clamping: scale), decimals: UInt8(clamping: decimals))
        else { return }
        vending = Vending(
            settings: MDBPeripheral.Settings(
                prices: prices, isSecond: address == 2, responseSeconds: UInt8(clamping: response),
                vendSeconds: UInt16(clamping: vend), language: language.rawValue),
            isEscaped: isEscaped)
    }
}
