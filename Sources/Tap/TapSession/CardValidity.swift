// SPDX-License-Identifier: Apache-2.0
import CardBytes
public import EMV

/// Whether a card is within its dates on the day of the payment.
public enum CardValidity: Sendable {
    case valid
    /// The last day of its month (5F24, or Track 2 Equivalent Data) has passed.
    case expired
    /// The card's first day (5F25) is still to come.
    case notYetEffective
    /// The card gives no date that can be read.
    case unknown

    /// - Parameter record: a kernel's data record.
    public init(_ record: [DataObject], on day: EMVDate) {
        guard let expiry = CardAccount(record: record)?.expiry else {
            self = .unknown
            return
        }
        let effective = record.value(of: 0x5F25).map { EMVDate(yymmdd: $0) }
        if expiry < day {
            self = .expired
        } else if let effective {
            self = effective.map { $0 > day ? .notYetEffective : .valid } ?? .unknown
        } else {
            self = .valid
        }
    }
}
