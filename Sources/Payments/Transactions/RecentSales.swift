// SPDX-License-Identifier: Apache-2.0
public import POSAPI
public import PaymentValues

/// Sales of the last minutes, in memory only: what was paid with which card, by a mark that only this run understands, and
/// which orders were paid.
public struct RecentSales: Sendable {
    /// A cashier who takes the same sale twice does so within minutes; the next customer with the same basket is rarer.
    public static let window: Duration = .seconds(300)
    /// More than all lanes can take within the window.
    private static let capacity = 4_096

    private struct Sale {
        let id: TransactionID
        let mark: [UInt8]
        let lane: String
        let amount: Money
        let until: Int64
    }

    private var sales: [Sale] = []
    private var paid: [(order: String, mode: Mode, id: TransactionID)] = []

    public init() {}

    /// Notes that a card is about to pay.
    ///
    /// - Returns: the sale that looks the same; `nil` where there is none.
    public mutating func note(
        _ id: TransactionID, mark: [UInt8], lane: String, amount: Money, at now: Moment
    ) -> TransactionID? {
        sales.removeAll { $0.until <= now.monotonic }
        let earlier = sales.last { $0.mark == mark && $0.lane == lane && $0.amount == amount && $0.id != id }
        sales.append(Sale(id: id, mark: mark, lane: lane, amount: amount, until: now.after(Self.window)))
        if sales.count > Self.capacity { sales.removeFirst() }
        return earlier?.id
    }

    /// Follows what becomes of a transaction: only what has been paid, or may have been, counts.
    public mutating func follow(_ transaction: Transaction) {
        switch transaction.state {
        case .approved, .stored, .delivered:
            guard transaction.isPaidInFull, let order = transaction.order else { return }
            paid.removeAll { $0.id == transaction.id }
            paid.append((order, transaction.mode, transaction.id))
            if paid.count > Self.capacity { paid.removeFirst() }
        case .declined, .cancelled, .failed, .reversing, .reversed, .completed:
            sales.removeAll { $0.id == transaction.id }
            paid.removeAll { $0.id == transaction.id }
        case .created, .preparing, .armed, .reading, .sealed, .sent, .unknown: break
        }
    }

    /// The purchase that has paid an order.
    public func payment(of order: String?, in mode: Mode) -> TransactionID? {
        guard let order else { return nil }
        return paid.last { $0.order == order && $0.mode == mode }?.id
    }
}

extension Transaction {
    /// A purchase that leaves nothing of its order to be paid, as far as is known.
    public var isPaidInFull: Bool {
        type.isPayment && [.approved, .stored, .delivered].contains(state)
            && result?.outcome != .partiallyApproved
    }
}
