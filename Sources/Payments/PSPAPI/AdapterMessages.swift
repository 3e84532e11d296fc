// SPDX-License-Identifier: Apache-2.0
public import PaymentValues

/// Body of the adapter's `POST /v1/authorizations/{id}/reversals`. Answered with 200 (done) or 202 (queued).
public struct ReversalRequest: Codable, Equatable, Sendable {
    public enum Reason: String, Codable, CaseIterable, Sendable {
        case timeout, customerCancel, malfunction, suspectedFraud
    }

    public var reason: Reason
    /// What was demanded: the whole amount.
    public var amount: Money?
    /// The payment service's own name for the payment, where it has given one: it can take the payment back by it even if
    /// it does not know the key any more.
    public var pspReference: String?

    public init(reason: Reason, amount: Money? = nil, pspReference: String? = nil) {
        self.reason = reason
        self.amount = amount
        self.pspReference = pspReference
    }
}

/// The adapter's answer to a reversal.
public struct ReversalAnswer: Codable, Equatable, Sendable {
    public enum Status: String, Codable, CaseIterable, Sendable {
        case done, queued
    }

    /// What a payment that is taken back becomes in the payment service's books.
    public enum Way: String, Codable, CaseIterable, Sendable {
        /// It has never taken place.
        case voided
        /// It has taken place, and the money is given back.
        case refunded
        /// A word of a later version.
        case other

        public init(from decoder: any Decoder) throws {
            self = Way(rawValue: try decoder.singleValueContainer().decode(String.self)) ?? .other
        }
    }

    public var status: Status
    public var how: Way?

    public init(status: Status, how: Way? = nil) {
        self.status = status
        self.how = how
    }
}

/// The adapter's answer to `GET /v1/health`.
public struct AdapterHealth: Codable, Equatable, Sendable {
    public enum State: String, Codable, CaseIterable, Sendable {
        case ok, degraded, down
    }

    public var status: State
    /// Versions of this contract that the adapter speaks, for example `v1`.
    public var protocolVersions: [String]
    /// What it can do, in the words of `AdapterFeature`; words of later versions stay.
    public var supports: [String]
    /// Seconds for which it keeps every Idempotency-Key on disk; `defaultKeyLife` where it says nothing.
    public var keyLife: Int64?
    /// With `handover`: the terminals that it hands payments to, by names that a till can show.
    public var terminals: [String]?
    /// What time it is for the payment service: the `Date` of its latest answer, moved on. Never the machine's own clock,
    /// which it is to judge.
    public var serviceTime: Timestamp?

    /// What the contract asks for.
    public static let defaultKeyLife: Int64 = 86_400

    public init(status: State, protocolVersions: [String], supports: [String], keyLife: Int64? = nil) {
        self.status = status
        self.protocolVersions = protocolVersions
        self.supports = supports
        self.keyLife = keyLife
    }
}
