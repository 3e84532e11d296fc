// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// A contactless reader that talks to one card at a time.
///
/// Blocking calls, all from the reader's own thread, one after the other; only `TapCancellation.cancel` may come from
/// elsewhere. Every wait has a deadline. No card byte is kept after a call returns.
public protocol CardReader: AnyObject {
    var identity: ReaderIdentity { get }

    /// A frame of type A, without its CRC, that goes out in every polling loop from the next `activate` on; empty for
    /// none. A phone learns by it what is wanted before it is activated. Stays empty on a reader that cannot choose
    /// what it sends.
    var broadcast: [UInt8] { get set }

    /// Raises the field and waits until a card answers.
    ///
    /// - Throws: `.timedOut` at `deadline`, `.cancelled`, or what keeps the reader from working.
    func activate(until deadline: TapInstant, cancellation: TapCancellation) throws(ReaderError) -> CardPresence

    /// Sends one C-APDU as it is and returns the R-APDU as the card gave it; `exchange` handles 61xx and 6Cxx.
    ///
    /// - Throws: `.cardLost` for a torn card, `.timedOut` at `deadline`, or what keeps the reader from working.
    func transmit(_ command: CommandAPDU, until deadline: TapInstant) throws(ReaderError) -> ResponseAPDU

    /// Ends work with the active card, so that the next activation is a new one. Never fails; safe without a card.
    func release()

    /// Waits until the released card has left the field.
    ///
    /// - Throws: `.timedOut` at `deadline`, `.cancelled`, or what keeps the reader from working.
    func waitForRemoval(until deadline: TapInstant, cancellation: TapCancellation) throws(ReaderError)

    /// Asks the device, not a card, whether it still works. For the time between two taps.
    ///
    /// - Throws: what keeps the reader from working.
    func check() throws(ReaderError)

    /// LED and buzzer, where the reader has them.
    func show(_ feedback: ReaderFeedback)

    /// Gives the device back. The reader is of no further use.
    func close()
}

extension CardReader {
    public var broadcast: [UInt8] {
        get { [] }
        set {}
    }
}

/// What `CardReader.activate` found.
public enum CardPresence: Equatable, Sendable {
    case card(CardActivation)
    /// More than one card answers. Told once: until that changes, the next call goes on waiting.
    case collision
    /// Nothing answers any more after something did. Told once; the search goes on with the next call.
    case emptied
    /// For a second something has been there that is no card to read: it does not answer, as a card at the edge of the field
    /// or two in a purse, or it has contacts and lies in a slot for those. Told once; the search goes on with the next call.
    case unreadable
}

/// What a person at the reader sees and hears.
public enum ReaderFeedback: String, Sendable, CaseIterable {
    case idle, ready, processing, read, approved, declined, tryAgain, error
}
