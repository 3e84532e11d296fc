// SPDX-License-Identifier: Apache-2.0
/// How many, and how much in minor units.
public struct Figure: Codable, Hashable, Sendable {
    public var count: Int
    public var value: Int64

    public init(count: Int = 0, value: Int64 = 0) {
        self.count = count
        self.value = value
    }
}

/// How many movements of money of one kind there were, and how much they moved: what two sets of books are compared by.
public struct FigureLine: Codable, Hashable, Sendable {
    /// What moved the money, whatever brought it about.
    public enum Kind: String, Codable, CaseIterable, Sendable {
        /// Sales and captures, tips included: above zero.
        case captured
        /// Refunds: below zero.
        case refunded
        /// Payments that were taken back: below zero. Refunds that were taken back: above zero.
        case reversed
    }

    public var mode: Mode
    public var currency: Currency
    /// In the words of the authorisation's `card.scheme`; missing where no card is known.
    public var scheme: String?
    public var kind: Kind
    public var count: Int
    /// Minor units.
    public var value: Int64

    public init(mode: Mode, currency: Currency, scheme: String? = nil, kind: Kind, count: Int = 0, value: Int64 = 0) {
        self.mode = mode
        self.currency = currency
        self.scheme = scheme
        self.kind = kind
        self.count = count
        self.value = value
    }

    public var figure: Figure { Figure(count: count, value: value) }
}
