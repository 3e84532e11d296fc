// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// A card or phone in software. The virtual reader, vpcd and the PN532 emulator are only transports for it.
public protocol VirtualCard: Sendable {
    /// What a reader learns when the card enters the field.
    var activation: CardActivation { get }

    /// The field came on or was reset: selection and session state are gone, counters stay.
    mutating func powerOn()

    /// Answers one C-APDU given as it was transmitted, however malformed.
    mutating func answer(_ command: [UInt8]) -> VirtualCardReply
}

/// What comes back from a `VirtualCard`.
public enum VirtualCardReply: Equatable, Sendable {
    /// An R-APDU: data and status word. Tests may return fewer than two bytes to play a broken card.
    case answer([UInt8])
    /// The same after a pause.
    case late([UInt8], milliseconds: UInt64)
    /// The card has left the field without answering.
    case gone
}
