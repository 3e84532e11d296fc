// SPDX-License-Identifier: Apache-2.0
import Codes
import ECR

extension TillPayments {
    /// What the daemon knows a sale by that its till can name: with it the daemon charges no sale twice whose ledger is gone. The same
    /// for whatever the desk takes for one sale; `nil` for a till that cannot name its sales, and for money that goes back.
    static func name(of order: TillOrder, at till: String) -> String? {
        guard let identity = order.identity, order.kind != .refund else { return nil }
        let text = "\(till)\n\(order.kind.rawValue)\n\(order.amount) \(order.currency.letters)\n\(identity)"
        return "ecr-" + TillLedger.sum(of: Array(text.utf8)[...])
    }
}
