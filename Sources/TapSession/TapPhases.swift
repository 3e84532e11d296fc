public import CardBytes

/// When a tap reached its stages, on the monotonic clock.
public struct TapPhases: Equatable, Sendable {
    /// The reader was told to wait for a card.
    public var armed: TapInstant
    /// The card that was read answered for the first time; `nil` where none did.
    public var cardDetected: TapInstant?
    /// The kernel had its outcome.
    public var cardRead: TapInstant
    /// The envelope was closed; equal to `cardRead` where there was nothing to seal.
    public var sealed: TapInstant
}
