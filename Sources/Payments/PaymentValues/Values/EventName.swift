// SPDX-License-Identifier: Apache-2.0
/// Names of the events on `GET /v1/events`.
public enum EventName: String, Codable, CaseIterable, Sendable {
    case readerAttached = "reader.attached"
    case readerDetached = "reader.detached"
    case readerNotReady = "reader.notReady"
    case prepareProgress = "prepare.progress"
    case readReadyForTap = "read.readyForTap"
    case readCardDetected = "read.cardDetected"
    case readRetry = "read.retry"
    case readRemoveCard = "read.removeCard"
    case readCompleted = "read.completed"
    case readNotCompleted = "read.notCompleted"
    case readCancelled = "read.cancelled"
    /// The customer is asked for the PIN, by the device.
    case pinRequested = "pin.requested"
    case pinCompleted = "pin.completed"
    /// A customer can pay by a link: `link` says where.
    case linkOpened = "link.opened"
    case paymentAuthorizing = "payment.authorizing"
    case paymentApproved = "payment.approved"
    case paymentDeclined = "payment.declined"
    case paymentUnknown = "payment.unknown"
    case paymentStored = "payment.stored"
    case paymentReversed = "payment.reversed"
    case loyaltyResult = "loyalty.result"
    case queueForwarded = "queue.forwarded"
    case queueFailed = "queue.failed"
    /// A person has said how a payment ended, and the payment service now says the contrary. Nothing has changed by that.
    case openItemContradicted = "openItem.contradicted"
    case termsChanged = "terms.changed"
    /// A profile has come into force.
    case profileApplied = "profile.applied"
    /// A profile was fetched and is not used; `error` says why. The one before it stays in force.
    case profileRefused = "profile.refused"
    /// The machine's clock is not believed: nothing is erased, and no live payment is taken.
    case clockUnbelievable = "clock.unbelievable"
    case clockBelieved = "clock.believed"
    /// A capture, an adjustment or a release has come to its end, or nobody knows what became of it.
    case operationDone = "operation.done"
    case operationRefused = "operation.refused"
    case operationUnknown = "operation.unknown"
    /// A part of the payment, or all of it, was given back by a refund that names it.
    case paymentRefunded = "payment.refunded"
    /// A sum is held for another day, or for two hours, and nobody has captured it; then for no longer.
    case paymentExpiring = "payment.expiring"
    case paymentExpired = "payment.expired"
    /// The payment service keeps a card now, or has forgotten it.
    case cardStored = "card.stored"
    case cardDeleted = "card.deleted"
    /// A tap on a lane that stands alone was approved: taken back unless a machine claims it.
    case tapOffered = "tap.offered"
    /// A card on a lane that stands alone began no session; `refused` says why.
    case tapRefused = "tap.refused"
    case sessionClaimed = "session.claimed"
    case sessionCommitted = "session.committed"
    /// The money of a session has gone back, by the machine's wish or because its time was over.
    case sessionReleased = "session.released"
    /// A hold goes back soon unless its machine commits or keeps it.
    case sessionExpiring = "session.expiring"
    case dayClosed = "day.closed"
    /// The payment service's figures of a closed day are not the journal's.
    case dayDiffers = "day.differs"
    /// An operation or a refund needs an administrator: no usable answer, or one that contradicts the books.
    case booksAttention = "books.attention"
    /// Older events than the first one that follows are no longer kept: ask for the transactions of interest.
    case eventsMissed = "events.missed"
}

extension EventName {
    /// The highest that there is.
    public static let newestVocabulary = allCases.map(\.vocabulary).max() ?? 1

    /// Streams get it that ask for this vocabulary, or a higher one.
    public var vocabulary: Int {
        switch self {
        case .tapOffered, .tapRefused, .sessionClaimed, .sessionCommitted, .sessionReleased, .sessionExpiring: 3
        case .operationDone, .operationRefused, .operationUnknown, .paymentRefunded, .paymentExpiring, .paymentExpired,
            .cardStored, .cardDeleted, .dayClosed, .dayDiffers, .booksAttention, .pinRequested, .pinCompleted,
            .linkOpened:
            2
        case .readerAttached, .readerDetached, .readerNotReady, .prepareProgress, .readReadyForTap, .readCardDetected,
            .readRetry, .readRemoveCard, .readCompleted, .readNotCompleted, .readCancelled, .paymentAuthorizing,
            .paymentApproved, .paymentDeclined, .paymentUnknown, .paymentStored, .paymentReversed, .loyaltyResult,
            .queueForwarded, .queueFailed, .openItemContradicted, .termsChanged, .profileApplied, .profileRefused,
            .clockUnbelievable, .clockBelieved, .eventsMissed:
            1
        }
    }
}
