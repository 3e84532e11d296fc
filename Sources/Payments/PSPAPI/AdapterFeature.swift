// SPDX-License-Identifier: Apache-2.0
/// A word of `supports` in the adapter's health answer: what the payment service behind it can do.
public enum AdapterFeature: String, CaseIterable, Sendable {
    /// The types of an authorisation.
    case sale, preauth, refund, verify
    /// Takes what is held: once, and finally.
    case capture
    /// Several times from one hold.
    case multicapture
    /// Above the hold, up to `maximumCapture`.
    case overcapture
    /// Another sum is held.
    case adjust
    /// The same sum is held for longer.
    case extend
    /// A part of what is held is given up.
    case release
    /// Gives back what a named payment has taken, without its card.
    case refundLinked
    /// Takes a linked refund back.
    case refundReversal
    /// Gives its figures of a business day.
    case reconcile
    /// Charges a stored card by its token.
    case charge
    /// Forgets a token.
    case tokenDeletion
    /// Verifies a PIN that comes with an authorisation.
    case pin
    /// Goes on with the same read where an issuer wants the PIN with its answer.
    case singleTap
    /// Goes on with a read whose card wanted a PIN, by a link or at another terminal.
    case pinFallback
    /// Opens links that customers pay by.
    case link
    /// Has other terminals take payments: those that `terminals` names.
    case handover
    /// Sends receipts to an address that a customer gives.
    case receipt
}

extension AdapterHealth {
    public func supports(_ feature: AdapterFeature) -> Bool { supports.contains(feature.rawValue) }
}
