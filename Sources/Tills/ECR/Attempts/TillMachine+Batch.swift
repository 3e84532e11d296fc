// SPDX-License-Identifier: Apache-2.0

extension TillMachine {
    // MARK: - Reservations

    /// The newest with this receipt that was not taken back.
    func reservation(receipt: UInt64) -> Attempt? {
        let whole = finished.last { $0.order.kind == .reservation && $0.receipt == receipt && $0.phase.isPaid }
        guard let old = past.reservation(receipt: receipt), old.number > whole?.number ?? 0 else { return whole }
        return again(old)
    }

    /// Oldest first.
    public var held: [Attempt] { finished.filter(\.isHeld) }

    /// The booking or the reversal that was asked for last, if nothing has been asked for since.
    var lastFollowed: Attempt? {
        guard let newest = finished.filter({ $0.order.kind != .read }).max(by: { $0.highest < $1.highest }), let last,
            newest.highest > last.number
        else { return nil }
        return newest
    }

    /// - Parameter amount: what the shop gets of it, at most what is held.
    mutating func book(_ key: AttemptKey, amount: Int64, _ effects: inout [TillEffect]) {
        guard var attempt = attempt(key), attempt.isHeld, attempt.booking?.phase != .asked else { return }
        let number = spend(&effects)
        let booking = Booking(
            key: AttemptKey(lane: lane, installation: installation, counter: number), number: number, amount: amount)
        attempt.booking = booking
        replace(attempt, &effects)
        effects.append(.book(booking, of: key))
    }

    mutating func booked(
        _ key: AttemptKey, _ answer: TillInput.Answer, _ time: TillTime?, _ effects: inout [TillEffect]
    ) {
        guard var attempt = attempt(key), attempt.booking?.phase == .asked else { return }
        attempt.booking?.time = time
        switch answer {
        case .done, .already: attempt.booking?.phase = .done
        case .refused: attempt.booking?.phase = .refused
        case .unknown: return
        }
        replace(attempt, &effects)
    }

    // MARK: - Reading ahead

    /// Nothing of the till's is going on: a card that is read ahead waits for a till, and no till for it.
    var isFree: Bool { open == nil || open?.order.kind == .read }

    /// The card that was read ahead is the one of this reservation.
    ///
    /// - Returns: `nil` where it was given up, or taken back.
    mutating func claim(_ key: AttemptKey, as order: TillOrder, _ effects: inout [TillEffect]) -> Attempt? {
        guard var attempt = open, attempt.key == key, attempt.order.kind == .read, attempt.phase == .approved,
            attempt.order.amount == order.amount, attempt.order.currency == order.currency
        else { return nil }
        attempt.order = order
        replaceOpen(attempt, &effects)
        return attempt
    }

    // MARK: - The batch

    /// Of what was paid or reversed since the last end of day, what is kept whole.
    public var batch: [Attempt] { finished.filter { $0.number > closedThrough } }

    /// A reversal or a booking goes on. Its end belongs to the batch in which it was asked for.
    var isFollowing: Bool { finished.contains { $0.phase == .reversing || $0.booking?.phase == .asked } }

    /// What the shop got in this batch, and gave back.
    var turnover: Turnover {
        finished.reduce(into: past.turnover) { $0.add($1, after: closedThrough) }
    }
}
