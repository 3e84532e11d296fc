// SPDX-License-Identifier: Apache-2.0

/// What a shop got in a batch, and gave back, by network.
public struct Turnover: Codable, Equatable, Sendable {
    struct Sum: Codable, Equatable, Sendable {
        /// `nil` where the card's is not known.
        let network: TillNetwork?
        var count: Int64
        /// In minor units; what was given back is subtracted. The largest number of all where it is beyond that.
        var amount: Int64
    }

    private(set) var sums: [Sum] = []
    /// The lowest and the highest number in it.
    private(set) var first: UInt64?
    private(set) var last: UInt64?

    public init() {}

    mutating func add(_ number: UInt64, _ amount: Int64, _ network: TillNetwork?) {
        first = min(first ?? number, number)
        last = max(last ?? number, number)
        guard let index = sums.firstIndex(where: { $0.network == network }) else {
            sums.append(Sum(network: network, count: 1, amount: amount))
            return
        }
        sums[index].count += 1
        guard sums[index].amount != .max else { return }
        let (sum, overflow) = sums[index].amount.addingReportingOverflow(amount)
        sums[index].amount = overflow ? .max : sum
    }

    /// A payment, or the booking of a reservation, if it belongs to the batch behind that number. A reservation counts once it
    /// is booked.
    mutating func add(_ attempt: Attempt, after closedThrough: UInt64) {
        guard attempt.phase.isPaid else { return }
        let network = attempt.approval?.network
        switch attempt.order.kind {
        case .sale where attempt.number > closedThrough: add(attempt.number, attempt.order.amount, network)
        case .refund where attempt.number > closedThrough: add(attempt.number, -attempt.order.amount, network)
        case .reservation:
            guard let booking = attempt.booking, booking.phase == .done, booking.amount > 0,
                booking.number > closedThrough
            else { return }
            add(booking.number, booking.amount, network)
        case .sale, .refund, .read: break
        }
    }
}
