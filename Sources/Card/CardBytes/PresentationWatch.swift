// SPDX-License-Identifier: Apache-2.0
/// What counts as one failed read: a presentation by a person, not an activation of the chip. Without I/O; time comes in.
///
/// Entry Point goes back to start B after every error without a limit (EMV Contactless Book B requirement 3.3.3.7): a card at
/// the edge of the field fails many times in the second that its holder takes to bring it closer. All of them are one
/// presentation until the card has left, or has stayed for so long that its holder has to do something else.
package struct PresentationWatch: Sendable {
    /// So long a presentation is given at least, in milliseconds: a card that the field loses and finds again has not left.
    package static let shortest: UInt64 = 1_000
    /// The field has been empty for so long: the card was taken away.
    package static let absence: UInt64 = 500
    /// The card has stayed for so long, and no read of it has come to anything.
    package static let longest: UInt64 = 1_500
    /// A target that takes no commands has stayed for so long: its holder is told.
    package static let patience: UInt64 = 1_000

    /// Least time between two activations: enough tries for a card that comes closer, and few enough that one that answers every
    /// time has not counted hundreds of transactions.
    package static let pace: UInt64 = 150

    /// When the presentation began.
    private var begin: TapInstant?
    private var hasFailed = false
    private var isReading = false
    private var emptySince: TapInstant?
    /// A target that takes no commands: since when, since when it is not there, and whether its holder was told.
    private var target: (since: TapInstant, goneSince: TapInstant?, isTold: Bool)?

    package init() {}

    /// A card answers.
    package mutating func cardFound(at now: TapInstant) {
        begin = begin ?? now
        (isReading, emptySince) = (true, nil)
        target = nil
    }

    /// What was being read has come to nothing: a card is waited for again.
    package mutating func readFailed() {
        if isReading { hasFailed = true }
        isReading = false
    }

    /// The card was read as it should be, and is wanted once more: its presentation is over, and has not failed.
    package mutating func startOver() { (begin, hasFailed, isReading, emptySince) = (nil, false, false, nil) }

    /// Nothing answers.
    package mutating func fieldEmptied(at now: TapInstant) {
        emptySince = emptySince ?? now
        if let known = target, known.goneSince == nil { target = (known.since, now, known.isTold) }
    }

    /// A target that takes no commands answers: a ticket, a sticker, a key fob.
    ///
    /// - Returns: whether its holder is to be told now.
    package mutating func targetFound(at now: TapInstant) -> Bool {
        // The card that was there before is not.
        emptySince = emptySince ?? now
        if let gone = target?.goneSince, now >= gone.advanced(byMilliseconds: Self.absence) { target = nil }
        let known = target ?? (now, nil, false)
        let isDue = now >= known.since.advanced(byMilliseconds: Self.patience)
        target = (known.since, nil, isDue)
        return isDue && !known.isTold
    }

    /// When the presentation counts as a failed read unless a card answers before; `nil` where none has failed.
    package var due: TapInstant? {
        guard let begin, hasFailed, !isReading else { return nil }
        let stayed = begin.advanced(byMilliseconds: Self.longest)
        guard let emptySince else { return stayed }
        let left = emptySince.advanced(byMilliseconds: Self.absence)
        return min(stayed, max(left, begin.advanced(byMilliseconds: Self.shortest)))
    }

    /// - Returns: how the presentation has come to nothing, once; `nil` while it goes on.
    package mutating func ended(at now: TapInstant) -> FailedPresentation? {
        guard let due, now >= due else { return nil }
        let hasLeft = emptySince != nil
        startOver()
        return hasLeft ? .cardLeft : .cardStayed
    }
}

/// How a presentation has come to nothing.
public enum FailedPresentation: Equatable, Sendable {
    /// The card has left the field.
    case cardLeft
    /// The card lies there and was tried for long enough.
    case cardStayed
}
