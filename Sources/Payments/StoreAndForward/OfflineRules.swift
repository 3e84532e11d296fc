// SPDX-License-Identifier: Apache-2.0
public import PSPAPI
public import PaymentValues

/// What may be taken while the payment service cannot be reached. Nothing may where there are no rules.
public struct OfflineRules: Equatable, Sendable {
    /// The most that may be stored in one currency, in minor units. A currency without such limits is not taken.
    public struct CurrencyLimit: Equatable, Sendable {
        /// Of one payment.
        public var amount: Int64
        /// Of everything stored and not answered yet.
        public var total: Int64

        public init(amount: Int64, total: Int64) {
            self.amount = amount
            self.total = total
        }
    }

    /// Hours that the last online contact may be past, at most: longer is not allowed by any profile.
    public static let longestAge: Duration = .seconds(24 * 3_600)

    /// By the code of the currency.
    public var currencies: [String: CurrencyLimit]
    /// Payments stored and not answered yet.
    public var count: Int
    /// Schemes as `MaskedCard.scheme` names them; `nil` for all that the terminal takes.
    public var schemes: Set<String>?
    /// Since the payment service was last reached; counts up to `longestAge`.
    public var age: Duration = OfflineRules.longestAge
    /// A restart of the machine ends it until the payment service has been reached again.
    public var needsSameBoot = true
    /// Stored payments of one card within `longestAge`.
    public var perCard = 3

    public init(currencies: [String: CurrencyLimit], count: Int, schemes: Set<String>? = nil) {
        self.currencies = currencies
        self.count = count
        self.schemes = schemes
    }
}

/// What the decision needs to know of a payment.
public struct OfflineSale: Equatable, Sendable {
    /// Whether the card is within its dates, as far as it says so.
    public enum Validity: Sendable {
        case valid, expired, notYetEffective, unknown
    }

    public var kind: AuthorizationRequest.Kind
    public var amount: Money
    public var card: MaskedCard
    /// The card has approved by itself: a transaction certificate (TC).
    public var isApprovedByCard: Bool
    public var validity: Validity
    /// The POS wants to confirm it: what nobody has approved cannot be confirmed.
    public var needsConfirmation: Bool

    public init(
        kind: AuthorizationRequest.Kind, amount: Money, card: MaskedCard, isApprovedByCard: Bool, validity: Validity,
        needsConfirmation: Bool
    ) {
        self.kind = kind
        self.amount = amount
        self.card = card
        self.isApprovedByCard = isApprovedByCard
        self.validity = validity
        self.needsConfirmation = needsConfirmation
    }
}

/// When and how the payment service was last reached.
public struct OnlineContact: Equatable, Sendable {
    public var at: Timestamp
    /// Of the machine, new with each start of it.
    public var boot: String
    /// Name of the payment service.
    public var serviceName: String

    public init(at: Timestamp, boot: String, serviceName: String) {
        self.at = at
        self.boot = boot
        self.serviceName = serviceName
    }
}

/// What the decision needs to know of everything else.
public struct OfflineSituation: Equatable, Sendable {
    public var now: Timestamp
    public var boot: String
    /// Who the payment service is now.
    public var serviceName: String
    /// `nil` where it was never reached.
    public var lastContact: OnlineContact?
    /// Stored and not answered yet.
    public var storedCount = 0
    /// The sums of those, by currency code.
    public var storedTotals: [String: Int64] = [:]
    /// Payment services that those are for.
    public var storedServiceNames: Set<String> = []
    /// Payments of this very card that were stored within `OfflineRules.longestAge`, answered or not.
    public var storedOfCard = 0

    public init(now: Timestamp, boot: String, serviceName: String, lastContact: OnlineContact?) {
        self.now = now
        self.boot = boot
        self.serviceName = serviceName
        self.lastContact = lastContact
    }
}
