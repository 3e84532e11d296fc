// SPDX-License-Identifier: Apache-2.0
public import CardBytes
public import ReaderCore

/// When a tap reached its stages, on the monotonic clock.
public struct TapPhases: Equatable, Sendable {
    /// The reader was told to wait for a card.
    public var armed: TapInstant
    /// The card that was read answered for the first time; `nil` where none did.
    public var cardDetected: TapInstant?
    /// The card answered SELECT PPSE; `nil` where it was not asked.
    public var directoryRead: TapInstant?
    /// The card answered GET PROCESSING OPTIONS; `nil` where it did not come to that.
    public var optionsRead: TapInstant?
    /// The kernel had its outcome.
    public var cardRead: TapInstant
    /// The envelope was closed; equal to `cardRead` where there was nothing to seal.
    public var sealed: TapInstant
    /// The least that commands and answers of the card that was read were on the air.
    public var air = AirTime()
}
