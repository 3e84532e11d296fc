// SPDX-License-Identifier: Apache-2.0
import PSPAPI
public import PaymentValues

/// The decision on a payment that cannot be sent: stored, or refused for one reason that is told.
public enum OfflineDecision {
    /// - Parameter rules: `nil` where nothing may be stored.
    /// - Returns: `nil` where it may be stored, else the first reason against it: those that no other card or amount
    ///   would change come first.
    public static func refusal(
        of sale: OfflineSale, in situation: OfflineSituation, by rules: OfflineRules?
    ) -> ErrorCode? {
        guard let rules else { return .offlineNotAllowed }
        return refusal(in: situation, by: rules) ?? refusal(of: sale, by: rules)
            ?? refusalByLimits(of: sale, in: situation, by: rules)
    }

    /// Why nothing at all may be stored now.
    public static func refusal(in situation: OfflineSituation, by rules: OfflineRules) -> ErrorCode? {
        if !situation.storedServiceNames.isSubset(of: [situation.serviceName]) { return .offlineServiceChanged }
        guard let contact = situation.lastContact else { return .offlineNotContacted }
        // Contact with a former payment service is none with this one.
        guard contact.serviceName == situation.serviceName else { return .offlineNotContacted }
        if rules.needsSameBoot, contact.boot != situation.boot { return .offlineInvalidated }
        guard let expires = expiry(after: contact, by: rules) else { return .offlineExpired }
        // A clock that was put back proves nothing about how long ago it was.
        guard situation.now >= contact.at else { return .clockUnbelievable }
        return situation.now > expires ? .offlineExpired : nil
    }

    /// Until when payments may be stored without a further contact.
    public static func expiry(after contact: OnlineContact, by rules: OfflineRules) -> Timestamp? {
        let age = min(rules.age, OfflineRules.longestAge)
        guard age > .zero else { return nil }
        return contact.at.advanced(bySeconds: age.components.seconds)
    }

    /// Why this card or kind of payment is not stored, whatever its amount.
    private static func refusal(of sale: OfflineSale, by rules: OfflineRules) -> ErrorCode? {
        guard sale.kind == .sale, !sale.needsConfirmation else { return .offlineNotAllowed }
        guard sale.isApprovedByCard else { return .offlineCardAsksOnline }
        guard sale.validity == .valid else { return .offlineCardExpired }
        if let schemes = rules.schemes, !schemes.contains(sale.card.scheme) { return .offlineSchemeNotAllowed }
        return nil
    }

    private static func refusalByLimits(
        of sale: OfflineSale, in situation: OfflineSituation, by rules: OfflineRules
    ) -> ErrorCode? {
        let code = sale.amount.currency.code
        guard let limit = rules.currencies[code] else { return .offlineCurrencyNotAllowed }
        guard sale.amount.value > 0, sale.amount.value <= limit.amount else { return .offlineAmountExceeded }
        let (total, overflow) = sale.amount.value.addingReportingOverflow(situation.storedTotals[code] ?? 0)
        guard !overflow, total <= limit.total else { return .offlineTotalExceeded }
        guard situation.storedCount < rules.count else { return .offlineCountExceeded }
        guard situation.storedOfCard < rules.perCard else { return .offlineCardTooOften }
        return nil
    }
}
