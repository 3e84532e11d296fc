// SPDX-License-Identifier: Apache-2.0

/// The sender of an order and its id: ids of two senders have nothing to do with each other.
package struct OrderKey: Hashable, Codable, Sendable {
    package var sender: String
    /// `jti`.
    package var id: String

    package init(sender: String, id: String) { (self.sender, self.id) = (sender, id) }
}

/// An order whose signature and form hold.
package struct Order: Equatable, Sendable {
    package enum Purpose: Equatable, Sendable {
        case start(Start)
        /// The id of the order that is not to go on.
        case cancel(of: String)
        case report(of: String)
    }

    /// A payment, as the backend wants it.
    package struct Start: Codable, Equatable, Sendable {
        package var lane: String
        /// JSON object: the body of `POST /v1/transactions` without what the bridge adds.
        package var request: String
        package var type: String
        /// Minor units; 0 for a verification.
        package var value: Int64
        package var currency: String
        /// The request has `confirmWithin`: whoever hears of the approval confirms it.
        package var confirms: Bool
    }

    package var key: OrderKey
    /// Of the key that signed it.
    package var keyID: String
    /// SHA-256 of the payload in hexadecimal: the same order signed anew has the same.
    package var digest: String
    /// Seconds since 1970.
    package var issuedAt: Int64
    package var expires: Int64
    package var purpose: Purpose

    /// Seconds.
    package var life: Int64 { expires - issuedAt }
}
