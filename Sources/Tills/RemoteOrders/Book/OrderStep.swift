// SPDX-License-Identifier: Apache-2.0
package import PaymentValues

/// What is to be done for an order next.
package enum OrderStep: Equatable, Sendable {
    /// `POST /v1/transactions` with this body; the order's id is its key.
    case begin(body: String)
    /// `GET /v1/transactions?key=ID`.
    case find(id: String)
    /// `GET /v1/transactions/ID?wait=SECONDS`.
    case look(transaction: String, wait: Int)
    /// `DELETE /v1/transactions?key=ID`.
    case withdraw(id: String)
    /// `POST …/results`.
    case say(OrderSaying)
    /// `POST /v1/transactions/ID/confirmation`.
    case confirm(transaction: String)
    /// Nothing before this time, in milliseconds of the clock that nobody sets.
    case wait(until: UInt64)
    /// Nothing more.
    case rest
}

/// One result, as it is sent.
package struct OrderSaying: Equatable, Sendable {
    package var key: OrderKey
    package var seq: Int
    /// With a cancel and a report.
    package var of: String?
    /// What the daemon says of the transaction, read in this attempt.
    package var snapshot: Snapshot?
    package var outcome: OrderEntry.Outcome?

    /// `Idempotency-Key` of the result.
    package var idempotencyKey: String { "\(key.id)/\(seq)" }
}

/// A transaction as it was read just now.
package struct Snapshot: Equatable, Sendable {
    package var id: String
    package var state: TransactionState
    /// An approval that is taken back unless it is confirmed.
    package var needsConfirmation: Bool
    /// What is told of it, as JSON.
    package var told: String

    package init(id: String, state: TransactionState, needsConfirmation: Bool = false, told: String = "{}") {
        (self.id, self.state, self.needsConfirmation, self.told) = (id, state, needsConfirmation, told)
    }
}

/// What the daemon answered.
package enum DaemonAnswer: Equatable, Sendable {
    case transaction(Snapshot)
    /// To a withdrawal.
    case outcome(OrderEntry.Outcome)
    /// Nothing was carried out, and will not be.
    case refused(String, isRetryable: Bool)
    /// No request with this key has come.
    case unknown
    /// The request was not sent.
    case unsent
    /// Nobody knows whether it was carried out.
    case unclear
}
