// SPDX-License-Identifier: Apache-2.0
package import CardBytes

/// Something that lies on a reader and is no card to read, and whether anybody was told of it.
package struct UnreadableCard {
    /// A card that is still on its way into the field needs no word.
    private static let patience: UInt64 = 1_000

    private var since: TapInstant?
    /// The presentation of which it was told.
    private var told: UInt16?

    package init() {}

    /// Notes that it could not be read again.
    ///
    /// - Parameter presentation: another number for whatever was put there anew, such as pcscd's event counter.
    /// - Returns: whether it is to be told now: a second after the first time, and once for each presentation.
    package mutating func isToTell(_ presentation: UInt16, at now: TapInstant) -> Bool {
        guard told != presentation else { return false }
        let begin = since ?? now
        since = begin
        guard now >= begin.advanced(byMilliseconds: Self.patience) else { return false }
        (told, since) = (presentation, nil)
        return true
    }
}
