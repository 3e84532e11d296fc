// SPDX-License-Identifier: Apache-2.0
/// How a payment may follow in the same tap, as far as the loyalty side can tell.
public enum PaymentReadiness: Equatable, Sendable {
    /// At once, on the activation that is there.
    case sameActivation
    /// After the field was off and the card was activated again, so that a phone can route to its payment card.
    case afterFieldReset
    /// Not before the card has left the field and was presented anew.
    case afterRemoval
}
