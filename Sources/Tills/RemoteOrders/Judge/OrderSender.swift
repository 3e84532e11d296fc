// SPDX-License-Identifier: Apache-2.0
package import Envelope

/// Who may order, and how much.
package struct OrderSender: Sendable {
    /// What a result says of a transaction.
    package enum Telling: String, CaseIterable, Sendable {
        /// No card, no token, no address.
        case outcome
        /// As the daemon has it for a till.
        case transaction
    }

    /// `iss`.
    package var name: String
    /// Name by which the daemon knows it.
    package var till: String
    package var keys: [VerificationKey]
    package var lanes: Set<String>
    package var types: Set<String> = ["purchase"]
    /// Most for one payment in minor units, by currency; one that is not here is not taken.
    package var limits: [String: Int64]
    /// Most for 24 hours.
    package var dayLimits: [String: Int64] = [:]
    package var telling = Telling.outcome

    package init(
        name: String, till: String, keys: [VerificationKey], lanes: Set<String>, limits: [String: Int64]
    ) {
        (self.name, self.till, self.keys, self.lanes, self.limits) = (name, till, keys, lanes, limits)
    }
}
