// SPDX-License-Identifier: Apache-2.0
import Codes
import ECR
import POSAPI
import PaymentValues

extension TillPayments {
    /// What the daemon knows a sale by that its till can name: with it the daemon charges no sale twice whose ledger is gone. The same
    /// for whatever the desk takes for one sale; `nil` for a till that cannot name its sales, for money that goes back, and for a sum that
    /// is held: its name may be used again when that hold has ended.
    static func name(of order: TillOrder, at till: String) -> String? {
        guard let identity = order.identity, order.kind == .sale else { return nil }
        let text = "\(till)\n\(order.kind.rawValue)\n\(order.amount) \(order.currency.letters)\n\(identity)"
        return "ecr-" + TillLedger.sum(of: Array(text.utf8)[...])
    }

    /// What the daemon is asked for, without the till's lane and times.
    static func request(for order: TillOrder, in currency: Currency) -> TransactionRequest {
        var request = TransactionRequest(
            type: order.kind == .refund ? .refund : .purchase, amount: Money(value: order.amount, currency: currency))
        switch order.kind {
        case .reservation, .read: request.amountStatus = .preauthorized
        case .sale, .refund: break
        }
        return request
    }
}
