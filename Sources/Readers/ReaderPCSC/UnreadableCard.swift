// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// Something that lies on a reader and is no card to read, and whether anybody was told of it.
struct UnreadableCard {
    /// A card that is still on its way into the field needs no word.
    private static let patience: UInt64 = 1_000

    private var since: TapInstant?
    /// The reader's event counter when it was told.
    private var told: UInt16?

    /// Notes that it could not be read again.
    ///
    /// - Returns: whether it is to be told now: a second after the first time, and once for each presentation.
    mutating func isToTell(_ counter: UInt16, at now: TapInstant) -> Bool {
        guard told != counter else { return false }
        let begin = since ?? now
        since = begin
        guard now >= begin.advanced(byMilliseconds: Self.patience) else { return false }
        (told, since) = (counter, nil)
        return true
    }
}
