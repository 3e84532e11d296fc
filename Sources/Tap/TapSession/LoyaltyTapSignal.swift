// SPDX-License-Identifier: Apache-2.0
public import Loyalty

/// What the outside world learns while passes are read.
public enum LoyaltyTapSignal: Equatable, Sendable {
    case cardDetected
    /// More than one card in the field.
    case collision
    /// Something is there that does not answer as a card.
    case unreadable
    case show(LoyaltySignal)
}
