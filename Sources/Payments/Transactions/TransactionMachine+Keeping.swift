// SPDX-License-Identifier: Apache-2.0
import POSAPI
import PSPAPI
import PaymentValues

/// A read that is kept until a machine claims it, on a lane that stands alone. Nothing has been sent, so that whatever goes wrong
/// ends it without a doubt.
extension TransactionMachine {
    /// The longest that a read is kept: five seconds are left of its life for sending.
    public static let longestKeeping: Duration = pinTime

    /// What was read is kept, and nothing is sent until a machine claims it.
    public var isReadKept: Bool { if case .offered = phase { writing == nil } else { false } }

    /// The lane is free for the next card, and the machine hears of it. The sealed record of the card is on no disk.
    mutating func offer(_ read: Read, _ kept: KeptTap) {
        // Nobody stands beside it who could be asked for a PIN later.
        guard read.pin == nil else { return end(.readOtherInterface, after: [sealed(read, isKept: false)]) }
        var event = event(.tapOffered)
        (event.tap, event.amount, event.card) = (kept.tap, transaction.amount, read.request.card)
        write(
            [sealed(read, isKept: false)],
            next: .offered(Offer(read: read, until: now.after(min(kept.time, Self.longestKeeping)))),
            then: [.settleReader, .publish(event)])
    }

    /// Sends it as soon as there is somebody to send it to.
    mutating func claimed(as reference: String, _ wish: RequestID) {
        guard case .offered(let offer) = phase else { return outward(.answer(wish, .superseded)) }
        claimant = reference
        phase = .sealed(offer.read, giveUpAt: now.after(demand.times.query + Self.answerMargin))
        local(.connect)
        outward(.answer(wish, .done))
    }

    /// Nobody has claimed it in time.
    mutating func offerIsLate() {
        var failed = change(.failed)
        failed.error = ErrorDetail(.readExpired, transaction: id)
        var event = event(.readNotCompleted)
        event.error = failed.error
        write([failed], next: .ended, then: [.publish(event)] + released())
    }

    /// Somebody does not want it.
    mutating func forget(_ offer: Offer, by canceller: Canceller, _ wish: RequestID?) {
        var offer = offer
        if let wish { offer.wishes.append(wish) }
        phase = .offered(offer)
        var cancelled = change(.cancelled)
        cancelled.cancelledBy = canceller
        var event = event(.readCancelled)
        event.by = canceller
        write(
            [cancelled], next: .ended,
            then: [.publish(event)] + released() + offer.wishes.map { .answer($0, .cancelled) })
    }

    private func released() -> [Outward] {
        guard let kept = demand.kept else { return [] }
        var event = event(.sessionReleased)
        (event.tap, event.amount) = (kept.tap, transaction.amount)
        return [.publish(event)]
    }
}
