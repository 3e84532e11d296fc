// SPDX-License-Identifier: Apache-2.0
import POSAPI
public import PaymentValues

/// What became of an approved sum by the time of the receipt. A sum of zero is missing.
public struct ReceiptAccount: Codable, Equatable, Sendable {
    /// Of a payment whose sum was held first: what the issuer approved, adjustments included.
    public var held: Money?
    /// What was taken of it, tips included.
    public var captured: Money?
    public var tip: Money?
    /// Held once and given up, or run out.
    public var released: Money?
    /// Given back by refunds that name the payment.
    public var refunded: Money?
    /// What captures without an answer may still take.
    public var pendingCapture: Money?
    /// What refunds without an answer may still give back.
    public var pendingRefund: Money?

    /// - Parameter operations: those that were done.
    /// - Returns: `nil` for a payment that was charged at once, of which nothing was given back.
    init?(_ account: PaymentAccount, _ operations: [PaymentOperation]) {
        guard account.capture == .manual || account.refunded > 0 || account.pendingRefund > 0 else { return nil }
        func sum(_ value: Int64) -> Money? { value > 0 ? Money(value: value, currency: account.currency) : nil }
        if account.capture == .manual {
            held = sum(account.authorised)
            captured = sum(account.captured)
        }
        tip = sum(
            operations.reduce(0) { total, operation in
                let (next, overflow) = total.addingReportingOverflow(operation.tip?.value ?? 0)
                return overflow ? total : next
            })
        released = sum(account.released)
        refunded = sum(account.refunded)
        pendingCapture = sum(account.pendingCapture)
        pendingRefund = sum(account.pendingRefund)
    }
}

extension PaymentAccount {
    /// Of a sum that was held first: what was captured; before that what is held now, and once it was given up what was held.
    /// `nil` for a payment that was charged at once.
    var chargedOrHeld: Money? {
        guard capture == .manual else { return nil }
        let (rest, overflow) = authorised.subtractingReportingOverflow(released)
        let held = state == .open && !overflow ? rest : authorised
        let value = captured > 0 ? captured : held
        return value > 0 ? Money(value: value, currency: currency) : nil
    }
}
