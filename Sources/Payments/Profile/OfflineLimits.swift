// SPDX-License-Identifier: Apache-2.0
public import PaymentValues

/// What may be stored while the payment service cannot be reached, and forwarded later.
public struct OfflineLimits: Equatable, Sendable {
    /// For one currency, in its minor units.
    public struct Ceiling: Equatable, Sendable {
        public let currency: Currency
        /// Of one transaction.
        public let amount: Int64
        /// Of all that are stored at a time.
        public let total: Int64

        public init(currency: Currency, amount: Int64, total: Int64) {
            self.currency = currency
            self.amount = amount
            self.total = total
        }
    }

    /// Transactions stored at a time.
    public let count: Int
    /// One for each currency in which something may be stored.
    public let ceilings: [Ceiling]
    /// Whose cards, by the names that `MaskedCard.scheme` uses.
    public let networks: [String]
    /// Seconds since the payment service was last reached after which nothing more is stored.
    public let maximumAge: Int
    /// Whether something may be stored after a restart of the machine before the payment service was reached again.
    public let rebootAllowed: Bool

    public init(count: Int, ceilings: [Ceiling], networks: [String], maximumAge: Int, rebootAllowed: Bool) {
        self.count = count
        self.ceilings = ceilings
        self.networks = networks
        self.maximumAge = maximumAge
        self.rebootAllowed = rebootAllowed
    }

    /// `nil` for a currency in which nothing may be stored.
    public func ceiling(for currency: Currency) -> Ceiling? { ceilings.first { $0.currency == currency } }
}
