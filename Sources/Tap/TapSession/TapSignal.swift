// SPDX-License-Identifier: Apache-2.0
public import CardBytes
public import EMV

/// What the outside world learns while a tap goes on.
public enum TapSignal: Equatable, Sendable {
    /// The reader begins to wait for a card: the first one, or one that has to be presented again. Whatever was read
    /// before came to nothing.
    case cardAwaited
    case cardDetected
    /// A presentation has come to nothing, however often its card was activated: a failed read.
    case presentationFailed(FailedPresentation)
    /// What lies in the field takes no commands (no ISO/IEC 14443-4), and has been there for a moment: a ticket, a sticker, a
    /// key fob. Told once; it is no failed read.
    case targetUnsupported
    /// More than one card in the field.
    case collision
    /// Something is there that does not answer as a card.
    case unreadable
    case show(UIRequest)
}
