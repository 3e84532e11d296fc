// SPDX-License-Identifier: Apache-2.0
/// Where a transaction stands. Every change is in the journal before it has an effect outside the process.
public enum TransactionState: String, Codable, CaseIterable, Sendable {
    /// Accepted and written down.
    case created
    /// The lane is made ready.
    case preparing
    /// The reader waits for the card.
    case armed
    /// A card is in the field.
    case reading
    /// The card record is sealed for the payment service; nothing has been sent.
    case sealed
    /// The authorisation request is on its way or delivered; no usable answer yet.
    case sent
    case approved
    case declined
    /// Kept for later forwarding.
    case stored
    /// Sent, and no usable answer came: being resolved by query. Blocks another charge of the same order.
    case unknown
    /// Ended before anything was sent, by wish.
    case cancelled
    /// Ended before anything was sent, by an error.
    case failed
    /// A reversal has to be acknowledged by the adapter. For the shop the payment has not taken place.
    case reversing
    case reversed
    /// Kept for later, and handed to the payment service in a batch whose receipt it has signed: how it ended is in that
    /// service's books.
    case delivered
    /// Ended with what the loyalty part found, and nothing was or will be charged.
    case completed

    /// The only legal changes: the one table of them.
    public var successors: Set<TransactionState> {
        switch self {
        // Sent at once where no card is read: a refund that names a payment.
        case .created: [.preparing, .armed, .sent, .cancelled, .failed]
        case .preparing: [.armed, .cancelled, .failed]
        case .armed: [.reading, .completed, .cancelled, .failed]
        // Back to armed when the card has to be presented again; declined when the card itself says no.
        case .reading: [.armed, .sealed, .declined, .completed, .cancelled, .failed]
        // Cancelled or failed only while it is certain that no byte has left: a PIN that did not come, for example.
        case .sealed: [.sent, .stored, .cancelled, .failed]
        // Stored again where the adapter has certainly not carried out what was forwarded.
        case .sent: [.approved, .declined, .stored, .unknown, .reversing]
        case .unknown: [.approved, .declined, .reversing]
        case .approved: [.reversing]
        // Approved where a person has found out at the payment service that it was charged.
        case .stored: [.sent, .approved, .declined, .delivered]
        case .reversing: [.reversed, .approved]
        case .declined, .delivered, .cancelled, .failed, .reversed, .completed: []
        }
    }

    /// Nothing more to wait for at the till.
    public var isSettled: Bool {
        switch self {
        case .created, .preparing, .armed, .reading, .sealed, .sent, .unknown: false
        case .approved, .declined, .stored, .delivered, .cancelled, .failed, .reversing, .reversed, .completed: true
        }
    }

    /// No card has been read yet: a cancel is answered with `cancelled`.
    public var isCancellable: Bool {
        switch self {
        case .created, .preparing, .armed: true
        case .reading, .sealed, .sent, .approved, .declined, .stored, .delivered, .unknown, .cancelled, .failed,
            .reversing, .reversed, .completed:
            false
        }
    }

    /// Whether money may have moved without anybody knowing for certain: the same order must not be charged again.
    public var blocksOrder: Bool {
        switch self {
        case .created, .preparing, .armed, .reading, .sealed, .sent, .unknown, .reversing: true
        case .approved, .declined, .stored, .delivered, .cancelled, .failed, .reversed, .completed: false
        }
    }
}
