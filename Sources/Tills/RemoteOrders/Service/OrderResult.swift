// SPDX-License-Identifier: Apache-2.0
import POSAPI
import PaymentValues
import StrictJSON

extension Snapshot {
    init(_ transaction: Transaction, _ telling: OrderSender.Telling) {
        let needsConfirmation = transaction.confirmation.map { $0.confirmedAt == nil } ?? false
        self.init(
            id: "\(transaction.id)", state: transaction.state,
            needsConfirmation: transaction.state == .approved && needsConfirmation,
            told: OrderResult.text(of: transaction, telling))
    }
}

/// The body of a result.
enum OrderResult {
    /// What is told of a transaction where only its outcome is: nothing of the card or of the person who held it.
    private struct Told: Encodable {
        struct Result: Encodable {
            var outcome: PaymentResult.Outcome
            var reason: DeclineReason?
            var amountApproved: Money?
            var reversal: PaymentResult.Reversal?
        }

        struct Trouble: Encodable {
            var code: String
            var retryable: Bool
        }

        var id: TransactionID
        var type: TransactionType
        /// A backend must not give goods away for a test.
        var mode: Mode
        var state: TransactionState
        var lane: String
        var amount: Money
        var order: String?
        var updatedAt: Timestamp
        var cancelledBy: Canceller?
        var confirmation: Confirmation?
        var result: Result?
        var error: Trouble?
    }

    static func text(of transaction: Transaction, _ telling: OrderSender.Telling) -> String {
        var all = transaction
        all.events = nil
        let told = Told(
            id: transaction.id, type: transaction.type, mode: transaction.mode, state: transaction.state,
            lane: transaction.lane, amount: transaction.amount, order: transaction.order,
            updatedAt: transaction.updatedAt, cancelledBy: transaction.cancelledBy,
            confirmation: transaction.confirmation,
            result: transaction.result.map {
                .init(outcome: $0.outcome, reason: $0.reason, amountApproved: $0.amountApproved, reversal: $0.reversal)
            }, error: transaction.error.map { .init(code: $0.code, retryable: $0.retryable) })
        let bytes = telling == .outcome ? try? WireJSON.encode(told) : try? WireJSON.encode(all)
        return String(decoding: bytes ?? Array("{}".utf8), as: UTF8.self)
    }

    /// - Parameter now: when it is sent.
    static func body(_ saying: OrderSaying, installation: String, now: Timestamp) -> [UInt8] {
        var members = [
            "\"jti\":\(JSONEscape.quoted(saying.key.id))", "\"seq\":\(saying.seq)", "\"at\":\"\(now)\"",
            "\"installation\":\(JSONEscape.quoted(installation))",
        ]
        if let of = saying.of { members.append("\"of\":\(JSONEscape.quoted(of))") }
        if let snapshot = saying.snapshot { members.append("\"transaction\":\(snapshot.told)") }
        if let outcome = saying.outcome {
            if let code = outcome.code {
                let isRetryable = outcome.isRetryable ?? false
                members.append("\"error\":{\"code\":\(JSONEscape.quoted(code)),\"retryable\":\(isRetryable)}")
            }
            if let word = outcome.outcome { members.append("\"outcome\":\(JSONEscape.quoted(word))") }
            if let neverBegan = outcome.neverBegan { members.append("\"neverBegan\":\(neverBegan)") }
            if let state = outcome.state { members.append("\"state\":\"\(state.rawValue)\"") }
            if let reversal = outcome.becomesReversal { members.append("\"becomesReversal\":\(reversal)") }
        }
        return Array("{\(members.joined(separator: ","))}".utf8)
    }
}
