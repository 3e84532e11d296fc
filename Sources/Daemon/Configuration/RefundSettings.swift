// SPDX-License-Identifier: Apache-2.0
public import PaymentValues
import Settings

/// `[refunds]`: who may give back what.
public struct RefundSettings: Equatable, Sendable {
    public enum Permission: String, CaseIterable, Sendable {
        case never, admin, cashier
    }

    /// Refunds of a payment to another card than that of the payment.
    public var otherCard = Permission.never
    /// Refunds that name no payment.
    public var unlinked = Permission.cashier
    /// The most that whoever is no administrator gives back at a time, in minor units; without one for its currency there
    /// is no limit.
    public var cashierMaximum: [Currency: Int64] = [:]

    public init() {}

    init(_ table: inout ConfigurationTable) {
        otherCard = RefundSettings.permission("other-card", [.never, .admin], &table) ?? otherCard
        unlinked = RefundSettings.permission("unlinked", [.never, .admin, .cashier], &table) ?? unlinked
        var maximum = table.subtable("cashier-maximum")
        for code in maximum.keys {
            guard let value = maximum.number(code, in: 1...Int(Limits.amount)) else { continue }
            if let currency = Currency(code) {
                cashierMaximum[currency] = Int64(value)
            } else {
                maximum.report(code, "is no currency", "write its three letters, as EUR")
            }
        }
        maximum.finish()
        table.finish()
    }

    private static func permission(
        _ key: String, _ allowed: [Permission], _ table: inout ConfigurationTable
    ) -> Permission? {
        guard let text = table.text(key) else { return nil }
        if let permission = Permission(rawValue: text), allowed.contains(permission) { return permission }
        return table.report(
            key, "says nothing that is known", "use one of " + allowed.map(\.rawValue).joined(separator: ", "))
    }
}
