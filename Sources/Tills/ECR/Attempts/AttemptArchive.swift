// SPDX-License-Identifier: Apache-2.0

/// What a desk keeps of attempts to which nothing can happen any more: the answers for a till that asks again, and sums.
public struct AttemptArchive: Equatable, Sendable {
    /// Was paid, and its till has a name of its own for it.
    public struct Sale: Codable, Equatable, Sendable {
        let number: UInt64
        let order: TillOrder
        let reference: String
    }

    /// A reservation of which a sum was booked, or nothing.
    public struct Reservation: Codable, Equatable, Sendable {
        let number: UInt64
        let order: TillOrder
        let booking: UInt64
        let booked: Int64
    }

    /// What was given back on a day.
    public struct Refunds: Codable, Equatable, Sendable {
        let day: UInt32
        var amount: Int64
    }

    /// So many of each are kept, the newest. Receipt numbers begin anew before that.
    static let most = 10_000
    static let mostDays = 400

    /// In the order in which they were put here.
    public private(set) var sales: [Sale] = []
    public private(set) var reservations: [Reservation] = []
    /// Of the batch that is open.
    public private(set) var turnover = Turnover()
    /// By day, the newest last.
    public private(set) var refunds: [Refunds] = []

    public init() {}

    // MARK: - From a ledger

    public mutating func read(_ sale: Sale) { sales.append(sale) }

    public mutating func read(_ reservation: Reservation) { reservations.append(reservation) }

    public mutating func read(_ turnover: Turnover, _ refunds: [Refunds]) {
        self.turnover = turnover
        self.refunds = refunds
    }

    public mutating func closeBatch() { turnover = Turnover() }

    // MARK: - Asked for again

    func sale(like order: TillOrder) -> Sale? { sales.last { order.isRepeat(of: $0.order) } }

    func sale(_ number: UInt64) -> Sale? { sales.last { $0.number == number } }

    func reservation(receipt: UInt64) -> Reservation? {
        reservations.filter { Attempt.receipt(of: $0.number) == receipt }.max { $0.number < $1.number }
    }

    func givenBack(since day: UInt32) -> Int64 {
        refunds.filter { $0.day >= day }.reduce(0) { sum, refunds in
            let (next, overflow) = sum.addingReportingOverflow(refunds.amount)
            return overflow ? .max : next
        }
    }

    // MARK: - Taking in

    /// - Parameters:
    ///   - attempts: finished ones, oldest first; of them the last `keeps` stay whole.
    ///   - isNeeded: it stays whole for another reason.
    /// - Returns: those that stay whole.
    public mutating func take(
        _ attempts: [Attempt], keeping keeps: Int, closedThrough: UInt64, where isNeeded: (Attempt) -> Bool
    ) -> [Attempt] {
        guard attempts.count > keeps else { return attempts }
        let recent = attempts.count - keeps
        let whole = attempts.enumerated().filter { index, attempt in
            if index >= recent || !attempt.isOver || isNeeded(attempt) { return true }
            take(attempt, closedThrough)
            return false
        }
        trim()
        return whole.map(\.element)
    }

    private mutating func take(_ attempt: Attempt, _ closedThrough: UInt64) {
        turnover.add(attempt, after: closedThrough)
        if let day = attempt.day, attempt.isGivenBack(since: day) { add(attempt.order.amount, on: day) }
        guard attempt.phase.isPaid else { return }
        if let booking = attempt.booking {
            reservations.append(
                Reservation(
                    number: attempt.number, order: attempt.order, booking: booking.number, booked: booking.amount))
        } else if attempt.order.identity != nil {
            sales.append(
                Sale(number: attempt.number, order: attempt.order, reference: attempt.approval?.reference ?? ""))
        }
    }

    private mutating func add(_ amount: Int64, on day: UInt32) {
        guard let index = refunds.firstIndex(where: { $0.day >= day }) else {
            return refunds.append(Refunds(day: day, amount: amount))
        }
        guard refunds[index].day == day else { return refunds.insert(Refunds(day: day, amount: amount), at: index) }
        let (sum, overflow) = refunds[index].amount.addingReportingOverflow(amount)
        refunds[index].amount = overflow ? .max : sum
    }

    /// By the thousand: each time all that are kept have to be moved.
    private mutating func trim() {
        if sales.count >= Self.most + 1_000 { sales.removeFirst(sales.count - Self.most) }
        if reservations.count >= Self.most + 1_000 { reservations.removeFirst(reservations.count - Self.most) }
        if refunds.count > Self.mostDays { refunds.removeFirst(refunds.count - Self.mostDays) }
    }
}

extension Attempt {
    /// The daemon is asked for nothing of it any more.
    public var isOver: Bool {
        switch phase {
        case .confirmed, .takenBack, .notPaid, .reversed: !isHeld && booking?.phase != .asked
        case .running, .givenUp, .approved, .telling, .told, .takingBack, .reversing: false
        }
    }
}

extension TillMachine {
    /// As they were, as far as anybody can ask. Nothing is asked of the daemon under these keys, which may have been of another
    /// installation.
    func again(_ sale: AttemptArchive.Sale) -> Attempt {
        var attempt = past(sale.number, sale.order)
        attempt.approval = TillApproval(amount: sale.order.amount, reference: sale.reference)
        return attempt
    }

    func again(_ reservation: AttemptArchive.Reservation) -> Attempt {
        var attempt = past(reservation.number, reservation.order)
        attempt.booking = Booking(
            key: AttemptKey(lane: lane, installation: installation, counter: reservation.booking),
            number: reservation.booking, amount: reservation.booked, phase: .done)
        return attempt
    }

    private func past(_ number: UInt64, _ order: TillOrder) -> Attempt {
        Attempt(
            key: AttemptKey(lane: lane, installation: installation, counter: number), number: number, order: order,
            peer: "", phase: .confirmed)
    }
}
