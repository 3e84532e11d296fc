// SPDX-License-Identifier: Apache-2.0
import EMV
import TestSupport

extension Terminals {
    static let unpredictableNumbers = UnpredictableNumbers.fixed([0xABAB_ABAB])
}

enum AID {
    static let visa: [UInt8] = [0xA0, 0x00, 0x00, 0x00, 0x03, 0x10, 0x10]
    static let mastercard: [UInt8] = [0xA0, 0x00, 0x00, 0x00, 0x04, 0x10, 0x10]
}

extension Transaction {
    /// A purchase in US dollars on 2020-03-16.
    static func test(
        _ amount: UInt64, country: UInt16 = 840, type: TransactionType = .purchase, otherAmount: UInt64? = nil,
        date: EMVDate = EMVDate(year: 2020, month: 3, day: 16)
    ) -> Transaction {
        Transaction(
            amount: amount, otherAmount: otherAmount, currency: 840, exponent: 2, country: country, type: type,
            date: date,
            time: EMVTime(hour: 0, minute: 0, second: 0), sequenceCounter: 1)
    }
}
