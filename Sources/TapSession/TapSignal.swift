// SPDX-License-Identifier: Apache-2.0
public import EMV

/// What the outside world learns while a tap goes on.
public enum TapSignal: Equatable, Sendable {
    /// The reader begins to wait for a card: the first one, or one that has to be presented again. Whatever was read
    /// before came to nothing.
    case cardAwaited
    case cardDetected
    /// More than one card in the field.
    case collision
    case show(UIRequest)
}
