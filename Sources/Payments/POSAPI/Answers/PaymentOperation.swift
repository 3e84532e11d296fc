// SPDX-License-Identifier: Apache-2.0
public import PaymentValues

/// An operation on a payment, as the POS gets it. It has a stored property for each member.
public struct PaymentOperation: Codable, Equatable, Sendable {
    public struct Step: Codable, Equatable, Sendable {
        public var state: OperationState
        public var at: Timestamp

        public init(state: OperationState, at: Timestamp) {
            self.state = state
            self.at = at
        }
    }

    public struct Result: Codable, Equatable, Sendable {
        public enum Outcome: String, Codable, CaseIterable, Sendable {
            case approved, declined
        }

        public var outcome: Outcome
        /// Data element 39 of ISO 8583, as the payment service gave it.
        public var responseCode: String?
        public var pspReference: String?
        /// What was carried out.
        public var amountDone: Money?
        public var receiptLines: [String]?

        public init(outcome: Outcome) { self.outcome = outcome }
    }

    public var id: OperationID
    public var transaction: TransactionID
    public var kind: OperationKind
    public var state: OperationState
    /// What a capture takes, tip included; what is held from now on after an adjustment; what a release gives up.
    public var amount: Money?
    public var tip: Money?
    /// With a capture: the rest is given up in the same step.
    public var final: Bool?
    /// With an adjustment that asks for more time only.
    public var extend: Bool?
    public var createdAt: Timestamp
    public var updatedAt: Timestamp
    public var result: Result?
    public var error: ErrorDetail?
    /// Nobody can say what became of it: an administrator has to find out.
    public var stuck: Bool?
    /// Every state so far, oldest first.
    public var history: [Step]
    /// The payment's, as it is now.
    public var account: PaymentAccount?

    public init(
        id: OperationID, transaction: TransactionID, kind: OperationKind, state: OperationState, createdAt: Timestamp
    ) {
        self.id = id
        self.transaction = transaction
        self.kind = kind
        self.state = state
        self.createdAt = createdAt
        updatedAt = createdAt
        history = []
    }
}

/// Answer of `GET /v1/transactions/{id}/operations`, oldest first.
public struct OperationList: Codable, Equatable, Sendable {
    public var operations: [PaymentOperation]

    public init(operations: [PaymentOperation]) { self.operations = operations }
}

/// Answer of `DELETE /v1/operations/{id}`.
public struct WithdrawalAnswer: Codable, Equatable, Sendable {
    public enum Outcome: String, Codable, CaseIterable, Sendable {
        /// Nothing was sent, and nothing will be.
        case withdrawn
        /// It is on its way, or has been carried out.
        case tooLate
        /// It has been refused, or withdrawn before.
        case nothingToCancel
    }

    public var outcome: Outcome
    public var operation: PaymentOperation

    public init(outcome: Outcome, operation: PaymentOperation) {
        self.outcome = outcome
        self.operation = operation
    }
}
