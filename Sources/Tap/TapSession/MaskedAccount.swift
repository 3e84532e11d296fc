// SPDX-License-Identifier: Apache-2.0
import Codes

/// What may be said of a card's account in the clear: the scheme and the last four digits (PCI DSS 3.4.1 allows more;
/// nothing here needs it).
public struct MaskedAccount: Equatable, Sendable {
    /// By the application's identifier: `Visa`, `Maestro` …; `Card` for one that is not known.
    public let scheme: String
    public let lastFour: String
    /// As many characters as the card number has digits, all but the last four being `*`.
    public let masked: String

    /// - Returns: `nil` where the record has no card number.
    init?(_ account: AccountData, aid: [UInt8]) {
        guard account.hasPAN else { return nil }
        scheme = PaymentNetwork.name(of: aid)
        lastFour = String(decoding: account.digits.suffix(4).map { $0 | 0x30 }, as: UTF8.self)
        masked = String(repeating: "*", count: account.digits.count - 4) + lastFour
    }
}
